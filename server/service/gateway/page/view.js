// Which part of the map the canvas shows.

const MAX_SCALE = 96;
const MARGIN = 20;

export class View {
  // Pixels of the page for a unit of the map, and the place of the map at the canvas's corner.
  scale = 1;
  left = 0;
  top = 0;
  width = 1;
  height = 1;
  bounds = { left: 0, top: 0, right: 1, bottom: 1 };
  isFitted = true;

  resize(width, height) {
    const [x, y] = this.toMap(this.width / 2, this.height / 2);
    this.width = width;
    this.height = height;
    if (this.isFitted) {
      this.fit();
    } else {
      this.left = x - width / 2 / this.scale;
      this.top = y - height / 2 / this.scale;
    }
  }

  // Those of another map, or of the same that has grown or shrunk.
  show(bounds, isOther) {
    this.bounds = bounds;
    if (isOther || this.isFitted) {
      this.fit();
    }
  }

  get fittingScale() {
    const { left, top, right, bottom } = this.bounds;
    const across = Math.max(this.width - 2 * MARGIN, 1) / (right - left);
    const down = Math.max(this.height - 2 * MARGIN, 1) / (bottom - top);
    return Math.min(across, down, MAX_SCALE);
  }

  fit() {
    const { left, top, right, bottom } = this.bounds;
    this.scale = this.fittingScale;
    this.left = (left + right) / 2 - this.width / 2 / this.scale;
    this.top = (top + bottom) / 2 - this.height / 2 / this.scale;
    this.isFitted = true;
  }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toMap(px, py);
    const least = Math.min(this.fittingScale * 0.5, MAX_SCALE);
    this.scale = Math.min(Math.max(this.scale * factor, least), MAX_SCALE);
    this.left = x - px / this.scale;
    this.top = y - py / this.scale;
    this.isFitted = false;
    this.#keepInSight();
  }

  pan(dx, dy) {
    this.left -= dx / this.scale;
    this.top -= dy / this.scale;
    this.isFitted = false;
    this.#keepInSight();
  }

  // Moves as little as needed to show a place.
  reveal([x, y]) {
    const [px, py] = this.toScreen(x, y);
    const edge = Math.min(40, this.width / 4, this.height / 4);
    const dx = Math.max(edge - px, 0) + Math.min(this.width - edge - px, 0);
    const dy = Math.max(edge - py, 0) + Math.min(this.height - edge - py, 0);
    if (dx !== 0 || dy !== 0) {
      this.pan(dx, dy);
    }
  }

  toScreen(x, y) {
    return [(x - this.left) * this.scale, (y - this.top) * this.scale];
  }

  toMap(px, py) {
    return [px / this.scale + this.left, py / this.scale + this.top];
  }

  // Has a context draw in the units of the map, or in those that `matrix` leads from. `ratio` is the pixels of the canvas
  // for one of the page.
  applyTo(context, ratio, [a, b, c, d, e, f] = [1, 0, 0, 1, 0, 0]) {
    const scale = this.scale * ratio;
    context.setTransform(a * scale, b * scale, c * scale, d * scale, (e - this.left) * scale, (f - this.top) * scale);
  }

  // The middle of the canvas stays on the map.
  #keepInSight() {
    const { left, top, right, bottom } = this.bounds;
    const halfWidth = this.width / 2 / this.scale;
    const halfHeight = this.height / 2 / this.scale;
    this.left = Math.min(Math.max(this.left, left - halfWidth), right - halfWidth);
    this.top = Math.min(Math.max(this.top, top - halfHeight), bottom - halfHeight);
  }
}
