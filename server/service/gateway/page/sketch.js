// Marks on the map for questions, which do not change it: marked places, and an overlay of areas and nodes that only
// these questions see as blocked.

import { placeText } from "./address.js";
import { sameCell } from "./api.js";
import { placeObstacles } from "./obstacles.js";

// The names of marked places: not those of the start and the goal.
export const LETTERS = [..."ABCDEFHIJKLMNOPQRTUVWXYZ"];
// The side of a mesh is so many times that of what a press blocks.
const PRESSES_ALONG_MESH = 24;

export class Sketch {
  model = null;
  marked = [];
  // Parts of the overlay: each a `node` by its id, or an area between two corners, { a, b }, which are cells of a grid,
  // else points.
  parts = [];
  // Where the parts lie, as placeObstacles() says.
  areas = [];

  clear() {
    this.restore([], []);
  }

  restore(marked, parts) {
    this.marked = marked;
    this.parts = parts;
    this.#place();
  }

  take(model) {
    this.model = model;
    this.marked = this.marked.map((place) => model.again(place)).filter(Boolean);
    this.#place();
  }

  // Marks a place, or takes its mark away.
  mark(place) {
    const rest = this.marked.filter((each) => !sameCell(each, place));
    this.marked = rest.length < this.marked.length ? rest : [...rest, place].slice(0, LETTERS.length);
  }

  // Frees what the overlay blocks at a point of the plan, or else blocks a place there.
  press(point, place) {
    const at = this.areas.findIndex(({ area }) => area.holds(point));
    if (at >= 0) {
      this.parts = this.parts.filter((_, i) => i !== at);
    } else if (place) {
      const { isGraph, isMesh, lattice } = this.model;
      const reach = isMesh ? lattice.size / PRESSES_ALONG_MESH / 2 : 0;
      const corner = (by) => ({ x: place.x + by, y: place.y + by });
      this.parts = [...this.parts, isGraph ? { node: place.id } : { a: corner(-reach), b: corner(reach) }];
    }
    this.#place();
  }

  // Blocks an area besides `parts`.
  stretch(parts, a, b) {
    this.parts = [...parts, { a, b }];
    this.#place();
  }

  // The View of the questions, if it is not that of all others.
  get view() {
    if (!this.model || this.parts.length === 0) {
      return undefined;
    }
    const areas = this.parts.filter(({ node }) => node === undefined).map((part) => this.#areaOf(part));
    const blocked = areas.length > 0 ? this.#shapeOf(areas) : undefined;
    const nodes = this.parts.flatMap(({ node }) => node ?? []);
    const blockedNodes = nodes.length > 0 ? nodes : undefined;
    return { overlay: { blocked, blockedNodes } };
  }

  // For the page's address.
  get fields() {
    const partText = ({ node, a, b }) => node ?? [a.x, a.y, b.x, b.y].join();
    return [["marked", this.marked.map(placeText).join(";")], ["overlay", this.parts.map(partText).join(";")]];
  }

  #place() {
    // A link may name nodes for a map that has none.
    this.parts = this.parts.filter(({ node }) => node === undefined || !this.model || this.model.isGraph);
    const shapeOf = (part) => (part.node === undefined ? this.#shapeOf([this.#areaOf(part)]) : this.#discAt(part.node));
    const obstacles = () => this.parts.map((part) => ({ id: "overlay", shape: shapeOf(part) }));
    this.areas = this.model ? placeObstacles(obstacles(), this.model) : [];
  }

  #discAt(node) {
    const { lattice, byId } = this.model;
    const center = byId.get(node) ?? { x: Infinity, y: Infinity };
    return { discs: [{ center, radius: (lattice.spacing / lattice.unit) * 0.25 }] };
  }

  #shapeOf(areas) {
    return this.model.cells ? { rectangles: areas } : { polygons: areas };
  }

  #areaOf({ a, b }) {
    const [left, right] = [a.x, b.x].sort((p, q) => p - q);
    const [top, bottom] = [a.y, b.y].sort((p, q) => p - q);
    const vertices = [[left, top], [right, top], [right, bottom], [left, bottom]].map(([x, y]) => ({ x, y }));
    const cells = { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
    return this.model.cells ? cells : { vertices };
  }
}
