// A question beside that for the path: its call, its answer in words, and what the map shows of it.

import { call, cellOf, oneAtATime } from "./api.js";
import { linesOf } from "./path_query.js";
import { CLOSED } from "./search_player.js";
import { amountText, costText } from "./words.js";

// How many colours reach has.
const BANDS = 10;

// For each question, the RPC with its request, and what is read from the answer: a text, and perhaps `marks` with a dashed
// `way`; or the `states` of cells or `reached` places, as of a search; or a `ray` by the part of it that is free.
const QUESTIONS = {
  explain: {
    method: "ExplainPath",
    requestOf: ({ start, goal }) => ({ start, goal }),
    read(answer, model) {
      const { blockers = [], cost, outcome } = answer;
      const { lines, jumps } = linesOf(answer, model);
      const marks = blockers.map(({ entry }, i) => ({ place: placeOf(entry, model), letter: String(i + 1) }));
      const items = blockers.map((each, i) => `${i + 1}. ${blockerText(each, model)}, at ${labelOf(marks[i].place)}`);
      const free = `Nothing is in the way: a path costs ${costText(cost)}.`;
      const blocked = `Without this in the way, a path of cost ${costText(cost)} leads there:`;
      const found = marks.length > 0 ? blocked : free;
      const text = outcome === "OUTCOME_FOUND" ? found : "No way leads there, even through what blocks agents.";
      return { text: [text, ...items].join("\n"), marks, way: { lines: [], jumps: [...lines, ...jumps] } };
    },
  },
  reach: {
    method: "FindReachable",
    requestOf: ({ start, maxCost }) => ({ start, maxCost, withCosts: true }),
    read({ count, nodes, polygons, costs = [], ...area }, model) {
      const places = nodes ?? polygons ?? [];
      const most = [...costs, ...places.map(({ cost }) => cost)].reduce((a, b) => Math.max(a, b), 0);
      const shareOf = (cost) => Math.min(Math.floor((cost / (most || 1)) * BANDS) / (BANDS - 1), 1);
      const reached = places.map(({ node, nearest, cost }) => {
        return { place: placeOf({ node, position: nearest }, model), isExpanded: true, share: shareOf(cost) };
      });
      const noun = nodes ? "node" : polygons ? "polygon" : "cell";
      const text = `${amountText(count, noun)} can be reached from the start, the farthest at a cost of ${costText(most)}.`;
      return { text, reached, states: model.cells && statesOf(area, model, costs.map(shareOf)) };
    },
  },
  ray: {
    method: "CastRay",
    requestOf: ({ start, goal }) => ({ from: start, to: goal }),
    read({ blocked, cell, position, fraction = 0, obstacle }, model) {
      if (!blocked) {
        return { text: "Nothing blocks the straight line.", ray: 1 };
      }
      const place = placeOf({ cell, position }, model);
      const blocker = obstacle ? `Obstacle ${obstacle}` : model.isMesh ? "A wall" : "Something";
      const ends = `${blocker} blocks the straight line after ${Math.round(fraction * 100)}% of it`;
      const text = model.isMesh && fraction === 1 ? "The straight line arrives on another floor" : ends;
      return { text: `${text}, at ${labelOf(place)}.`, ray: fraction, marks: [{ place, letter: "×" }] };
    },
  },
};

// A byte for each cell, as of a search. The cells are bits, in rows of whole bytes.
function statesOf({ bounds, cells }, { width, height }, shares) {
  const states = new Uint8Array(width * height);
  const bytes = Uint8Array.from(atob(cells), (letter) => letter.charCodeAt(0));
  const stride = Math.ceil(bounds.width / 8) * 8;
  const { x, y } = cellOf(bounds);
  for (let bit = 0, next = 0; bit < bytes.length * 8; ++bit) {
    if (bytes[bit >> 3] & (1 << (bit & 7))) {
      const index = (y + Math.floor(bit / stride)) * width + x + (bit % stride);
      states[index] = CLOSED + Math.round(shares[next++] * (255 - CLOSED));
    }
  }
  return states;
}

const BLOCKERS = {
  obstacle: (id) => `obstacle ${id}`,
  nameless: () => "wall",
  terrain: (symbol, { terrains }) => `terrain ${terrains.get(symbol.charCodeAt(0))?.name ?? symbol}`,
  node: (id) => `disabled node ${id}`,
  edge: ({ from, to }) => `disabled edge from ${from} to ${to}`,
  portal: (id) => `closed portal ${id}`,
};

function blockerText(blocker, model) {
  const kind = Object.keys(BLOCKERS).find((name) => name in blocker);
  return BLOCKERS[kind](blocker[kind], model);
}

function placeOf({ cell, node, position }, model) {
  return model.pointsOf({ points: [cell], nodes: [node], positions: [position] })[0];
}

function labelOf({ id, ...numbers }) {
  return id ?? Object.values(numbers).map((each) => Number(each.toFixed(2))).join(", ");
}

export class Ask {
  // What a question has read, or null.
  answer = null;
  #asked = "";

  // `changed(answer)` is called after each answer.
  constructor(changed) {
    this.changed = changed;
  }

  // Asks unless that was asked before. `kind` is one of QUESTIONS, or "". `chosen` has the map, the agent, the ends as
  // far as they are there, and a limit of the cost; `version` is that of `model`, the map.
  want(kind, chosen, model, version) {
    const isReady = kind && chosen.start && (chosen.goal || kind === "reach");
    const asked = isReady ? JSON.stringify([kind, chosen, version]) : "";
    if (asked !== this.#asked) {
      this.#asked = asked;
      this.answer = asked ? this.answer : null;
      this.#ask(asked, kind, chosen, model);
    }
  }

  #ask = oneAtATime(async (asked, kind, { map, agent, ...chosen }, model) => {
    const { method, requestOf, read } = QUESTIONS[kind] ?? {};
    const ask = () => call(`PathService/${method}`, { map, agent, ...requestOf(chosen) });
    const answer = asked ? await ask().then((found) => read(found, model), ({ message }) => ({ text: message })) : null;
    if (asked === this.#asked) {
      this.answer = answer;
      this.changed(answer);
    }
  });
}
