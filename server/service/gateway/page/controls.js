// Buttons, lists, sliders and keys: what each of them asks the page to do.

import { listenToKeys } from "./keys.js";

const ZOOM_STEP = 1.5;

const element = (id) => document.getElementById(id);

export function listenToControls(app, options) {
  const { playback, toolBar, tools } = app;
  const help = () => element("help").showModal();
  const zoomIn = () => tools.zoom(ZOOM_STEP);
  const zoomOut = () => tools.zoom(1 / ZOOM_STEP);

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
    fit: () => app.fit(),
    play: () => app.play(),
    "step-back": () => app.step(-1),
    "step-forward": () => app.step(1),
    "copy-command": () => app.copy("command"),
    "copy-json": () => app.copy("json"),
    "copy-python": () => app.copy("python"),
    "copy-csharp": () => app.copy("csharp"),
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
  options.forEach((each) => {
    each.addEventListener("change", () => app.changeOptions());
  });
  ["height-low", "height-high", "oblique"].forEach((id) => {
    element(id).addEventListener("change", () => app.changeFloors());
  });
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
    p: () => toolBar.choose("path"),
    w: () => toolBar.choose("wall"),
    l: () => toolBar.choose("lift"),
    t: () => toolBar.choose("terrain"),
    o: () => toolBar.choose("obstacle"),
    r: () => toolBar.choose("portal"),
    Enter: () => app.pressAtCursor(),
    Delete: () => app.drawing.remove(),
    z: ({ shiftKey }) => (shiftKey ? presses.redo() : presses.undo()),
    " ": presses.play,
    ",": presses["step-back"],
    ".": presses["step-forward"],
    "+": zoomIn,
    "=": zoomIn,
    "-": zoomOut,
    0: presses.fit,
    "?": help,
    Escape: () => (app.drawing.kind ? app.drawing.forget() : app.clear()),
  };
  listenToKeys(keys, (dx, dy) => app.moveCursor(dx, dy));
}
