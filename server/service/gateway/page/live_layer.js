// What moves above the map: agents.

import { crossAt, discAt, fill, lineThrough, stroke } from "./pen.js";
import { colorOf } from "./theme.js";

const map = document.getElementById("map");
const canvas = document.getElementById("live");

export class LiveLayer {
  #context = canvas.getContext("2d");
  #isAwake = false;

  // `app` is the page's state, see app.js.
  constructor(app) {
    this.app = app;
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
      if (model && agents.all.size > 0) {
        this.wake();
      }
    });
  }

  draw() {
    const { model, view, agents } = this.app;
    const context = this.#context;
    if (canvas.width !== map.width || canvas.height !== map.height) {
      canvas.width = map.width;
      canvas.height = map.height;
    }
    const ratio = canvas.width / view.width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    context.lineCap = context.lineJoin = "round";
    if (model) {
      this.#drawAgents([...agents.all.values()], model, view);
    }
  }

  // Blocked ones are crossed out. At heights of a mesh that are not shown, agents are faint.
  #drawAgents(agents, model, view) {
    const context = this.#context;
    const [plain, blocked, rim, line] = ["agent", "bad", "agent-rim", "agent-way"].map(colorOf);
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
