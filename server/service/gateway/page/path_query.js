// The path from the start to the goal, followed like that of an agent, so that it is always that of the latest
// revision; while one end is dragged, asked for again and again instead, one question at a time and the latest only.

import { RpcError, call, follow, needRpcError, oneAtATime } from "./api.js";
import { newAgentId } from "./others.js";

export class PathQuery {
  // `request()` makes a FindPathRequest of what is chosen now, or null. `events` has answer(response), problem(error)
  // and nothing().
  constructor(request, events) {
    this.request = request;
    this.events = events;
    this.control = new AbortController();
    this.asked = "";
  }

  stop() {
    this.control.abort();
    this.asked = "";
  }

  // Does nothing if the question is the same as before.
  async follow() {
    const query = this.request();
    const asked = JSON.stringify(query);
    if (query && asked === this.asked && !this.control.signal.aborted) {
      return;
    }
    this.stop();
    if (!query) {
      this.events.nothing();
      return;
    }
    this.asked = asked;
    this.control = new AbortController();
    const { problem } = this.events;
    const request = { changes: [{ agent: newAgentId(), number: 1, put: query }], atMostEvery: "0s", cheaperEvery: "0s" };
    // A problem with the question may pass when the map changes, or when the server is back.
    const events = { message: ({ states = [] }) => this.#show(states), problem };
    await follow("PathService/FollowAgents", () => request, this.control.signal, events);
  }

  #show(states) {
    for (const { answer, problem, end } of states) {
      if (end) {
        throw new RpcError(end);
      }
      if (problem) {
        this.events.problem(new RpcError(problem));
      } else {
        this.events.answer(answer);
      }
    }
  }

  ask() {
    this.stop();
    this.#askSoon();
  }

  #askSoon = oneAtATime(async () => {
    const query = this.request();
    if (!query) {
      this.events.nothing();
      return;
    }
    try {
      const answer = await call("PathService/FindPath", query);
      if (this.asked === "") {
        this.events.answer(answer);
      }
    } catch (error) {
      needRpcError(error);
      this.events.problem(error);
    }
  });
}

// The lines of an answer: each a list of cells, of nodes of a graph or of places of a mesh, to draw through, and where a
// portal leads from one to the next. `model` is the map.
export function linesOf({ path = {} }, model) {
  const points = model.pointsOf(path);
  const found = { lines: [], jumps: [], leadsTo: "" };
  let begin = 0;
  for (const crossing of path.crossings ?? []) {
    const end = crossing.index ?? 0;
    found.lines.push(points.slice(begin, end));
    if (crossing.map) {
      return { ...found, leadsTo: crossing.map };
    }
    found.jumps.push([points[end - 1], model.arrivalOf(crossing, points.slice(end))]);
    begin = end;
  }
  found.lines.push(points.slice(begin));
  return found;
}
