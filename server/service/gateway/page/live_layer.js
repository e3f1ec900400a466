// Draws agents that walk, and flashes where changes come, above the map.

import { placeObstacles } from "./obstacles.js";
import { crossAt, discAt, fill, lineThrough, stroke } from "./pen.js";
import { colorOf } from "./theme.js";

const FLASH_MILLIS = 1000;
const MAX_FLASHES = 300;
// A smaller change has a ring of that radius around it.
const LEAST_RADIUS = 12;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const map = document.getElementById("map");
const canvas = document.getElementById("live");

export class LiveLayer {
  #context = canvas.getContext("2d");
  #flashes = [];
  #isAwake = false;

  constructor(app) {
    this.app = app;
  }

  // `areas` are ChangedAreas of the map that is shown.
  flash(areas) {
    const { model } = this.app;
    const shapes = areas.map(({ rectangle, disc }) => (disc ? { discs: [disc] } : { rectangles: [rectangle] }));
    // Among nodes whose places are not those of the world, nothing has a place.
    const placed = model.isLaidOut ? [] : placeObstacles(shapes.map((shape) => ({ shape })), model);
    const begin = performance.now();
    this.#flashes.push(...placed.map(({ area }) => ({ begin, model, outline: area.outline })));
    this.#flashes = this.#flashes.slice(-MAX_FLASHES);
    this.wake();
  }

  // Draws until nothing moves.
  wake() {
    if (this.#isAwake) {
      return;
    }
    this.#isAwake = true;
    requestAnimationFrame((now) => {
      this.#isAwake = false;
      const { agents, model } = this.app;
      if (model) {
        agents.walk(now);
      }
      this.draw();
      if (model && (agents.all.size > 0 || this.#flashes.length > 0)) {
        this.wake();
      }
    });
  }

  draw() {
    const { model, view, agents, others, isOblique } = this.app;
    const context = this.#context;
    if (canvas.width !== map.width || canvas.height !== map.height) {
      canvas.width = map.width;
      canvas.height = map.height;
    }
    const ratio = canvas.width / view.width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    context.lineCap = context.lineJoin = "round";
    const now = performance.now();
    this.#flashes = this.#flashes.filter((flash) => flash.model === model && now - flash.begin < FLASH_MILLIS);
    if (model) {
      if (!isOblique) {
        this.#flashes.forEach((flash) => this.#drawFlash(flash, view, ratio));
      }
      this.#drawAgents(others.all, model, view, ["agent-rim", "agent"]);
      this.#drawAgents([...agents.all.values()], model, view, ["agent", "agent-rim"]);
    }
  }

  // Without motion, it is there and then it is not.
  #drawFlash({ begin, outline }, view, ratio) {
    const context = this.#context;
    const { left, top, right, bottom } = outline.bounds;
    const share = still.matches ? 0.5 : 1 - (performance.now() - begin) / FLASH_MILLIS;
    context.save();
    view.applyTo(context, ratio);
    context.globalAlpha = share * 0.6;
    fill(context, colorOf("flash"), outline.fill);
    context.globalAlpha = share;
    stroke(context, colorOf("flash"), 2 / view.scale, outline.rim);
    context.restore();
    if (Math.max(right - left, bottom - top) * view.scale < 2 * LEAST_RADIUS) {
      context.globalAlpha = share;
      const ring = discAt(...view.toScreen((left + right) / 2, (top + bottom) / 2), LEAST_RADIUS);
      stroke(context, colorOf("flash"), 2, ring);
      context.globalAlpha = 1;
    }
  }

  // Blocked ones are crossed out. At heights of a mesh that are not shown, agents are faint.
  #drawAgents(agents, model, view, inks) {
    const context = this.#context;
    const [plain, rim, blocked, line] = [...inks, "bad", "agent-way"].map(colorOf);
    const radius = Math.min(Math.max(view.scale * 0.3, 6), 9);
    const placeOf = ({ at }) => view.toScreen(...(model.isMesh ? model.lattice.center(...at) : at));
    context.globalAlpha = 0.5;
    for (const { way } of agents) {
      const end = way.findIndex(({ isJump }) => isJump);
      stroke(context, line, 1.5, lineThrough(way.slice(0, end < 0 ? way.length : end).map(placeOf)), [2, 4]);
    }
    for (const { way: [here], isBlocked } of agents) {
      const [x, y] = placeOf(here);
      const disc = discAt(x, y, radius);
      context.globalAlpha = !model.isMesh || model.shows([{ z: here.at[2] }]) ? 1 : 0.35;
      fill(context, isBlocked ? blocked : plain, disc);
      stroke(context, rim, 1.5, disc);
      if (isBlocked) {
        stroke(context, colorOf("path-edge"), 2, crossAt(x, y, radius * 0.45));
      }
    }
    context.globalAlpha = 1;
  }
}
