// The buttons that choose a tool, and what it paints with.

import { listenToGroup } from "./keys.js";

const element = (id) => document.getElementById(id);
const buttons = [...document.querySelectorAll("[data-tool]")];

export class ToolBar {
  constructor(tools) {
    this.tools = tools;
    buttons.forEach((button) => button.addEventListener("click", () => this.choose(button.dataset.tool)));
    listenToGroup(document.querySelector("[role=radiogroup]"), (button) => this.choose(button.dataset.tool));
  }

  // Nothing happens if the map has no use for the tool.
  choose(tool) {
    const chosen = buttons.find((button) => button.dataset.tool === tool);
    if (chosen.disabled || chosen.hidden) {
      return;
    }
    this.tools.tool = tool;
    buttons.forEach((button) => {
      button.setAttribute("aria-checked", String(button === chosen));
      button.tabIndex = button === chosen ? 0 : -1;
    });
    element("terrain-choice").hidden = tool !== "terrain";
    element("brush-choice").hidden = !this.tools.isPainting;
    this.tools.app.drawing.renew();
  }

  // What can be done with a map.
  offer(model) {
    const terrains = [...(model.terrains ?? [])];
    const choice = element("terrain");
    choice.replaceChildren(...terrains.map(([symbol, terrain]) => new Option(terrain.name, String(symbol))));
    this.tools.terrain = Number(choice.value);
    for (const button of buttons) {
      const { tool } = button.dataset;
      const isUnfit = { wall: !model.cells, lift: !model.cells, obstacle: model.isLaidOut, portal: model.isGraph };
      button.disabled = Boolean(isUnfit[tool]);
      button.hidden = tool === "terrain" && terrains.length < 2;
    }
    if (!buttons.some((button) => button.dataset.tool === this.tools.tool && !button.disabled && !button.hidden)) {
      this.choose("path");
    }
  }
}
