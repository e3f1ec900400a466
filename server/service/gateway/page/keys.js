// The keyboard.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const FAR = 10;

// `actions` has functions by key, with small letters; `move(dx, dy)` is for arrows.
export function listenToKeys(actions, move) {
  addEventListener("keydown", (event) => {
    const { target, key } = event;
    const isTyping = target.closest?.("input, select, textarea, dialog, [popover]");
    const isPressing = target.closest?.("button, a") && (key === " " || key === "Enter");
    const isUndo = (event.ctrlKey || event.metaKey) && key.toLowerCase() === "z";
    if (isTyping || isPressing || event.altKey || ((event.ctrlKey || event.metaKey) && !isUndo)) {
      return;
    }
    if (ARROWS[key]) {
      if (target.closest?.("[role=radiogroup], [role=tablist]")) {
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
