// A waypoint graph: its nodes take the part that cells have on a grid.

import { call, listAll, pointOf } from "./api.js";
import { layOut, needsLayout } from "./graph_layout.js";
import { WorldLattice, boundsOf } from "./lattice.js";
import { Model, isPlain } from "./map_model.js";

export const MAX_NODES = 20000;

class GraphLattice extends WorldLattice {
  constructor(nodes) {
    const { left, top, right, bottom } = boundsOf(nodes.length > 0 ? nodes.map(({ x, y }) => [x, y]) : [[0, 0]]);
    super({ x: left, y: top, z: 0 }, { x: right, y: bottom, z: 0 });
    this.nodes = nodes;
    // There is room for names.
    this.bounds.right += 4;
    const [width, height] = [right - left, bottom - top];
    // About how far nodes are apart if they are spread evenly.
    const count = nodes.length || 1;
    this.spacing = Math.max(Math.sqrt((width * height) / count), Math.max(width, height) / count) * this.unit;
  }

  cellAt(px, py) {
    return this.#best(([x, y]) => Math.hypot(x - px, y - py)) ?? null;
  }

  label(node) {
    return node.id;
  }

  // The nearest in that direction, more or less.
  move(from, dx, dy) {
    const [fx, fy] = this.center(from.x, from.y);
    const side = Math.hypot(dx, dy);
    const next = this.#best(([x, y]) => {
      const distance = Math.hypot(x - fx, y - fy);
      const along = ((x - fx) * dx + (y - fy) * dy) / side;
      return along > distance * 0.5 && distance > 0 ? distance + (distance - along) * 2 : Infinity;
    });
    return next ?? from;
  }

  #best(badness) {
    const values = this.nodes.map(({ x, y }) => badness(this.center(x, y)));
    const least = Math.min(...values);
    return least < Infinity ? this.nodes[values.indexOf(least)] : undefined;
  }
}

// The edges as a picture shows them: one line for a pair of nodes. A link is one-way if paths go along it from `from` to
// `to` alone: there is no edge back, or it is closed. Edges to nodes that were not read are passed over.
export function linksOf(nodes, byId) {
  const keyOf = (from, to) => from.index * nodes.length + to.index;
  const edges = new Map();
  for (const from of nodes) {
    for (const edge of from.edges) {
      const to = byId.get(edge.to);
      if (to) {
        edges.set(keyOf(from, to), { from, to, isOpen: edge.open ?? false });
      }
    }
  }
  const links = [];
  for (const { from, to, isOpen } of edges.values()) {
    const back = edges.get(keyOf(to, from));
    const isSame = back?.isOpen === isOpen;
    // One of the two stands for both: the open one, or else that of the first node.
    if (!back || (isSame ? from.index < to.index : isOpen)) {
      links.push({ from, to, isOpen, isOneWay: !isSame });
    }
  }
  return links;
}

export class GraphModel extends Model {
  isGraph = true;
  noun = "nodes";
  options = ["algorithm", "requiredTags", "unreachablePolicy"];
  suits = isPlain;
  nodes = [];
  byId = new Map();
  links = [];
  // Whether the places of the nodes are not those of the world, but chosen to show them apart.
  isLaidOut = false;
  lattice = new GraphLattice([]);

  // 0 of nodes that are not there.
  at(node) {
    return this.byId.has(node?.id) ? 1 : 0;
  }

  again(node) {
    return this.byId.get(node?.id) ?? null;
  }

  async read(map, signal) {
    const { info } = await call("MapService/GetMap", { map }, signal);
    return { info, nodes: await listAll("MapService/ListNodes", { map, pageSize: 1000 }, "nodes", signal) };
  }

  load({ info, nodes }) {
    const isOther = this.describe(info);
    this.nodes = nodes.map(({ node, edges }, index) => ({
      index,
      id: node.id,
      x: node.position?.x ?? 0,
      y: node.position?.y ?? 0,
      position: pointOf(node.position),
      isDisabled: node.enabled === false,
      tags: node.tags ?? [],
      edges: edges ?? [],
    }));
    this.byId = new Map(this.nodes.map((node) => [node.id, node]));
    this.links = linksOf(this.nodes, this.byId);
    const wasLaidOut = this.isLaidOut;
    this.isLaidOut = needsLayout(this.nodes);
    if (this.isLaidOut) {
      const places = layOut(this.nodes.length, this.links.map(({ from, to }) => [from.index, to.index]));
      this.nodes.forEach((node) => Object.assign(node, places[node.index]));
    }
    this.lattice = new GraphLattice(this.nodes);
    return isOther || wasLaidOut !== this.isLaidOut;
  }

  // The node of that id, or one at `position` if it is not there any more.
  placeOf(id, position) {
    const { x = 0, y = 0 } = position ?? {};
    return this.byId.get(id) ?? { id, x, y };
  }

  locationOf({ id }) {
    return { node: id };
  }

  pointsOf({ nodes = [], positions }) {
    return nodes.map((id, i) => this.placeOf(id, positions?.[i]));
  }

  // In the order in which the search comes to them.
  searchPlaces() {
    const all = [];
    const numbers = new Map();
    const numberOf = (id, position) => {
      if (!numbers.has(id)) {
        numbers.set(id, all.length);
        all.push(this.placeOf(id, position));
      }
      return numbers.get(id);
    };
    return {
      get size() {
        return all.length;
      },
      at: (number) => all[number],
      numbersOf: ({ node, parentNode: parent, position }) => [
        numberOf(node, position), parent ? numberOf(parent) : undefined,
      ],
      costOf: ({ g = 0 }) => g,
    };
  }

  factsOf({ id }) {
    const node = this.byId.get(id);
    const pairs = [
      ["node", node.id],
      ["at", positionText(node.position)],
      ["", node.isDisabled ? "disabled" : "enabled"],
      ["edges", String(node.edges.length)],
    ];
    return node.tags.length > 0 ? [...pairs, ["tags", node.tags.join(", ")]] : pairs;
  }
}

function positionText({ x, y, z }) {
  return (z === 0 ? [x, y] : [x, y, z]).map((each) => Number(each.toFixed(4))).join(", ");
}
