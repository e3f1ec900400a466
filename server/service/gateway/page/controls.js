// Buttons, lists, sliders and keys: what each of them asks the page to do.

import { FORMS } from "./copy_as.js";
import { element } from "./panel.js";

const ZOOM_STEP = 1.5;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const FAR = 10;
const TOOLS = { p: "path", w: "wall", l: "lift", t: "terrain", o: "obstacle", r: "portal" };

export function listenToControls(app, options) {
  const { playback, tools } = app;
  const help = () => element("help").showModal();
  const zoomIn = () => tools.zoom(ZOOM_STEP);
  const zoomOut = () => tools.zoom(1 / ZOOM_STEP);
  const step = (by) => () => app.withSearch(() => playback.step(by));
  const fit = () => {
    app.view.fit();
    app.redraw();
  };

  const presses = {
    "help-button": help,
    undo: () => app.editor.undo(),
    redo: () => app.editor.redo(),
    "save-png": () => app.save("PNG"),
    "save-svg": () => app.save("SVG"),
    "save-image": () => app.save("image"),
    clear: () => app.clear(),
    "zoom-in": zoomIn,
    "zoom-out": zoomOut,
    fit,
    play: () => app.withSearch(() => playback.toggle()),
    "step-back": step(-1),
    "step-forward": step(1),
    ...Object.fromEntries(Object.keys(FORMS).map((form) => [`copy-${form}`, () => app.copy(form)])),
    "add-agents": () => app.agents.addSome(Number(element("agent-count").value)),
    "remove-agents": () => app.agents.clear(),
  };
  Object.entries(presses).forEach(([id, action]) => element(id).addEventListener("click", action));

  const changes = {
    terrain: (value) => (tools.terrain = Number(value)),
    brush: (value) => (tools.brush = Number(value)),
    speed: (value) => (playback.speed = Number(value)),
  };
  Object.entries(changes).forEach(([id, action]) => {
    element(id).addEventListener("change", (event) => action(event.target.value));
  });
  options.forEach((each) => each.addEventListener("change", () => app.changeOptions()));
  element("avoid").addEventListener("change", () => {
    app.takeAvoided();
    app.changeOptions();
  });
  ["height-low", "height-high", "oblique"].forEach((id) => {
    element(id).addEventListener("change", () => app.changeFloors());
  });
  element("show-others").addEventListener("change", ({ target }) => app.others.show(target.checked));
  element("moment").addEventListener("input", (event) => {
    const moment = Number(event.target.value);
    playback.pause();
    playback.seek(moment);
  });

  // What follows "#" in the address names a map.
  element("skip").addEventListener("click", (event) => {
    event.preventDefault();
    element("map").focus();
  });
  addEventListener("hashchange", () => app.followAddress());
  document.addEventListener("visibilitychange", () => app.seen());

  const keys = {
    s: () => app.atCursor((cell) => app.setEnd("start", cell)),
    g: () => app.atCursor((cell) => app.setEnd("goal", cell)),
    a: () => app.atCursor((cell) => app.agents.add(cell)),
    b: () => app.paintAtCursor("wall"),
    u: () => app.paintAtCursor("lift"),
    m: () => app.atCursor((cell) => tools.mark(cell)),
    x: () => app.atCursor((cell) => tools.block(cell, cell)),
    ...Object.fromEntries(Object.entries(TOOLS).map(([key, tool]) => [key, () => tools.choose(tool)])),
    Enter: () => app.pressAtCursor(),
    Delete: () => app.drawing.remove(),
    z: ({ shiftKey }) => (shiftKey ? presses.redo() : presses.undo()),
    " ": presses.play,
    ",": presses["step-back"],
    ".": presses["step-forward"],
    "+": zoomIn,
    "=": zoomIn,
    "-": zoomOut,
    0: fit,
    "?": help,
    Escape: () => (app.drawing.kind ? app.drawing.forget() : app.clear()),
  };
  listenToKeys(keys, (dx, dy) => app.moveCursor(dx, dy));
}

// `actions` has functions by key, with small letters; `move(dx, dy)` is for arrows.
function listenToKeys(actions, move) {
  addEventListener("keydown", (event) => {
    const { target, key } = event;
    const isTyping = target.closest?.("input:not([type=radio]), select, textarea, dialog, [popover]");
    const isPressing = target.closest?.("button, a") && (key === " " || key === "Enter");
    const isUndo = (event.ctrlKey || event.metaKey) && key.toLowerCase() === "z";
    if (isTyping || isPressing || event.altKey || ((event.ctrlKey || event.metaKey) && !isUndo)) {
      return;
    }
    if (ARROWS[key]) {
      if (target.type === "radio") {
        return;
      }
      const by = event.shiftKey ? FAR : 1;
      move(ARROWS[key][0] * by, ARROWS[key][1] * by);
    } else {
      const action = actions[key.length === 1 ? key.toLowerCase() : key];
      if (!action) {
        return;
      }
      action(event);
    }
    event.preventDefault();
  });
}
