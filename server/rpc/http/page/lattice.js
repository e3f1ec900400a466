// Where cells lie. The unit is the distance between the centres of neighbours; y grows down.

const ROOT3 = Math.sqrt(3);

export class SquareLattice {
  constructor(grid) {
    this.width = grid.width;
    this.height = grid.height;
    this.isFour = grid.squares?.connectivity === "CONNECTIVITY_FOUR";
    this.isHex = false;
    this.bounds = { left: 0, top: 0, right: this.width, bottom: this.height };
    // From cells to places.
    this.matrix = [1, 0, 0, 1, 0, 0];
  }

  center(x, y) {
    return [x + 0.5, y + 0.5];
  }

  cellAt(px, py) {
    return { x: Math.floor(px), y: Math.floor(py) };
  }

  holds({ x, y }) {
    return x >= 0 && y >= 0 && x < this.width && y < this.height;
  }

  // Of a straight run or a line.
  steps(a, b) {
    const dx = Math.abs(a.x - b.x);
    const dy = Math.abs(a.y - b.y);
    return this.isFour ? dx + dy : Math.max(dx, dy);
  }

  move({ x, y }, dx, dy) {
    return { x: x + dx, y: y + dy };
  }

  label({ x, y }) {
    return `${x}, ${y}`;
  }
}

// The plane of axial coordinates, and the board on it.
export class HexLattice {
  constructor(grid) {
    const info = grid.hexagons;
    this.width = grid.width;
    this.height = grid.height;
    this.isFour = false;
    this.isHex = true;
    this.layout = info.layout.replace("HEX_LAYOUT_", "");
    this.isBoard = !this.layout.startsWith("AXIAL");
    this.isFlat = this.layout.endsWith("COLUMNS") || this.layout === "AXIAL_FLAT";
    this.columns = this.isBoard ? info.columns : this.width;
    this.rows = this.isBoard ? info.rows : this.height;
    this.zero = { x: info.zero?.x ?? 0, y: info.zero?.y ?? 0 };
    this.matrix = this.isFlat
      ? [ROOT3 / 2, 0.5, 0, 1, -ROOT3 / 4, -0.75]
      : [1, 0, 0.5, ROOT3 / 2, -0.75, -ROOT3 / 4];
    this.corners = Array.from({ length: 6 }, (_, i) => {
      const angle = ((this.isFlat ? 0 : 30) + 60 * i) * (Math.PI / 180);
      return [Math.cos(angle) / ROOT3, Math.sin(angle) / ROOT3];
    });
    this.bounds = this.#findBounds();
  }

  center(x, y) {
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
    return { x: rx, y: ry };
  }

  holds(cell) {
    const { column, row } = this.toBoard(cell);
    return column >= 0 && row >= 0 && column < this.columns && row < this.rows;
  }

  steps(a, b) {
    const dx = a.x - b.x;
    const dy = a.y - b.y;
    return Math.max(Math.abs(dx), Math.abs(dy), Math.abs(dx + dy));
  }

  // Keys go up, down and along rows as the eye does.
  move(cell, dx, dy) {
    const { column, row } = this.toBoard(cell);
    return this.isBoard ? this.toPlane(column + dx, row + dy) : { x: cell.x + dx, y: cell.y + dy };
  }

  label(cell) {
    const { column, row } = this.toBoard(cell);
    return this.isBoard ? `${column}, ${row}` : `${cell.x}, ${cell.y}`;
  }

  toBoard(cell) {
    const q = cell.x - this.zero.x;
    const r = cell.y - this.zero.y;
    switch (this.layout) {
      case "ODD_ROWS":
        return { column: q + (r - (r & 1)) / 2, row: r };
      case "EVEN_ROWS":
        return { column: q + (r + (r & 1)) / 2, row: r };
      case "ODD_COLUMNS":
        return { column: q, row: r + (q - (q & 1)) / 2 };
      case "EVEN_COLUMNS":
        return { column: q, row: r + (q + (q & 1)) / 2 };
      default:
        return { column: cell.x, row: cell.y };
    }
  }

  toPlane(column, row) {
    let q = column;
    let r = row;
    switch (this.layout) {
      case "ODD_ROWS":
        q -= (row - (row & 1)) / 2;
        break;
      case "EVEN_ROWS":
        q -= (row + (row & 1)) / 2;
        break;
      case "ODD_COLUMNS":
        r -= (column - (column & 1)) / 2;
        break;
      case "EVEN_COLUMNS":
        r -= (column + (column & 1)) / 2;
        break;
      default:
        return { x: column, y: row };
    }
    return { x: q + this.zero.x, y: r + this.zero.y };
  }

  #findBounds() {
    const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    const add = (column, row) => {
      const { x, y } = this.toPlane(column, row);
      const [px, py] = this.center(x, y);
      for (const [dx, dy] of this.corners) {
        bounds.left = Math.min(bounds.left, px + dx);
        bounds.right = Math.max(bounds.right, px + dx);
        bounds.top = Math.min(bounds.top, py + dy);
        bounds.bottom = Math.max(bounds.bottom, py + dy);
      }
    };
    for (let column = 0; column < this.columns; ++column) {
      add(column, 0);
      add(column, this.rows - 1);
    }
    for (let row = 0; row < this.rows; ++row) {
      add(0, row);
      add(this.columns - 1, row);
    }
    return bounds;
  }
}

export function latticeOf(grid) {
  return grid.hexagons ? new HexLattice(grid) : new SquareLattice(grid);
}
