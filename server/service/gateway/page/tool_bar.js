// The buttons that choose a tool, and what it paints with.

const element = (id) => document.getElementById(id);
const choices = [...document.querySelectorAll("[data-tool]")];

export class ToolBar {
  constructor(tools) {
    this.tools = tools;
    choices.forEach((choice) => choice.addEventListener("change", () => this.choose(choice.dataset.tool)));
  }

  // Nothing happens if the map has no use for the tool.
  choose(tool) {
    const choice = choices.find((each) => each.dataset.tool === tool);
    if (choice.disabled) {
      return;
    }
    choice.checked = true;
    this.tools.tool = tool;
    element("terrain-choice").hidden = tool !== "terrain";
    element("brush-choice").hidden = !this.tools.isPainting;
    this.tools.app.drawing.renew();
  }

  // What can be done with a map.
  offer({ cells, terrains = [], isLaidOut, isGraph }) {
    const options = [...terrains].map(([symbol, { name }]) => new Option(name, String(symbol)));
    element("terrain").replaceChildren(...options);
    this.tools.terrain = Number(element("terrain").value);
    const isUnfit = { wall: !cells, lift: !cells, terrain: options.length < 2, obstacle: isLaidOut, portal: isGraph };
    choices.forEach((choice) => (choice.disabled = Boolean(isUnfit[choice.dataset.tool])));
    if (isUnfit[this.tools.tool]) {
      this.choose("path");
    }
  }
}
