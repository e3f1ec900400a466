// Where a search goes: cells, nodes or intervals, each with a number that the player knows it by.

import { cellOf, pointOf } from "./api.js";

// Places by number. `numbersOf(event)` gives the number of its place, and that of the parent if there is one.
class Places {
  all = [];

  get size() {
    return this.all.length;
  }

  costOf({ g }) {
    return g ?? 0;
  }

  at(number) {
    return this.all[number];
  }
}

export class CellPlaces extends Places {
  constructor({ width, height }) {
    super();
    this.width = width;
    this.height = height;
  }

  get size() {
    return this.width * this.height;
  }

  numbersOf({ cell, parent }) {
    return [this.#number(cell), parent && this.#number(parent)];
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
export class NodePlaces extends Places {
  numbers = new Map();

  // `model.placeOf(id, position)` gives a node with its place on the picture.
  constructor(model) {
    super();
    this.model = model;
  }

  numbersOf({ node, parentNode, position }) {
    return [this.#number(node, position), parentNode ? this.#number(parentNode) : undefined];
  }

  #number(id, position) {
    if (!this.numbers.has(id)) {
      this.numbers.set(id, this.all.length);
      this.all.push(this.model.placeOf(id, position));
    }
    return this.numbers.get(id);
  }
}

// The intervals of a navigation mesh: { left, right, root }, as the search generates them.
export class IntervalPlaces extends Places {
  // Only an event that generates an interval tells more of it than its id.
  numbersOf({ kind, interval }) {
    const { id, parent, left, right, root } = interval;
    if (kind === "KIND_GENERATED") {
      this.all[id - 1] = { left: pointOf(left), right: pointOf(right), root: pointOf(root) };
    }
    return [id - 1, parent ? parent - 1 : undefined];
  }

  // Of the way to the middle, seen from above.
  costOf({ g, interval }) {
    const { left, right, root } = this.at(interval.id - 1);
    return (g ?? 0) + Math.hypot((left.x + right.x) / 2 - root.x, (left.y + right.y) / 2 - root.y);
  }
}
