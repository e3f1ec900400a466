// The buttons that choose a tool, and what pressing and dragging on the map does with it.

import { sameCell } from "./api.js";
import { brushed } from "./editor.js";
import { element } from "./panel.js";

// How near to a mark a finger or a pointer takes hold of it.
const GRIP = { touch: 26, mouse: 14, pen: 18 };
// So many pixels a press may slip.
const SLIP = 10;
const PAINTING = ["wall", "lift", "terrain"];

const choices = [...document.querySelectorAll("[data-tool]")];

export class Tools {
  tool = "path";
  brush = 1;
  terrain = 0;
  // The end that is dragged, the cell that was painted last, and where an area of the overlay that is drawn begins,
  // with what was blocked before.
  dragged = null;
  #last = null;
  #corner = null;
  // The gestures of each tool that has some: grab(px, py, grip), which returns true if it takes the drag,
  // drag(px, py, cell), drop(isCancelled) and tap(px, py, grip, event).
  #hands;

  constructor(app) {
    this.app = app;
    const painting = {
      grab: (px, py) => this.#beginStroke(app.cellAt(px, py)),
      drag: (_px, _py, cell) => this.#goOn(cell),
      drop: () => app.editor.end(),
    };
    this.#hands = {
      path: {
        grab: (px, py, grip) => this.#grabEnd(px, py, Math.max(grip, app.view.scale / 2)),
        drag: (_px, _py, cell) => this.#dragEnd(cell),
        tap: (px, py, _grip, event) => this.#setEnd(app.cellAt(px, py), event.shiftKey),
      },
      ...Object.fromEntries(PAINTING.map((tool) => [tool, painting])),
      obstacle: app.drawing,
      portal: app.drawing,
      mark: { tap: (px, py, grip) => this.mark(this.#near(app.sketch.marked, px, py, grip) ?? app.cellAt(px, py)) },
      overlay: {
        grab: (px, py) => this.#beginArea(px, py),
        drag: (px, py) => this.#stretchArea(px, py),
        drop: () => (this.#corner = null),
        tap: (px, py) => !app.isOblique && this.block(app.pointAt(px, py), app.cellAt(px, py)),
      },
      agent: { tap: (px, py) => app.agents.add(app.cellAt(px, py)) },
    };
    choices.forEach((choice) => choice.addEventListener("change", () => this.choose(choice.dataset.tool)));
  }

  // Nothing happens if the map has no use for the tool.
  choose(tool) {
    const choice = choices.find((each) => each.dataset.tool === tool);
    if (choice.disabled) {
      return;
    }
    choice.checked = true;
    this.tool = tool;
    element("painting").hidden = !this.isPainting;
    element("terrain").labels[0].hidden = tool !== "terrain";
    this.app.drawing.renew();
  }

  offer({ cells, terrains = [], isLaidOut, isGraph }) {
    const options = [...terrains].map(([symbol, { name }]) => new Option(name, String(symbol)));
    element("terrain").replaceChildren(...options);
    this.terrain = Number(element("terrain").value);
    const isUnfit = { wall: !cells, lift: !cells, terrain: options.length < 2, obstacle: isLaidOut, portal: isGraph };
    choices.forEach((choice) => (choice.disabled = Boolean(isUnfit[choice.dataset.tool])));
    if (isUnfit[this.tool]) {
      this.choose("path");
    }
  }

  get #hand() {
    return this.#hands[this.tool];
  }

  get isPainting() {
    return PAINTING.includes(this.tool);
  }

  grab(px, py, { pointerType }) {
    return Boolean(this.app.model && this.#hand.grab?.(px, py, GRIP[pointerType] ?? GRIP.mouse));
  }

  drag(px, py) {
    this.hover(px, py);
    this.#hand.drag?.(px, py, this.app.hover);
  }

  drop(isCancelled) {
    this.#hand.drop?.(isCancelled);
    this.dragged = null;
    this.app.settle();
  }

  tap(px, py, event) {
    if (this.app.model) {
      this.#hand.tap?.(px, py, GRIP[event.pointerType] ?? GRIP.mouse, event);
    }
  }

  // Presses by a key. With a tool that draws obstacles, every other press ends a drag.
  press(px, py) {
    const { drawing } = this.app;
    if (drawing.isHeld) {
      this.drop(false);
    } else if (!drawing.kind || !this.grab(px, py, {})) {
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

  // Marks a place, or takes its mark away. A place of a mesh takes the height of the ground there.
  async mark(place) {
    const { app } = this;
    const { model } = app;
    const ground = place && (await model.land(place).catch(() => null));
    if (ground && app.model === model) {
      app.sketch.mark(ground);
      app.settle();
    }
  }

  // Blocks a place for questions, or frees what the overlay blocks at a point of the plan.
  block(point, place) {
    this.app.sketch.press(point, place);
    this.app.settle();
  }

  #near(places, px, py, reach) {
    return places.find((place) => this.app.distanceTo(place, px, py) <= reach);
  }

  #grabEnd(px, py, reach) {
    const { app } = this;
    this.dragged = ["goal", "start"].find((end) => app[end] && this.#near([app[end]], px, py, reach));
    return this.dragged !== undefined;
  }

  #dragEnd(cell) {
    if (this.dragged && cell && !sameCell(cell, this.app[this.dragged])) {
      this.app.moveEnd(this.dragged, cell);
    }
  }

  #setEnd(cell, isStart) {
    const { app } = this;
    if (cell && !sameCell(cell, app.start) && !sameCell(cell, app.goal)) {
      app.setEnd(app.start && !isStart ? "goal" : "start", cell);
    }
  }

  #beginStroke(cell) {
    if (cell) {
      this.app.editor.begin(this.tool, this.terrain);
      this.#last = cell;
      this.#paintTo(cell);
    }
    return cell !== null;
  }

  #goOn(cell) {
    if (cell && !sameCell(cell, this.#last)) {
      this.#paintTo(cell);
    }
  }

  #paintTo(cell) {
    this.app.editor.paint(brushed(this.app.model.lattice, this.#last, cell, this.brush));
    this.#last = cell;
  }

  #beginArea(px, py) {
    const { model, sketch, isOblique } = this.app;
    if (!model.isLaidOut && !isOblique) {
      this.#corner = { px, py, parts: sketch.parts };
    }
    return this.#corner !== null;
  }

  #stretchArea(px, py) {
    const { app } = this;
    const corner = this.#corner;
    if (app.sketch.parts !== corner.parts || Math.hypot(px - corner.px, py - corner.py) > SLIP) {
      app.sketch.stretch(corner.parts, app.pointAt(corner.px, corner.py), app.pointAt(px, py));
      app.query.ask();
      app.redraw();
    }
  }
}
