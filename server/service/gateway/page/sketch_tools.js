// Two tools beside those that edit the map: one marks places, the other draws the overlay. See sketch.js.

import { Tools } from "./tools.js";

// So many pixels a press may slip.
const SLIP = 10;
// How near to a marked place a press takes its mark away.
const GRIP = 18;

export class SketchTools extends Tools {
  // Where an area begins that is being drawn, and what was blocked before.
  corner = null;

  get isSketching() {
    return this.tool === "mark" || this.tool === "overlay";
  }

  grab(px, py, event) {
    const { app } = this;
    const { model, isOblique } = app;
    if (!this.isSketching) {
      return super.grab(px, py, event);
    }
    if (this.tool === "overlay" && model && !model.isLaidOut && !isOblique) {
      this.corner = { px, py, parts: app.sketch.parts };
    }
    return this.corner !== null;
  }

  drag(px, py) {
    const { app, corner } = this;
    if (!corner) {
      super.drag(px, py);
    } else if (app.sketch.parts !== corner.parts || Math.hypot(px - corner.px, py - corner.py) > SLIP) {
      app.sketch.stretch(corner.parts, this.#planAt(corner.px, corner.py), this.#planAt(px, py));
      app.query.ask();
      app.redraw();
    }
  }

  drop(isCancelled) {
    this.corner = null;
    super.drop(isCancelled);
  }

  tap(px, py, event) {
    const { app } = this;
    if (!this.isSketching) {
      super.tap(px, py, event);
    } else if (this.tool === "overlay" && app.model && !app.isOblique) {
      this.#block(this.#planAt(px, py), app.cellAt(px, py));
    } else if (this.tool === "mark") {
      const isNear = ([x, y]) => Math.hypot(x - px, y - py) < GRIP;
      this.#mark(app.sketch.marked.find((place) => isNear(app.placeOf(place))) ?? app.cellAt(px, py));
    }
  }

  // `tool` is "mark" or "overlay".
  sketchAt(tool, place) {
    if (tool === "mark") {
      this.#mark(place);
    } else {
      this.#block(place, place);
    }
  }

  // A place of a mesh takes the height of the ground there.
  async #mark(place) {
    const { app } = this;
    const { model } = app;
    const ground = place?.isAloft ? await model.land(place).catch(() => null) : place;
    if (ground && app.model === model) {
      app.sketch.mark(ground);
      app.settle();
    }
  }

  #block(point, place) {
    this.app.sketch.press(point, place);
    this.app.settle();
  }

  // A point of the plan, on a grid the cell nearest to it.
  #planAt(px, py) {
    const { lattice } = this.app.model;
    const { x, y } = lattice.pointAt(...this.app.view.toMap(px, py));
    return { x, y };
  }
}
