// Obstacles and portals that are drawn by hand: put, moved, reshaped, changed and removed.

import { NamedForm } from "./named_form.js";
import { placeObstacles, shifted } from "./obstacles.js";
import { handlesOf, shapeBetween } from "./shapes.js";
import { freeName } from "./words.js";

const KINDS = { obstacle: "Obstacle", portal: "Portal" };
// A press that moves by fewer pixels draws nothing.
const LEAST_DRAG = 4;

export class Drawing {
  // The id of the obstacle or portal that is chosen, and the obstacle as a drag makes it, with its edit.
  id = "";
  draft = null;
  // The first end of a portal, with its map.
  from = null;
  // The drag: where it began, the id of what it began on, and draw(place), which makes a draft.
  #held = null;
  #said = "";

  // `app` is the page's state, see app.js.
  constructor(app) {
    this.app = app;
    this.form = new NamedForm({
      choose: (id) => this.choose(id),
      apply: () => this.#apply(),
      remove: () => this.remove(),
    });
  }

  // "Obstacle" or "Portal" while the tool for it is chosen.
  get kind() {
    return KINDS[this.app.tools.tool];
  }

  get isHeld() {
    return this.#held !== null;
  }

  get #all() {
    return this.kind === "Portal" ? this.app.portals : this.app.obstacles;
  }

  get #chosen() {
    return this.kind && this.#all.find(({ id }) => id === this.id);
  }

  // The places to drag, of the obstacle that is chosen.
  get handles() {
    const chosen = this.kind === "Obstacle" && !this.draft && this.#chosen;
    return chosen ? handlesOf(chosen.source.shape, this.app.model.lattice) : [];
  }

  // The obstacles as they are drawn.
  get obstacles() {
    const { draft, app } = this;
    return draft ? [...app.obstacles.filter(({ id }) => id !== draft.id), draft] : app.obstacles;
  }

  choose(id) {
    this.id = id;
    const { view, model } = this.app;
    const { area, ends } = this.#chosen ?? {};
    if (area) {
      const { left, top, right, bottom } = area.outline.bounds;
      view.reveal([(left + right) / 2, (top + bottom) / 2]);
    } else if (ends) {
      view.reveal(model.lattice.center(ends[0].x, ends[0].y));
    }
    this.renew();
  }

  forget() {
    this.drop(true);
    this.from = null;
    this.#said = "";
    this.choose("");
  }

  // After the tool, the map, or what is on it has changed.
  renew() {
    const { app, kind } = this;
    this.#held = kind === "Obstacle" ? this.#held : null;
    if (kind !== "Portal") {
      this.from = null;
      this.#said = "";
    }
    this.draft = this.#held && this.draft;
    this.form.show(kind, this.#all, this.#chosen, app.model, this.#said);
    app.redraw();
  }

  // Returns whether a drag begins.
  grab(px, py, grip) {
    const { app, form } = this;
    const { model } = app;
    if (this.kind !== "Obstacle" || app.isOblique) {
      return false;
    }
    const first = this.#placeAt(px, py);
    const handle = this.handles.find((each) => this.#distance(each, px, py) <= grip);
    const under = handle ? this.#chosen : app.obstacles.findLast(({ area }) => area.holds(first));
    const reshape = (to) => {
      const edit = { id: under.id, shape: handle.moved(to) };
      return this.#draft({ ...under.source, shape: edit.shape }, { resizeObstacle: edit });
    };
    const add = (to) => {
      const shape = shapeBetween(first, to, form.isDisc, model);
      const { heights } = model;
      const obstacle = { ...form.values("Obstacle"), id: this.#newId("obstacle"), shape, heights };
      return this.#draft(obstacle, { addObstacle: obstacle });
    };
    const draw = handle ? reshape : under ? (to) => this.#move(under, first, to) : add;
    this.#held = { px, py, id: under?.id ?? "", draw };
    return true;
  }

  drag(px, py) {
    const held = this.#held;
    if (held && (this.draft || Math.hypot(px - held.px, py - held.py) > LEAST_DRAG)) {
      this.draft = held.draw(this.#placeAt(px, py));
      this.app.redraw();
    }
  }

  drop(isCancelled) {
    const held = this.#held;
    const { draft } = this;
    this.#held = null;
    if (isCancelled) {
      this.draft = null;
    } else if (draft) {
      this.#change([draft.id], [draft.edit]);
    } else if (held) {
      this.choose(held.id);
    }
  }

  // With portals, chooses one, or takes an end of a new one.
  tap(px, py, grip) {
    const { app, from } = this;
    const place = app.cellAt(px, py);
    if (this.kind !== "Portal" || !place) {
      return;
    }
    const { cell, position } = app.model.locationOf(place);
    const near = app.portals.find(({ ends }) => ends.some((end) => this.#distance(end, px, py) <= grip));
    this.from = null;
    this.#said = "";
    if (from) {
      const toMap = from.map === app.map ? undefined : app.map;
      const ends = { from: from.cell, fromPosition: from.position, to: cell, toPosition: position, toMap };
      const id = this.#newId("portal");
      this.#said = toMap ? `${id} leads here from the map ${from.map}.` : "";
      this.#change([id], [{ addPortal: { ...this.form.values("Portal"), id, ...ends } }], from.map);
    } else if (near) {
      this.choose(near.id);
    } else {
      this.from = { map: app.map, place, cell, position };
      this.#said = `From ${app.model.lattice.label(place)}. Press the other end, here or on another map.`;
      this.id = "";
    }
    this.renew();
  }

  remove() {
    if (this.#chosen) {
      this.#change([this.id], [{ [`remove${this.kind}`]: this.id }]);
    }
  }

  // Replaces the chosen obstacle or portal by that of the form, whose name may differ.
  #apply() {
    const { kind, id } = this;
    const next = { ...this.#chosen.source, ...this.form.values(kind) };
    next.id ||= id;
    if (next.id === id) {
      this.#change([id], [{ [`put${kind}`]: next }]);
    } else {
      this.#change([next.id, id], [{ [`remove${kind}`]: id }, { [`add${kind}`]: next }]);
    }
  }

  // The first of the ids is chosen then.
  #change(ids, edits, map = this.app.map) {
    [this.id] = ids;
    // Such as "move crate".
    const [verb] = /^[a-z]+/.exec(Object.keys(edits.at(-1))[0]);
    document.getElementById("announce").textContent = `${verb} ${this.id}`;
    this.app.editor.change(map, this.kind, ids, edits);
  }

  #draft(obstacle, edit) {
    return { ...placeObstacles([obstacle], this.app.model)[0], edit };
  }

  // Squares of the world move by whole numbers.
  #move({ id, ...obstacle }, from, to) {
    const { lattice } = this.app.model;
    const { cells, rectangles } = obstacle.source.shape;
    const round = cells || rectangles ? Math.round : (length) => Number(length.toFixed(6));
    const [a, b] = [from, to].map((place) => lattice.toAxial?.(place) ?? place);
    const [[ax, ay], [bx, by]] = [from, to].map(({ x, y }) => lattice.center(x, y));
    const edit = { moveObstacle: { id, dx: round(b.x - a.x), dy: round(b.y - a.y) } };
    return { ...obstacle, id, area: shifted(obstacle.area, bx - ax, by - ay), edit };
  }

  #placeAt(px, py) {
    return this.app.model.lattice.pointAt(...this.app.view.toMap(px, py));
  }

  #distance(place, px, py) {
    const [x, y] = this.app.placeOf(place);
    return Math.hypot(x - px, y - py);
  }

  // That of the form, or another if it is taken.
  #newId(fallback) {
    return freeName(this.form.values(this.kind).id ?? fallback, (id) => this.#all.some((each) => each.id === id));
  }
}
