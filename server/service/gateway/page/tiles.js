// A picture of a plane of bytes, a colour for each value: bitmaps of 256 x 256 pixels, made when they come into
// sight and kept for a while. Seen from afar, a pixel stands for 2 x 2 cells, or 4 x 4, and so on.

const SIDE = 256;
const MAX_TILES = 160;
// A tile of it shows the largest map at once.
const MAX_LEVEL = 5;

export class TileLayer {
  // `colors` has a pixel for each byte, as ImageData holds them.
  constructor(width, height, values, colors) {
    this.width = width;
    this.height = height;
    this.values = values;
    this.colors = colors;
    this.tiles = new Map();
  }

  invalidate(x, y) {
    for (let level = 0; level <= MAX_LEVEL; ++level) {
      const side = SIDE << level;
      const tile = this.tiles.get(`${level}/${Math.floor(x / side)}/${Math.floor(y / side)}`);
      if (tile) {
        tile.isStale = true;
      }
    }
  }

  // `part` is what can be seen, in cells; the context's units are cells.
  draw(context, part, pixelsPerCell) {
    const level = Math.min(Math.max(0, Math.floor(Math.log2(1 / pixelsPerCell))), MAX_LEVEL);
    const side = SIDE << level;
    const first = { x: Math.max(0, Math.floor(part.left / side)), y: Math.max(0, Math.floor(part.top / side)) };
    const last = {
      x: Math.min(Math.ceil(this.width / side) - 1, Math.floor(part.right / side)),
      y: Math.min(Math.ceil(this.height / side) - 1, Math.floor(part.bottom / side)),
    };
    for (let y = first.y; y <= last.y; ++y) {
      for (let x = first.x; x <= last.x; ++x) {
        context.drawImage(this.#tile(level, x, y), x * side, y * side, side, side);
      }
    }
  }

  #tile(level, x, y) {
    const key = `${level}/${x}/${y}`;
    let tile = this.tiles.get(key);
    this.tiles.delete(key);
    if (!tile) {
      tile = { canvas: new OffscreenCanvas(SIDE, SIDE), isStale: true };
    }
    // The map remembers in which order they were used.
    this.tiles.set(key, tile);
    if (this.tiles.size > MAX_TILES) {
      this.tiles.delete(this.tiles.keys().next().value);
    }
    if (tile.isStale) {
      this.#paint(tile.canvas, level, x * (SIDE << level), y * (SIDE << level));
      tile.isStale = false;
    }
    return tile.canvas;
  }

  #paint(canvas, level, left, top) {
    const image = new ImageData(SIDE, SIDE);
    const pixels = new Uint32Array(image.data.buffer);
    const stride = 1 << level;
    const columns = Math.min(SIDE, Math.ceil((this.width - left) / stride));
    const rows = Math.min(SIDE, Math.ceil((this.height - top) / stride));
    for (let row = 0; row < rows; ++row) {
      const line = (top + row * stride) * this.width + left;
      for (let column = 0; column < columns; ++column) {
        pixels[row * SIDE + column] =
          level === 0
            ? this.colors[this.values[line + column]]
            : this.#blend(left + column * stride, top + row * stride, stride);
      }
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  // The mean of four cells of a square.
  #blend(x, y, stride) {
    const right = Math.min(x + stride / 2, this.width - 1);
    const below = Math.min(y + stride / 2, this.height - 1);
    let even = 0;
    let odd = 0;
    for (const index of [y * this.width + x, y * this.width + right, below * this.width + x, below * this.width + right]) {
      const color = this.colors[this.values[index]];
      even += color & 0x00ff00ff;
      odd += (color >>> 8) & 0x00ff00ff;
    }
    return (((even >>> 2) & 0x00ff00ff) | (((odd >>> 2) & 0x00ff00ff) << 8)) >>> 0;
  }
}
