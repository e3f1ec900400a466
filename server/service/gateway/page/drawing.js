// Obstacles and portals that are drawn by hand: put, moved, reshaped, changed and removed. A form is for the one
// that is chosen, or for new ones.

import { placeObstacles, shifted } from "./obstacles.js";
import { element } from "./panel.js";
import { handlesOf, shapeBetween } from "./shapes.js";
import { freeName } from "./words.js";

const KINDS = { obstacle: "Obstacle", portal: "Portal" };
// A press that moves by fewer pixels draws nothing.
const LEAST_DRAG = 4;
const SENTENCES = {
  Obstacle: "Drag on the map to put an obstacle; drag one to move it, or its handles to reshape it.",
  Portal: "Press the two ends of a new portal on the map, or choose one.",
};

const section = element("edit");
const choice = element("edit-choice");
const field = (name) => element(`edit-${name}`);

export class Drawing {
  // The id of the obstacle or portal that is chosen, and the obstacle as a drag makes it, with its edit.
  id = "";
  draft = null;
  // The first end of a portal, with its map.
  from = null;
  // The drag: where it began, the id of what it began on, and draw(place), which makes a draft.
  #held = null;
  #said = "";

  constructor(app) {
    this.app = app;
    choice.addEventListener("change", () => this.choose(choice.value));
    field("remove").addEventListener("click", () => this.remove());
    field("form").addEventListener("submit", (event) => {
      // The page sends no forms, and the policy of its content forbids it.
      event.preventDefault();
      this.#apply();
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
    section.hidden = !kind || !app.model;
    if (!section.hidden) {
      this.#showForm();
    }
    app.redraw();
  }

  // Returns whether a drag begins.
  grab(px, py, grip) {
    const { app } = this;
    const { model } = app;
    if (this.kind !== "Obstacle" || app.isOblique) {
      return false;
    }
    const first = this.app.pointAt(px, py);
    const handle = this.handles.find((each) => app.distanceTo(each, px, py) <= grip);
    const under = handle ? this.#chosen : app.obstacles.findLast(({ area }) => area.holds(first));
    const reshape = (to) => {
      const edit = { id: under.id, shape: handle.moved(to) };
      return this.#draft({ ...under.source, shape: edit.shape }, { resizeObstacle: edit });
    };
    const add = (to) => {
      const shape = shapeBetween(first, to, field("shape").value === "disc", model);
      const { heights } = model;
      const obstacle = { ...this.#values(), id: this.#newId("obstacle"), shape, heights };
      return this.#draft(obstacle, { addObstacle: obstacle });
    };
    const draw = handle ? reshape : under ? (to) => this.#move(under, first, to) : add;
    this.#held = { px, py, id: under?.id ?? "", draw };
    return true;
  }

  drag(px, py) {
    const held = this.#held;
    if (held && (this.draft || Math.hypot(px - held.px, py - held.py) > LEAST_DRAG)) {
      this.draft = held.draw(this.app.pointAt(px, py));
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
    const near = app.portals.find(({ ends }) => ends.some((end) => app.distanceTo(end, px, py) <= grip));
    this.from = null;
    this.#said = "";
    if (from) {
      const toMap = from.map === app.map ? undefined : app.map;
      const ends = { from: from.cell, fromPosition: from.position, to: cell, toPosition: position, toMap };
      const id = this.#newId("portal");
      this.#said = toMap ? `${id} leads here from the map ${from.map}.` : "";
      this.#change([id], [{ addPortal: { ...this.#values(), id, ...ends } }], from.map);
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
    const next = { ...this.#chosen.source, ...this.#values() };
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
    element("announce").textContent = `${verb} ${this.id}`;
    this.app.editor.change(map, this.kind, ids, edits);
  }

  // Returns the values of the form as fields of the contract. A field that is empty, or that this map does not
  // have, is unset.
  #values() {
    const text = (name) => (!field(name).disabled && field(name).value.trim()) || undefined;
    const id = text("id");
    if (this.kind === "Portal") {
      return { id, cost: text("cost"), tags: text("tags")?.split(/[\s,]+/), bothWays: field("both").checked };
    }
    const lifetime = text("lifetime") && `${text("lifetime")}s`;
    return { id, lifetime, costFactor: text("factor"), costAddition: undefined, falloff: undefined };
  }

  #showForm() {
    const { kind } = this;
    const chosen = this.#chosen;
    field("title").textContent = `${kind}s`;
    field("text").textContent = this.#said || SENTENCES[kind];
    section.querySelectorAll("[data-for]").forEach((each) => (each.hidden = each.dataset.for !== kind));
    field("factor").disabled = !this.app.model.cells;
    field("apply").disabled = field("remove").disabled = !chosen;
    const names = this.#all.map(({ id, text = id }) => [text, id]);
    if (JSON.stringify(names) !== choice.dataset.names) {
      choice.dataset.names = JSON.stringify(names);
      choice.replaceChildren(new Option("new", ""), ...names.map((each) => new Option(...each)));
    }
    choice.value = chosen?.id ?? "";
    const { shape, lifetime, ...source } = chosen?.source ?? {};
    const content = JSON.stringify(source);
    // What is typed there stays.
    if (content !== section.dataset.content) {
      section.dataset.content = content;
      const { id, costFactor: factor, cost, tags, bothWays = false } = source;
      const fields = { id, lifetime: lifetime && Math.ceil(parseFloat(lifetime)), factor, cost, tags };
      Object.entries(fields).forEach(([name, value]) => (field(name).value = value ?? ""));
      field("both").checked = bothWays;
    }
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

  // That of the form, or another if it is taken.
  #newId(fallback) {
    return freeName(this.#values().id ?? fallback, (id) => this.#all.some((each) => each.id === id));
  }
}
