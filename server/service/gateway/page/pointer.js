// Fingers, pens and mice: taps and drags with one of them, pan and zoom with two, with the wheel, or with another button
// than the first.

export class Pointer {
  // `handler` has grab(px, py, event) which says whether a drag is its own (else the map is panned), drag(px, py),
  // drop(isCancelled), tap(px, py, event), hover(px, py), leave(), and pan(dx, dy), zoom(factor, px, py).
  constructor(canvas, handler) {
    this.canvas = canvas;
    this.handler = handler;
    this.down = new Map();
    this.mode = "idle";
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#release(event, false));
    canvas.addEventListener("pointercancel", (event) => this.#release(event, true));
    canvas.addEventListener("pointerleave", () => handler.leave());
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  #place(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  #press(event) {
    const place = this.#place(event);
    this.canvas.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, place);
    if (this.down.size === 2) {
      if (this.mode === "drag") {
        this.handler.drop(true);
      }
      this.mode = "pinch";
    } else if (this.down.size === 1) {
      this.origin = place;
      this.isTap = event.button === 0;
      const isGrabbed = event.button === 0 && this.handler.grab(...place, event);
      this.mode = isGrabbed ? "drag" : "pan";
    }
  }

  #move(event) {
    const place = this.#place(event);
    const before = this.down.get(event.pointerId);
    if (!before) {
      this.handler.hover(...place);
      return;
    }
    if (Math.hypot(place[0] - this.origin[0], place[1] - this.origin[1]) > (event.pointerType === "touch" ? 10 : 4)) {
      this.isTap = false;
    }
    if (this.mode === "pinch") {
      this.#pinch(event.pointerId, before, place);
    } else if (this.mode === "drag") {
      this.handler.drag(...place);
    } else if (this.mode === "pan" && !this.isTap) {
      this.handler.pan(place[0] - before[0], place[1] - before[1]);
    }
    if (this.mode !== "pan" || !this.isTap) {
      this.down.set(event.pointerId, place);
    }
  }

  #pinch(id, before, place) {
    const other = [...this.down].find(([each]) => each !== id)[1];
    const apart = (a) => Math.max(Math.hypot(a[0] - other[0], a[1] - other[1]), 1);
    const middle = (a) => [(a[0] + other[0]) / 2, (a[1] + other[1]) / 2];
    const [x, y] = middle(place);
    const [oldX, oldY] = middle(before);
    this.handler.pan(x - oldX, y - oldY);
    this.handler.zoom(apart(place) / apart(before), x, y);
  }

  #release(event, isCancelled) {
    if (!this.down.delete(event.pointerId)) {
      return;
    }
    if (this.mode === "drag") {
      this.handler.drop(isCancelled);
    }
    if (this.isTap && !isCancelled && (this.mode === "pan" || this.mode === "drag")) {
      this.handler.tap(...this.#place(event), event);
    }
    this.mode = this.down.size > 0 ? "pinched" : "idle";
  }

  #wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
    this.handler.zoom(Math.exp(-event.deltaY * lines * 0.0016), ...this.#place(event));
  }
}
