// Where a search goes: cells, nodes or intervals, each with a number that the player knows it by.

import { cellOf, pointOf } from "./api.js";

export class CellPlaces {
  constructor(width, height) {
    this.width = width;
    this.size = width * height;
  }

  // Of an event, and of the parent in it.
  numbersOf({ cell, parent }) {
    return [this.#number(cell), parent && this.#number(parent)];
  }

  costOf({ g }) {
    return g ?? 0;
  }

  at(number) {
    return { x: number % this.width, y: Math.floor(number / this.width) };
  }

  #number(cell) {
    const { x, y } = cellOf(cell);
    return y * this.width + x;
  }
}

// Numbers nodes in the order in which the search comes to them.
export class NodePlaces {
  // `placeOf(id, position)` gives a node with its place on the picture.
  constructor(placeOf) {
    this.placeOf = placeOf;
    this.numbers = new Map();
    this.nodes = [];
  }

  get size() {
    return this.nodes.length;
  }

  numbersOf({ node, parentNode, position }) {
    return [this.#number(node, position), parentNode ? this.#number(parentNode) : undefined];
  }

  costOf({ g }) {
    return g ?? 0;
  }

  at(number) {
    return this.nodes[number];
  }

  #number(id, position) {
    if (!this.numbers.has(id)) {
      this.numbers.set(id, this.nodes.length);
      this.nodes.push(this.placeOf(id, position));
    }
    return this.numbers.get(id);
  }
}

// The intervals of a navigation mesh: { left, right, root }, as the search generates them.
export class IntervalPlaces {
  constructor() {
    this.intervals = [];
  }

  get size() {
    return this.intervals.length;
  }

  // Only an event that generates an interval tells more of it than its id.
  numbersOf({ kind, interval }) {
    const { id, parent, left, right, root } = interval;
    if (kind === "KIND_GENERATED") {
      this.intervals[id - 1] = { left: pointOf(left), right: pointOf(right), root: pointOf(root) };
    }
    return [id - 1, parent ? parent - 1 : undefined];
  }

  // Of the way to the middle, seen from above.
  costOf({ g, interval }) {
    const { left, right, root } = this.at(interval.id - 1);
    return (g ?? 0) + Math.hypot((left.x + right.x) / 2 - root.x, (left.y + right.y) / 2 - root.y);
  }

  at(number) {
    return this.intervals[number];
  }
}
