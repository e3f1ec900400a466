// The cells of a grid map as the server exports them: a byte each, the symbol of its terrain or of a wall.

import { bytesOf, cellOf, stream } from "./api.js";
import { latticeOf } from "./lattice.js";
import { costText } from "./words.js";

export const WALL = "#".charCodeAt(0);
const NEWLINE = 10;

// Base of the models of all kinds of maps: the description and version that was read. Each has read(map, signal), which
// gives what load() takes, and says what the contract asks of its places: locationOf(place), pointsOf(path) and
// arrivalOf(crossing, points). `searchPlaces()` has those of a search, each with a number: the `size` of the list,
// the place at(number), numbersOf(event), which are those of its place and of the parent if there is one, and
// costOf(event).
export class Model {
  info = null;
  revision = 0;
  epoch = "";
  noun = "cells";
  // The options of a question that this kind of map has, and the algorithms.
  options = ["algorithm", "cornerRule", "footprint", "pathForm", "profileName", "requiredTags", "unreachablePolicy"];
  suits = (algorithm) => algorithm !== "ALGORITHM_POLYANYA";

  // Takes a description. Returns true if it is another map than before, of another size perhaps.
  describe(info) {
    const before = this.info;
    this.info = info;
    this.revision = Number(info.version.revision);
    this.epoch = info.version.epoch;
    return before?.map !== info.map || before?.createTime !== info.createTime;
  }

  // The place on the ground that belongs to one, or null if there is none.
  async land(place) {
    return place;
  }

  // Where a portal leads to, by the points behind it.
  arrivalOf(_crossing, [next]) {
    return next;
  }

  // What others have changed, as far as it can be told from the edits alone. False if the map has to be read again.
  apply(edits) {
    return edits.length === 0;
  }
}

const PLAIN_ALGORITHMS = ["ALGORITHM_AUTO", "ALGORITHM_ASTAR", "ALGORITHM_DIJKSTRA"];

export function isPlain(algorithm) {
  return PLAIN_ALGORITHMS.includes(algorithm);
}

export class MapModel extends Model {
  // `changed(x, y)` is called for each cell that is set to look otherwise than before.
  constructor(changed) {
    super();
    this.changed = changed;
    this.lattice = null;
    this.terrains = new Map();
    this.cells = new Uint8Array(0);
  }

  get width() {
    return this.lattice.width;
  }

  get height() {
    return this.lattice.height;
  }

  // 0 off the map.
  at({ x, y }) {
    return x < 0 || y < 0 || x >= this.width || y >= this.height ? 0 : this.cells[y * this.width + x];
  }

  again(cell) {
    return cell && cell.id === undefined && this.at(cell) !== 0 ? cell : null;
  }

  // Returns true if neither a wall nor its terrain blocks a cell.
  isFree(cell) {
    const terrain = this.terrains.get(this.at(cell));
    return terrain !== undefined && !terrain.impassable;
  }

  factsOf(cell) {
    const terrain = this.terrains.get(this.at(cell));
    const isFree = this.isFree(cell);
    return [
      ["cell", this.lattice.label(cell)],
      terrain ? ["terrain", terrain.name] : ["", "wall"],
      ...(isFree ? [["cost", costText(terrain.cost)]] : []),
      ["", isFree ? "free" : "blocked"],
    ];
  }

  locationOf({ x, y }) {
    return { cell: { x, y } };
  }

  pointsOf({ points = [] }) {
    return points.map(cellOf);
  }

  arrivalOf({ arrival }) {
    return cellOf(arrival);
  }

  searchPlaces() {
    const { width, height } = this;
    const numberOf = ({ x = 0, y = 0 }) => y * width + x;
    return {
      size: width * height,
      at: (number) => ({ x: number % width, y: Math.floor(number / width) }),
      numbersOf: ({ cell, parent }) => [numberOf(cell ?? {}), parent && numberOf(parent)],
      costOf: ({ g = 0 }) => g,
    };
  }

  set({ x, y }, symbol) {
    const index = y * this.width + x;
    if (this.cells[index] !== symbol && this.cells[index] !== 0) {
      this.cells[index] = symbol;
      this.changed(x, y);
    }
  }

  // A description, and the map as a file of text.
  async read(map, signal) {
    let info = null;
    let bytes = new Uint8Array(0);
    let end = 0;
    const request = { map, format: "MAP_FORMAT_TEXT" };
    for await (const { header, chunk } of stream("MapService/ExportMap", request, signal)) {
      if (header) {
        info = header.info;
        bytes = new Uint8Array(Number(header.size));
      } else {
        const part = bytesOf(chunk);
        bytes.set(part, end);
        end += part.length;
      }
    }
    return { info, bytes };
  }

  // Returns the same as describe().
  load({ info, bytes }) {
    const isNew = this.describe(info);
    this.terrains = new Map(
      info.grid.terrains.map((terrain) => [terrain.symbol.charCodeAt(0), { cost: 1, ...terrain }]),
    );
    if (isNew) {
      this.lattice = latticeOf(info.grid);
      this.suits = this.lattice.isHex ? isPlain : this.suits;
    }
    const cells = new Uint8Array(this.width * this.height);
    for (let row = 0, at = startOfRows(bytes); row < this.height; ++row, at += this.width + 1) {
      cells.set(bytes.subarray(at, at + this.width), row * this.width);
    }
    this.cells = cells;
    return isNew;
  }

  apply(edits) {
    return edits.every((edit) => edit.block && this.#block(edit.block));
  }

  #block(shape) {
    if (shape.discs || shape.polygons || shape.lines) {
      return false;
    }
    (shape.cells ?? []).forEach((cell) => this.set(cellOf(cell), WALL));
    for (const rectangle of shape.rectangles ?? []) {
      const { x, y } = cellOf(rectangle);
      const right = Math.min(x + rectangle.width, this.width);
      const bottom = Math.min(y + rectangle.height, this.height);
      for (let row = Math.max(y, 0); row < bottom; ++row) {
        for (let column = Math.max(x, 0); column < right; ++column) {
          this.set({ x: column, y: row }, WALL);
        }
      }
    }
    return true;
  }
}

// Behind the line "map", which ends the header if there is one.
function startOfRows(bytes) {
  const isEnd = (at) => [..."map\n"].every((letter, i) => bytes[at + i] === letter.charCodeAt(0));
  let line = 0;
  do {
    if (isEnd(line)) {
      return line + 4;
    }
    line = bytes.indexOf(NEWLINE, line) + 1;
  } while (line > 0);
  return 0;
}
