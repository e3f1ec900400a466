// Where cells lie. The unit is the distance between the centres of neighbours; y grows down.

const ROOT3 = Math.sqrt(3);

// The bounds of points, each [x, y] or [x, y, reach].
export function boundsOf(points) {
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const [x, y, reach = 0] of points) {
    bounds.left = Math.min(bounds.left, x - reach);
    bounds.right = Math.max(bounds.right, x + reach);
    bounds.top = Math.min(bounds.top, y - reach);
    bounds.bottom = Math.max(bounds.bottom, y + reach);
  }
  return bounds;
}

// The longer side of the picture of a map without cells, in the units of the view.
const SIDE = 60;

// Of a map without cells, between two corners.
export class WorldLattice {
  constructor(low, high) {
    this.low = low;
    this.high = high;
    this.size = Math.max(high.x - low.x, high.y - low.y) || 1;
    this.unit = SIDE / this.size;
    this.lookFrom(1, 0);
  }

  // How long a unit of y and one of height are, for one of x.
  lookFrom(depth, rise) {
    this.depth = depth;
    this.rise = rise;
    const [right, bottom] = this.center(this.high.x, this.high.y, this.low.z);
    const top = this.center(this.low.x, this.low.y, this.high.z)[1];
    this.bounds = { left: -2, top: top - 2, right: right + 2, bottom: bottom + 2 };
  }

  center(x, y, z = this.low.z) {
    const { low, unit, depth, rise } = this;
    return [(x - low.x) * unit, ((y - low.y) * depth - (z - low.z) * rise) * unit];
  }

  middleOf({ x, y, z }) {
    return this.center(x, y, z);
  }

  steps() {
    return 1;
  }

  // It has no height yet.
  pointAt(px, py) {
    const { low, unit, depth } = this;
    return { x: this.round(px / unit + low.x), y: this.round(py / unit / depth + low.y) };
  }

  // The label of such a coordinate is short, and the step is still smaller than a pixel.
  round(value) {
    const digits = Math.min(Math.max(Math.ceil(Math.log10(5000 / this.size)), 0), 7);
    return Number(value.toFixed(digits)) + 0;
  }
}

// Its lattices also have middleOf(cell, footprint), where an agent that covers some cells to each side has its
// middle, and steps(from, to), the count of those of a straight run or a line.
class CellLattice {
  constructor({ width, height }) {
    this.width = width;
    this.height = height;
  }

  center(x, y) {
    return this.middleOf({ x, y });
  }

  // The place for a corner of a shape.
  pointAt(px, py) {
    return this.cellAt(px, py);
  }

  holds({ x, y }) {
    return x >= 0 && y >= 0 && x < this.width && y < this.height;
  }

  // Keys go up, down and along rows as the eye does.
  move({ x, y }, dx, dy) {
    return { x: x + dx, y: y + dy };
  }

  label({ x, y }) {
    return `${x}, ${y}`;
  }

  // The cells of the map that may lie in such bounds: columns from left to right and rows from top to bottom.
  rangeOf({ left, top, right, bottom }) {
    const corners = [[left, top], [right, top], [left, bottom], [right, bottom]].map(([x, y]) => this.cellAt(x, y));
    const range = boundsOf(corners.map(({ x, y }) => [x, y, 1]));
    return {
      left: Math.max(range.left, 0),
      top: Math.max(range.top, 0),
      right: Math.min(range.right, this.width - 1),
      bottom: Math.min(range.bottom, this.height - 1),
    };
  }
}

class SquareLattice extends CellLattice {
  constructor(grid) {
    super(grid);
    this.isFour = grid.squares?.connectivity === "CONNECTIVITY_FOUR";
    this.bounds = { left: 0, top: 0, right: this.width, bottom: this.height };
    // From cells to places.
    this.matrix = [1, 0, 0, 1, 0, 0];
    // The corners of a cell lie so around its centre.
    this.corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]];
  }

  middleOf({ x, y }, footprint = 1) {
    return [x + footprint / 2, y + footprint / 2];
  }

  // Where a step leads by which x and y grow so much, axial ones on hexagons.
  stepOf(x, y) {
    return [x, y];
  }

  cellAt(px, py) {
    return { x: Math.floor(px), y: Math.floor(py) };
  }

  steps(a, b) {
    const dx = Math.abs(a.x - b.x);
    const dy = Math.abs(a.y - b.y);
    return this.isFour ? dx + dy : Math.max(dx, dy);
  }
}

