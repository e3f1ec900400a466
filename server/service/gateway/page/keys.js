// The keyboard.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const FAR = 10;

// `actions` has a function for each of the names below; move(dx, dy) for arrows.
const KEYS = {
  s: "start",
  g: "goal",
  b: "block",
  u: "unblock",
  p: "path",
  w: "wall",
  l: "lift",
  t: "terrain",
  z: "undo",
  " ": "play",
  ",": "stepBack",
  ".": "stepForward",
  "+": "zoomIn",
  "=": "zoomIn",
  "-": "zoomOut",
  0: "fit",
  "?": "help",
  Escape: "clear",
};

export function listenToKeys(actions) {
  addEventListener("keydown", (event) => {
    const { target, key } = event;
    const isTyping = target.closest?.("input, select, textarea, dialog");
    const isPressing = target.closest?.("button, a") && (key === " " || key === "Enter");
    const isUndo = (event.ctrlKey || event.metaKey) && key === "z";
    if (isTyping || isPressing || event.altKey || ((event.ctrlKey || event.metaKey) && !isUndo)) {
      return;
    }
    if (ARROWS[key]) {
      if (target.closest?.("[role=radiogroup]")) {
        return;
      }
      const by = event.shiftKey ? FAR : 1;
      actions.move(ARROWS[key][0] * by, ARROWS[key][1] * by);
    } else {
      const name = KEYS[key.length === 1 ? key.toLowerCase() : key];
      if (!name) {
        return;
      }
      actions[name]();
    }
    event.preventDefault();
  });
}

// Arrow keys go from one radio button of a group to the next.
export function listenToGroup(group, choose) {
  group.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const buttons = [...group.querySelectorAll("button:not(:disabled)")];
    const at = buttons.indexOf(event.target);
    if (by && at >= 0) {
      const next = buttons[(at + by + buttons.length) % buttons.length];
      next.focus();
      choose(next);
      event.preventDefault();
    }
  });
}
