// Agents that walk on the map along paths that the server keeps right, each to a random goal and then to another.

import { RpcError, call, follow, needRpcError, oneAtATime, pause, sameCell, send } from "./api.js";
import { newAgentId } from "./others.js";
import { linesOf } from "./path_query.js";

const MAX_AGENTS = 200;
const METHOD = "PathService/FollowAgents";
// An agent beside its path, in cells or units, has left it. The middle of its cell may lie off a straight line.
const OFF_PATH = 1;
// An agent may be at some of those that are drawn.
const GOALS = 8;
const REPORT_MILLIS = 100;
const RETRY_MILLIS = 1000;
// As long as a walk along the longer side of a large map takes.
const SECONDS_ACROSS = 15;
const LEAST_SPEED = 3;

export class Agents {
  // The agents by id. `way` has the spot where an agent is, and the spots that it walks to. A spot has a `place` of the
  // map, and `at`: [x, y, z] of the point on a mesh or, on other maps, in the view.
  all = new Map();
  #lastNumber = 0;
  #control = null;
  // The stream for send(), null until it is open, and the changes for the next message.
  #stream = null;
  #changes = [];
  #walkedAt = 0;
  #reportedAt = 0;

  constructor(app) {
    this.app = app;
  }

  get blocked() {
    return [...this.all.values()].filter(({ isBlocked }) => isBlocked).length;
  }

  clear() {
    this.pause();
    this.all.clear();
    this.app.agentsChanged("");
  }

  // Adds up to `count` agents at places that can all be reached from one of them.
  async addSome(count) {
    const { model } = this.app;
    if (!model) {
      return;
    }
    try {
      const [first] = await this.#sample(1);
      const room = Math.min(count, MAX_AGENTS - this.all.size);
      const places = first && room > 0 ? await this.#sample(room, first) : [];
      // Another map may be shown meanwhile.
      places.filter(() => model === this.app.model).forEach((place) => this.add(place));
    } catch (error) {
      needRpcError(error);
      this.app.agentsChanged(error.message);
    }
  }