// Cells are counted as the server does: by columns and rows on a board, else by axial coordinates.
class HexLattice extends CellLattice {
  constructor(grid) {
    super(grid);
    this.isHex = true;
    this.layout = grid.hexagons.layout.replace("HEX_LAYOUT_", "");
    this.isBoard = !this.layout.startsWith("AXIAL");
    this.isFlat = this.layout.endsWith("COLUMNS") || this.layout === "AXIAL_FLAT";
    // From cells to places. From afar, where cells are pixels, no line of a board is shifted.
    const slant = this.isBoard ? 0 : 0.5;
    this.matrix = this.isFlat
      ? [ROOT3 / 2, slant, 0, 1, -ROOT3 / 4, -0.5 - slant / 2]
      : [1, 0, slant, ROOT3 / 2, -0.5 - slant / 2, -ROOT3 / 4];
    this.corners = Array.from({ length: 6 }, (_, i) => {
      const angle = ((this.isFlat ? 0 : 30) + 60 * i) * (Math.PI / 180);
      return [Math.cos(angle) / ROOT3, Math.sin(angle) / ROOT3];
    });
    this.bounds = this.#findBounds();
  }

  // A point between cells counts in the row nearest to it, or the column.
  middleOf(cell, footprint = 1) {
    const axial = this.toAxial(cell);
    const reach = (footprint - 1) / 2;
    return this.stepOf(axial.x + reach, axial.y + reach);
  }

  stepOf(x, y) {
    return this.isFlat ? [(x * ROOT3) / 2, y + x / 2] : [x + y / 2, (y * ROOT3) / 2];
  }

  cellAt(px, py) {
    const x = this.isFlat ? (px * 2) / ROOT3 : px - py / ROOT3;
    const y = this.isFlat ? py - px / ROOT3 : (py * 2) / ROOT3;
    const z = -x - y;
    let rx = Math.round(x);
    let ry = Math.round(y);
    const rz = Math.round(z);
    const [dx, dy, dz] = [Math.abs(rx - x), Math.abs(ry - y), Math.abs(rz - z)];
    if (dx > dy && dx > dz) {
      rx = -ry - rz;
    } else if (dy > dz) {
      ry = -rx - rz;
    }
    return this.isFlat ? { x: rx, y: ry + this.#shiftOf(rx) } : { x: rx + this.#shiftOf(ry), y: ry };
  }

  steps(a, b) {
    const from = this.toAxial(a);
    const to = this.toAxial(b);
    const dx = from.x - to.x;
    const dy = from.y - to.y;
    return Math.max(Math.abs(dx), Math.abs(dy), Math.abs(dx + dy));
  }

  // Counted from column 0 of row 0.
  toAxial({ x, y }) {
    return this.isFlat
      ? { x, y: y - this.#shiftOf(Math.floor(x + 0.5)) }
      : { x: x - this.#shiftOf(Math.floor(y + 0.5)), y };
  }

  // By how much a row, or a column, of a board is shifted against axial coordinates.
  #shiftOf(line) {
    const first = this.layout.startsWith("EVEN") ? 1 : 0;
    return this.isBoard ? Math.floor((line + first) / 2) : 0;
  }

  #findBounds() {
    const columns = Array.from({ length: this.width }, (_, x) => x);
    const rows = Array.from({ length: this.height }, (_, y) => y);
    const rims = [
      ...columns.flatMap((x) => [this.center(x, 0), this.center(x, this.height - 1)]),
      ...rows.flatMap((y) => [this.center(0, y), this.center(this.width - 1, y)]),
    ];
    return boundsOf(rims.flatMap(([px, py]) => this.corners.map(([dx, dy]) => [px + dx, py + dy])));
  }
}

export function latticeOf(grid) {
  return grid.hexagons ? new HexLattice(grid) : new SquareLattice(grid);
}
