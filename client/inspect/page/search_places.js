// Where a search goes: cells or nodes, each with a number that the player knows it by.

import { cellOf } from "./api.js";

export class CellPlaces {
  constructor(width, height) {
    this.width = width;
    this.size = width * height;
  }

  // Of an event, and of the parent in it.
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
