// The agents that other clients have the server follow on the map, as far as the page may know of them.

import { PERMISSION_DENIED, call, cellOf, needRpcError, pause, pointOf } from "./api.js";

const MOST = 1000;
const LOOK_MILLIS = 1000;
const IDLE_MILLIS = 5000;
const MODEL_MILLIS = 100;

// The ids of this page's own agents begin anywhere, so that no other page has the same.
const FIRST_ID = Math.floor(Math.random() * 2 ** 50);
let lastId = FIRST_ID;

export function newAgentId() {
  return ++lastId;
}

function isOwn(id) {
  return id > FIRST_ID && id <= lastId;
}

export class OtherAgents {
  // As those of Agents, without places.
  all = [];
  isShown = true;

  constructor(app) {
    this.app = app;
  }

  get blocked() {
    return this.all.filter(({ isBlocked }) => isBlocked).length;
  }

  show(isShown) {
    this.isShown = isShown;
    this.#take([]);
  }

  // Looks at them again and again until `signal` is aborted, or the page may not see them; seldom while there are none.
  async follow(map, signal) {
    this.#take([]);
    while (!signal.aborted) {
      const hasMap = Boolean(this.app.model);
      try {
        const request = { map, pageSize: MOST };
        const { agents } = hasMap && this.isShown ? await call("PathService/ListAgents", request, signal) : {};
        if (!signal.aborted) {
          this.#take(agents ?? []);
        }
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        needRpcError(error);
        this.#take([]);
        if (error.code === PERMISSION_DENIED) {
          return;
        }
      }
      const isIdle = this.isShown && this.all.length === 0;
      await pause(!hasMap ? MODEL_MILLIS : isIdle ? IDLE_MILLIS : LOOK_MILLIS, signal);
    }
  }

  #take(agents) {
    const others = agents.filter(({ agent }) => !isOwn(Number(agent)));
    if (others.length > 0 || this.all.length > 0) {
      this.all = others.map((each) => agentOf(each, this.app.model)).filter(({ way: [here] }) => here.at);
      this.app.othersChanged();
    }
  }
}

function agentOf({ at, path = [], arrivals = [], status }, model) {
  const ahead = model.isLaidOut ? [] : path.map((position) => spotAt({ position }, model));
  const way = ahead.map((spot, i) => ({ at: spot, isJump: arrivals.includes(i) }));
  return { way: [{ at: spotAt(at, model) }, ...way], isBlocked: status === "AGENT_STATUS_STUCK" };
}

// Where a Location is: on a mesh the point, elsewhere that in the view. Undefined if it has no place there.
function spotAt({ cell, node, position }, { isMesh, isGraph, isLaidOut, lattice, byId, info }) {
  if (cell) {
    return lattice.middleOf(cellOf(cell));
  }
  const place = node ? byId.get(node) : position;
  if (!place || (isLaidOut && !node)) {
    return undefined;
  }
  const { x, y, z } = pointOf(place);
  if (isMesh || isGraph) {
    return isMesh ? [x, y, z] : lattice.center(x, y);
  }
  const { origin, cellSize } = info.grid;
  return [x - pointOf(origin).x, y - pointOf(origin).y].map((each) => each / cellSize);
}
