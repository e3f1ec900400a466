// The questions beside that for the path: what each needs, its call, its answer in words, and what the map shows of it.

import { bytesOf, call, cellOf, oneAtATime, pointOf } from "./api.js";
import { linesOf } from "./path_query.js";
import { CLOSED } from "./search_player.js";
import { amountText, costText, outcomeText } from "./words.js";

// How many colours reach has.
export const BANDS = 10;
// The step of each Direction on cells: none, north, and so on clockwise.
const STEPS = [[0, 0], [0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1]];
// Arrows are so long, in cells, or as a part of a line; and in units of the view at most.
const ARROW = 0.7;
const MOST_UNITS = 2.5;
// Polygons that are asked for at a time.
const MOST_QUERIES = 2000;

// Each need of a question in words, and a function that says whether it is met. `goals` are the goal and the marked
// places, `places` also the start: each with its name and its location.
const NEEDS = {
  start: ["a start", ({ start }) => start],
  goal: ["a goal", ({ goal }) => goal],
  goals: ["a goal or a marked place", ({ goals }) => goals.length > 0],
  places: ["two places: a start, a goal or marked places", ({ places }) => places.length > 1],
};
const locationsOf = (places) => places.map(({ location }) => location);

// For each question, its title, what it needs, the fields that it has in the panel, the RPC with its request, and what
// is read from the answer: a text, and what is drawn of it. That may be `marks` with a dashed `way`; a `route` in place
// of the path; the `states` of cells, `reached` nodes, or `bands` of polygons; a `ray` by the part of it that is free;
// `arrows(part, stride)`, pairs of points in units of the view, for a part of the cells; `dots`; a `table` of costs.
export const QUESTIONS = {
  explain: {
    title: "What is in the way of a path?",
    needs: ["start", "goal"],
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
  goals: {
    title: "Which goal costs least to reach?",
    needs: ["start", "goals"],
    method: "FindPath",
    requestOf: ({ start, goals }) => ({ start, goals: locationsOf(goals) }),
    read(answer, model, { goals }) {
      const [word, , reason] = outcomeText(answer);
      const { name } = goals[answer.goalIndex ?? 0];
      const found = `${name} is the cheapest to reach, at a cost of ${costText(answer.cost)}.`;
      const isFound = answer.outcome === "OUTCOME_FOUND";
      const text = isFound ? `Of ${amountText(goals.length, "goal")}, ${found}` : reason || word;
      return { text, route: linesOf(answer, model) };
    },
  },
  matrix: {
    title: "What does it cost between places?",
    needs: ["places"],
    method: "ComputeCostMatrix",
    requestOf: ({ places }) => ({ starts: locationsOf(places), goals: locationsOf(places) }),
    read({ costs }, model, { places }) {
      const ends = places.map(({ location }) => placeOf(location, model));
      const table = { names: places.map(({ name }) => name), costs, places: ends };
      return { text: "Costs of paths, from the places on the left to those above.", table };
    },
  },
  reach: {
    title: "How far is it possible to get?",
    needs: ["start"],
    fields: ["budget"],
    method: "FindReachable",
    requestOf: ({ start, budget }) => ({ start, maxCost: budget, withCosts: true }),
    async read({ count, nodes, polygons, costs = [], ...area }, model, chosen, ask) {
      const places = nodes ?? polygons ?? [];
      const most = [...costs, ...places.map(({ cost }) => cost)].reduce((a, b) => Math.max(a, b), 0);
      const shareOf = (cost) => Math.min(Math.floor((cost / (most || 1)) * BANDS) / (BANDS - 1), 1);
      const reached = (nodes ?? []).map(({ node, cost }) => {
        return { place: placeOf({ node }, model), isExpanded: true, share: shareOf(cost) };
      });
      const noun = nodes ? "node" : polygons ? "polygon" : "cell";
      const text = `${amountText(count, noun)} can be reached from the start, the farthest at a cost of ${costText(most)}.`;
      const bands = polygons && (await bandsOf(polygons, chosen, ask));
      return { text, reached, bands, states: model.cells && statesOf(area, model, costs.map(shareOf)) };
    },
  },
  flow: {
    title: "Which way do all walk to a goal?",
    needs: ["goals"],
    fields: ["budget"],
    method: "ComputeFlowField",
    requestOf: ({ goals, budget }) => ({ goals: locationsOf(goals), maxCost: budget }),
    read({ region, directions, nodes = [], polygons = [] }, model, { goals }) {
      const bytes = directions && bytesOf(directions);
      const count = bytes ? bytes.reduce((sum, each) => sum + (each > 0), 0) : nodes.length + polygons.length;
      const noun = bytes ? "cell" : model.isMesh ? "polygon" : "node";
      const goal = goals.length > 1 ? `the nearest of ${goals.length} goals` : goals[0].name;
      const text = `From ${amountText(count, noun)} a path leads to ${goal}.`;
      const { byId, lattice } = model;
      const steps = [
        ...nodes.map(({ node, next }) => [byId.get(node), byId.get(next)]),
        ...polygons.map(({ middle, next }) => [pointOf(middle), pointOf(next)]).filter(([from]) => model.shows([from])),
      ];
      const byPlace = steps.filter(([from, to]) => from && to).map(([from, to]) => arrowOf(lattice, from, to));
      return { text, arrows: bytes ? (part, stride) => arrowsOf(bytes, region, lattice, part, stride) : () => byPlace };
    },
  },
  samples: {
    title: "Which places, drawn at random?",
    needs: [],
    fields: ["count", "seed"],
    method: "SamplePlaces",
    requestOf: ({ start, count = 20, seed = 1 }, { isMesh }) => ({
      count, seed, reachableFrom: start, distinct: isMesh ? undefined : true,
    }),
    read({ candidates, cells, nodes, positions }, model, { start }) {
      const dots = model.pointsOf({ points: cells, nodes, positions });
      const from = amountText(candidates, model.isMesh ? "polygon" : model.isGraph ? "node" : "cell");
      const where = start ? " that can be reached from the start" : "";
      return { text: `${amountText(dots.length, "place")} from ${from}${where}.`, dots };
    },
  },
  ray: {
    title: "Is the straight line free?",
    needs: ["start", "goal"],
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
  const bytes = bytesOf(cells);
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

// The polygons of a mesh that are reached, or their pieces, each with its corners and the last turn of the path to its
// middle: the costs at its other points are taken to be those of straight lines from there.
async function bandsOf(polygons, { start, budget = Infinity }, ask) {
  const { polygons: steps = [] } = await ask("ComputeFlowField", { goals: [start], withCosts: true });
  const numbers = new Set(polygons.map(({ polygon }) => polygon));
  const inReach = steps.filter(({ polygon }) => numbers.has(polygon));
  const pieces = [];
  for (let i = 0; i < inReach.length; i += MOST_QUERIES) {
    const part = inReach.slice(i, i + MOST_QUERIES);
    const queries = part.map(({ middle: position }) => ({ start: { position }, goals: [{ position }] }));
    const { results } = await ask("FindPaths", { queries, withPolygons: true });
    part.forEach(({ middle, next, cost }, k) => {
      const corners = (results[k].answer?.path.polygons?.[0].corners ?? []).map(pointOf);
      const root = pointOf(next);
      const distanceTo = ({ x, y }) => Math.hypot(x - root.x, y - root.y);
      const before = cost - distanceTo(pointOf(middle));
      pieces.push({ corners, root, before, most: before + Math.max(...corners.map(distanceTo)) });
    });
  }
  return { pieces, most: pieces.reduce((most, each) => Math.max(most, each.most), 0), budget };
}

// Cells are passed over where arrows would be too dense.
function arrowsOf(directions, region, lattice, part, stride) {
  const { x: left, y: top } = cellOf(region);
  const arrows = [];
  for (let y = Math.ceil(part.top / stride) * stride; y <= part.bottom; y += stride) {
    for (let x = Math.ceil(part.left / stride) * stride; x <= part.right; x += stride) {
      const step = STEPS[directions[(y - top) * region.width + x - left]] ?? STEPS[0];
      const [dx, dy] = lattice.stepOf(...step).map((each) => (each * ARROW * stride) / 2);
      const [px, py] = lattice.center(x, y);
      if (dx !== 0 || dy !== 0) {
        arrows.push([[px - dx, py - dy], [px + dx, py + dy]]);
      }
    }
  }
  return arrows;
}

// Beside both places, and not long.
function arrowOf(lattice, ...places) {
  const [[ax, ay], [bx, by]] = places.map(({ x, y, z }) => lattice.center(x, y, z));
  const most = MOST_UNITS / (Math.hypot(bx - ax, by - ay) || 1);
  const begin = Math.min((1 - ARROW) / 2, most * 0.3);
  const end = Math.min((1 + ARROW) / 2, begin + most);
  return [begin, end].map((share) => [ax + (bx - ax) * share, ay + (by - ay) * share]);
}

const BLOCKERS = {
  overlay: () => "the overlay",
  obstacle: (id) => `obstacle ${id}`,
  nameless: () => "wall",
  terrain: (symbol, { terrains }) => `terrain ${terrains?.get(symbol.charCodeAt(0))?.name ?? symbol}`,
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
  // The answer to the last question, or null. In a matrix, `pair` has the numbers of the two places under the pointer.
  answer = null;
  pair = null;
  #asked = "";

  // `changed(answer)` is called after each answer.
  constructor(changed) {
    this.changed = changed;
  }

  // Asks unless that was asked before. `kind` is one of QUESTIONS, or "". `chosen` has all that questions may be made
  // of, as far as it is there; `version` is that of `model`, the map.
  want(kind, chosen, model, version) {
    const asked = kind && model ? JSON.stringify([kind, chosen, version]) : "";
    if (asked !== this.#asked) {
      this.#asked = asked;
      this.answer = asked ? this.answer : null;
      this.#ask(asked, kind, chosen, model);
    }
  }

  #ask = oneAtATime(async (asked, kind, chosen, model) => {
    const answer = asked ? await answerTo(kind, chosen, model).catch(({ message }) => ({ text: message })) : null;
    if (asked === this.#asked) {
      this.answer = answer;
      this.pair = null;
      this.changed(answer);
    }
  });
}

async function answerTo(kind, chosen, model) {
  const { method, request, missing } = requestOf(kind, chosen, model);
  if (missing) {
    return { text: missing };
  }
  const { map, agent, view } = request;
  const ask = (other, fields) => call(`PathService/${other}`, { map, agent, view, ...fields });
  return QUESTIONS[kind].read(await ask(method, request), model, chosen, ask);
}

// The method of a question with its request, or a sentence that says what is missing for it.
export function requestOf(kind, chosen, model) {
  const { needs, method, requestOf: fieldsOf } = QUESTIONS[kind];
  const missing = needs.filter((need) => !NEEDS[need][1](chosen)).map((need) => NEEDS[need][0]);
  const { map, agent, view } = chosen;
  return missing.length > 0
    ? { missing: `This needs ${missing.join(" and ")}.` }
    : { method, request: { map, agent, view, ...fieldsOf(chosen, model) } };
}
