// What pressing and dragging on the map does, by the tool that is chosen.

import { sameCell } from "./api.js";
import { brushed } from "./editor.js";

// How near to a mark a finger or a pointer takes hold of it.
const GRIP = { touch: 26, mouse: 14, pen: 18 };
const gripOf = ({ pointerType }) => GRIP[pointerType] ?? GRIP.mouse;

// Whether a tool is for the cells of a grid.
export function paints(tool) {
  return ["wall", "lift", "terrain"].includes(tool);
}

export class Tools {
  // `app` is the page's state, see app.js.
  constructor(app) {
    this.app = app;
    this.tool = "path";
    this.brush = 1;
    this.terrain = 0;
    this.dragged = null;
    this.last = null;
  }

  get isPainting() {
    return paints(this.tool);
  }

  get #drawing() {
    const { drawing } = this.app;
    return drawing.kind && drawing;
  }

  grab(px, py, event) {
    const { app } = this;
    if (!app.model) {
      return false;
    }
    const grip = gripOf(event);
    if (this.#drawing) {
      return this.#drawing.grab(px, py, grip);
    }
    const cell = app.cellAt(px, py);
    if (this.isPainting) {
      if (!cell) {
        return false;
      }
      app.editor.begin(this.tool, this.terrain);
      this.last = cell;
      app.editor.paint(brushed(app.model.lattice, cell, cell, this.brush));
      return true;
    }
    if (this.tool === "agent") {
      return false;
    }
    this.dragged = ["goal", "start"].find((end) => {
      const place = app[end] && app.placeOf(app[end]);
      return place && Math.hypot(place[0] - px, place[1] - py) <= Math.max(grip, app.view.scale / 2);
    });
    return this.dragged !== undefined;
  }

  drag(px, py) {
    const { app } = this;
    const cell = app.cellAt(px, py);
    app.setHover(cell);
    this.#drawing?.drag(px, py);
    if (!cell) {
      return;
    }
    if (this.isPainting) {
      if (!sameCell(cell, this.last)) {
        app.editor.paint(brushed(app.model.lattice, this.last, cell, this.brush));
        this.last = cell;
      }
    } else if (this.dragged && !sameCell(cell, app[this.dragged])) {
      app.moveEnd(this.dragged, cell);
    }
  }

  drop(isCancelled) {
    this.#drawing?.drop(isCancelled);
    if (this.isPainting) {
      this.app.editor.end();
    }
    this.dragged = null;
    this.app.settle();
  }

  tap(px, py, event) {
    const { app } = this;
    if (this.#drawing) {
      this.#drawing.tap(px, py, gripOf(event));
      return;
    }
    const cell = app.cellAt(px, py);
    if (this.tool === "agent") {
      app.addAgent(cell);
      return;
    }
    if (this.isPainting || !cell || sameCell(cell, app.start) || sameCell(cell, app.goal)) {
      return;
    }
    app.setEnd(app.start && !event.shiftKey ? "goal" : "start", cell);
  }

  // By a key: with a tool that drags, every other press ends a drag.
  press(px, py) {
    if (this.#drawing?.isHeld) {
      this.drop(false);
    } else if (!this.#drawing?.grab(px, py, GRIP.mouse)) {
      this.tap(px, py, {});
    }
  }

  hover(px, py) {
    this.app.setHover(this.app.cellAt(px, py));
  }

  leave() {
    this.app.setHover(null);
  }

  pan(dx, dy) {
    this.app.view.pan(dx, dy);
    this.app.redraw();
  }

  zoom(factor, px, py) {
    this.app.view.zoom(factor, px, py);
    this.app.redraw();
  }

  // The cells that a press at `cell` would paint.
  preview(cell) {
    const size = this.isPainting ? this.brush : 1;
    return cell && size > 1 ? brushed(this.app.model.lattice, cell, cell, size) : [];
  }
}