  // At a place of the map, or nowhere if that is null. It has arrived at once, and so gets a goal.
  add(place) {
    if (!place) {
      return;
    }
    if (this.all.size === MAX_AGENTS) {
      this.app.agentsChanged(`This page follows ${MAX_AGENTS} agents at most.`);
      return;
    }
    const { model } = this.app;
    const { map, agent: body, pathForm } = this.app.chosen();
    const start = model.locationOf(place);
    const fields = model.isMesh ? { withSurface: true } : body && { agent: body, pathForm };
    const query = { map, start, goals: [start], ...fields };
    const agent = { id: newAgentId(), query, way: [this.#spotOf(place, body)], isBlocked: false };
    this.all.set(agent.id, agent);
    this.#ask(agent, { put: query });
    this.app.agentsChanged("");
    this.resume();
  }

  // Stops following the agents, which stay where they are.
  pause() {
    this.#control?.abort();
    this.#control = null;
    this.#stream = null;
  }

  async resume() {
    if (this.#control || this.all.size === 0) {
      return;
    }
    this.#control = new AbortController();
    const { signal } = this.#control;
    const first = () => {
      this.#stream = null;
      this.#changes = [];
      this.all.forEach((agent) => this.#ask(agent, { put: { ...agent.query, start: this.#locationOf(agent) } }));
      return { changes: this.#changes.splice(0), offPath: OFF_PATH };
    };
    await follow(METHOD, first, signal, {
      opened: (opened) => (this.#stream = { ...opened, signal }),
      message: ({ states = [] }) => states.forEach((state) => this.#take(state)),
      problem: ({ message }) => {
        this.#stream = null;
        this.app.agentsChanged(message);
      },
    });
  }

  // Lets them walk until `now`, in milliseconds.
  walk(now) {
    const seconds = Math.min(now - this.#walkedAt, 100) / 1000;
    this.#walkedAt = now;
    const { model } = this.app;
    const { isMesh, lattice } = model;
    const { left, top, right, bottom } = lattice.bounds;
    const side = Math.max(right - left, bottom - top);
    const speed = Math.max(side / SECONDS_ACROSS, LEAST_SPEED) / (isMesh ? lattice.unit : 1);
    for (const agent of this.all.values()) {
      const way = ahead(agent.way, seconds * speed);
      // A wall that was painted just now may lie on the path.
      if (!model.cells || model.isFree(this.#placeOf({ ...agent, way }))) {
        agent.way = way;
      }
      if (agent.way.length === 1 && !agent.isWaiting) {
        this.#sendOn(agent);
      }
    }
    if (now - this.#reportedAt >= REPORT_MILLIS) {
      this.#reportedAt = now;
      this.#report();
    }
  }

  #report = oneAtATime(async () => {
    const opened = this.#stream;
    if (!opened) {
      return;
    }
    for (const agent of this.all.values()) {
      const at = this.#locationOf(agent);
      if (JSON.stringify(at) !== JSON.stringify(agent.query.start)) {
        agent.query.start = at;
        this.#change(agent, { at });
      }
    }
    if (this.#changes.length > 0) {
      const request = { changes: this.#changes.splice(0) };
      await send(METHOD, request, opened, opened.signal);
    }
  });

  #change(agent, change) {
    this.#changes.push({ agent: agent.id, number: ++this.#lastNumber, ...change });
  }

  // Has it wait for a path. States of earlier changes are about another goal.
  #ask(agent, change) {
    this.#change(agent, change);
    agent.asked = this.#lastNumber;
    agent.isWaiting = true;
  }

  async #sendOn(agent) {
    agent.isWaiting = true;
    const { model } = this.app;
    const place = this.#placeOf(agent);
    // If it stands in an obstacle, its state says so.
    const goals = await this.#sample(GOALS, place).catch(() => null);
    const goal = goals?.find((each) => !sameCell(each, place));
    if (this.all.get(agent.id) !== agent) {
      return;
    }
    if (goal) {
      agent.query.goals = [model.locationOf(goal)];
      this.#ask(agent, { goal: agent.query.goals[0] });
    } else {
      this.#setBlocked(agent, agent.isBlocked || goals !== null);
      await pause(RETRY_MILLIS);
      agent.isWaiting = false;
    }
  }

  #setBlocked(agent, isBlocked) {
    if (agent.isBlocked !== isBlocked) {
      agent.isBlocked = isBlocked;
      this.app.agentsChanged("");
    }
  }

  async #sample(count, from) {
    const { model } = this.app;
    const { map, agent } = this.app.chosen();
    const seed = Math.floor(Math.random() * 2 ** 32);
    const reachableFrom = from && model.locationOf(from);
    const answer = await call("PathService/SamplePlaces", { map, agent, count, seed, reachableFrom });
    return model.pointsOf({ ...answer, points: answer.cells });
  }

  #take({ agent: id, number, answer, end }) {
    const agent = this.all.get(Number(id));
    if (!agent || Number(number) < agent.asked) {
      return;
    }
    if (end) {
      this.all.delete(agent.id);
      this.app.agentsChanged(new RpcError(end).message);
      return;
    }
    const [here] = agent.way;
    const isFound = answer?.outcome === "OUTCOME_FOUND";
    agent.way = isFound ? joined(here, this.#spotsOf(answer.path, agent.query.agent)) : [here];
    // A state will come when there is a path.
    agent.isWaiting = !isFound;
    this.#setBlocked(agent, !isFound);
  }

  #spotsOf(path, body) {
    const onGround = { ...path, positions: path.surface ?? path.positions };
    const { lines, jumps } = linesOf({ path: onGround }, this.app.model);
    const spots = (places) => places.map((place) => this.#spotOf(place, body));
    const arrivals = [[], ...jumps.map(([, arrival]) => spots([arrival]).map((spot) => ({ ...spot, isJump: true })))];
    return lines.flatMap((line, i) => [...arrivals[i], ...spots(line)]);
  }

  #spotOf(place, body) {
    const { isMesh, lattice } = this.app.model;
    return { place, at: isMesh ? [place.x, place.y, place.z] : [...lattice.middleOf(place, body?.footprint), 0] };
  }

  // On a graph an agent between two nodes is at the one that it has passed.
  #placeOf({ way: [{ place, at }], query }) {
    const { isMesh, isGraph, lattice } = this.app.model;
    const [x, y, z] = at;
    if (isMesh || isGraph) {
      return isMesh ? { x, y, z } : place;
    }
    const origin = { x: 0, y: 0 };
    const own = lattice.middleOf(origin);
    const shift = lattice.middleOf(origin, query.agent.footprint).map((each, i) => each - own[i]);
    return lattice.cellAt(x - shift[0], y - shift[1]);
  }

  #locationOf(agent) {
    return this.app.model.locationOf(this.#placeOf(agent));
  }
}

function distance(a, b) {
  return Math.hypot(...a.map((each, i) => b[i] - each));
}

function between(a, b, share) {
  return a.map((each, i) => each + (b[i] - each) * share);
}

// Returns the rest of a way after a walk of that length. An agent passes a portal at once.
function ahead([here, ...way], length) {
  while (way.length > 0) {
    const step = way[0].isJump ? 0 : distance(here.at, way[0].at);
    if (step > length) {
      return [{ ...here, at: between(here.at, way[0].at, length / step) }, ...way];
    }
    length -= step;
    here = way.shift();
  }
  return [here];
}

// The way along `spots` from the one of them, or between them, that is nearest to where the agent has come.
function joined(here, spots) {
  const entries = spots.map((to, i) => {
    const from = i > 0 && !to.isJump ? spots[i - 1] : to;
    const side = distance(from.at, to.at);
    const along = to.at.reduce((sum, each, k) => sum + (each - from.at[k]) * (here.at[k] - from.at[k]), 0);
    const at = between(from.at, to.at, side > 0 ? Math.min(Math.max(along / side ** 2, 0), 1) : 0);
    return { place: from.place, at, next: i, off: distance(here.at, at) };
  });
  const nearest = entries.reduce((a, b) => (b.off < a.off ? b : a));
  return [here, nearest, ...spots.slice(nearest.next)];
}
