// Named obstacles and portals: where they lie on a map, in the units of its lattice.

import { cellOf, pointOf } from "./api.js";
import { boundsOf } from "./lattice.js";
import { addPolygon, polygonOf, trace } from "./pen.js";

// The outline of a larger area is its bounds.
const MAX_CELLS = 10000;

// Each keeps its `source`, as it was listed, and gets the name of an ink, and an `area` with holds(place) and an outline:
// paths to fill and for the rim, and their bounds.
export function placeObstacles(obstacles, { cells, lattice }) {
  return obstacles.map((source) => ({
    id: source.id,
    source,
    area: cells ? new CellArea(source.shape, lattice) : new WorldArea(source.shape, lattice),
    ink: inkOf(source.costFactor, source.costAddition),
  }));
}

// An obstacle without a factor or an addition blocks.
function inkOf(factor, addition) {
  if (factor === undefined && addition === undefined) {
    return "obstacle";
  }
  return factor > 1 || addition > 0 ? "dearer" : "cheaper";
}

// The ends on the map that is shown, and what is written beside each.
export function placePortals(portals, map) {
  return portals.map((source) => {
    const { id, from, to, toMap = map, fromPosition, toPosition, bothWays = false, closed = false } = source;
    const place = (cell, position) => (position ? pointOf(position) : cellOf(cell));
    const isHere = toMap === map;
    return {
      id,
      source,
      text: isHere ? id : `${id}, to ${toMap}`,
      ends: [place(from, fromPosition), ...(isHere ? [place(to, toPosition)] : [])],
      isOneWay: !bothWays,
      isClosed: closed,
    };
  });
}

// The parts of a shape, with points [x, y]: rectangles of cells, polygons, and lines with round ends, as discs are as
// well. A line reaches that far to its sides at least.
function partsOf({ cells = [], rectangles = [], discs = [], polygons = [], lines = [] }, leastReach) {
  const at = (point) => [point?.x ?? 0, point?.y ?? 0];
  return {
    rectangles: [
      ...cells.map((cell) => ({ ...cellOf(cell), width: 1, height: 1 })),
      ...rectangles.map((each) => ({ ...each, ...cellOf(each) })),
    ],
    polygons: polygons.map(({ vertices }) => vertices.map(at)),
    lines: [
      ...discs.map(({ center, radius = 0 }) => ({ a: at(center), b: at(center), reach: radius })),
      ...lines.map(({ start, end, width = 0 }) => ({ a: at(start), b: at(end), reach: Math.max(width / 2, leastReach) })),
    ],
  };
}

function isNearLine(point, lines) {
  return lines.some(({ a, b, reach }) => distanceToLine(point, a, b) <= reach + 1e-9);
}

// An area as it looks that far from where it lies.
export function shifted({ outline: { fill, rim, bounds } }, dx, dy) {
  const moved = (path) => {
    const result = new Path2D();
    result.addPath(path, new DOMMatrix([1, 0, 0, 1, dx, dy]));
    return result;
  };
  const { left, top, right, bottom } = bounds;
  const box = { left: left + dx, top: top + dy, right: right + dx, bottom: bottom + dy };
  return { outline: { fill: moved(fill), rim: moved(rim), bounds: box } };
}

export function boxOf({ left, top, right, bottom }) {
  return polygonOf([[left, top], [right, top], [right, bottom], [left, bottom]]);
}

// The cells that a shape covers on a grid. Of lines, the cells whose centre is near: those that a line only clips may be
// missing.
class CellArea {
  constructor(shape, lattice) {
    const at = (point) => lattice.center(...point);
    const { rectangles, polygons, lines } = partsOf(shape, 0.5);
    this.lattice = lattice;
    this.rectangles = rectangles;
    this.polygons = polygons.map((vertices) => vertices.map(at));
    this.lines = lines.map(({ a, b, reach }) => ({ a: at(a), b: at(b), reach }));
    this.reach = boundsOf([
      ...rectangles.flatMap(({ x, y, width, height }) =>
        [[x, y], [x + width - 1, y + height - 1]].map((corner) => [...at(corner), 0.5]),
      ),
      ...this.polygons.flat(),
      ...this.lines.flatMap(({ a, b, reach }) => [[...a, reach], [...b, reach]]),
    ]);
  }

  holds({ x, y }) {
    const place = this.lattice.center(x, y);
    return (
      this.rectangles.some((each) => x >= each.x && y >= each.y && x < each.x + each.width && y < each.y + each.height) ||
      this.polygons.some((vertices) => isInside(place, vertices)) ||
      isNearLine(place, this.lines)
    );
  }

  get outline() {
    this.known ??= this.#trace();
    return this.known;
  }

  #trace() {
    const { lattice, reach } = this;
    const cells = this.#cells();
    if (!cells) {
      return { fill: boxOf(reach), rim: boxOf(reach), bounds: reach };
    }
    const [fill, rim] = [new Path2D(), new Path2D()];
    const keyOf = ({ x, y }) => `${x},${y}`;
    const keys = new Set(cells.map(keyOf));
    const corners = [];
    for (const cell of cells) {
      const [x, y] = lattice.center(cell.x, cell.y);
      const own = lattice.corners.map(([dx, dy]) => [x + dx, y + dy]);
      addPolygon(fill, own);
      own.forEach(([ax, ay], i) => {
        const [bx, by] = own[(i + 1) % own.length];
        // The neighbour lies beyond the middle of that side.
        if (!keys.has(keyOf(lattice.cellAt(ax + bx - x, ay + by - y)))) {
          trace(rim, [[ax, ay], [bx, by]]);
        }
      });
      corners.push(...own);
    }
    return { fill, rim, bounds: boundsOf(corners) };
  }

  // Null if they are too many.
  #cells() {
    const { left, top, right, bottom } = this.lattice.rangeOf(this.reach);
    if ((right - left + 1) * (bottom - top + 1) > MAX_CELLS) {
      return null;
    }
    const cells = [];
    for (let y = top; y <= bottom; ++y) {
      for (let x = left; x <= right; ++x) {
        if (this.holds({ x, y })) {
          cells.push({ x, y });
        }
      }
    }
    return cells;
  }
}

// The area of a shape on a waypoint graph or a mesh: there, cell (x, y) is the square to (x + 1, y + 1).
export class WorldArea {
  constructor(shape, lattice) {
    const { rectangles, polygons, lines } = partsOf(shape, 0);
    const corners = ({ x, y, width, height }) => [[x, y], [x + width, y], [x + width, y + height], [x, y + height]];
    this.polygons = [...rectangles.map(corners), ...polygons];
    this.lines = lines;
    this.lattice = lattice;
  }

  // Edges included.
  holds({ x, y }) {
    const sides = this.polygons.flatMap((polygon) =>
      polygon.map((a, i) => ({ a, b: polygon[(i + 1) % polygon.length], reach: 0 })),
    );
    return this.polygons.some((polygon) => isInside([x, y], polygon)) || isNearLine([x, y], [...sides, ...this.lines]);
  }

  get outline() {
    const fill = new Path2D();
    const at = (point) => this.lattice.center(...point);
    const points = this.polygons.flat().map(at);
    this.polygons.forEach((polygon) => addPolygon(fill, polygon.map(at)));
    for (const { a, b, reach } of this.lines) {
      const [[ax, ay], [bx, by], radius] = [at(a), at(b), reach * this.lattice.unit];
      const angle = Math.atan2(by - ay, bx - ax);
      fill.moveTo(bx + radius * Math.sin(angle), by - radius * Math.cos(angle));
      fill.arc(bx, by, radius, angle - Math.PI / 2, angle + Math.PI / 2);
      fill.arc(ax, ay, radius, angle + Math.PI / 2, angle + 1.5 * Math.PI);
      fill.closePath();
      points.push([ax, ay, radius], [bx, by, radius]);
    }
    return { fill, rim: fill, bounds: boundsOf(points) };
  }
}

function distanceToLine([px, py], [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const share = length === 0 ? 0 : ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length;
  const t = Math.min(Math.max(share, 0), 1);
  return Math.hypot(ax + t * (bx - ax) - px, ay + t * (by - ay) - py);
}

function isInside([px, py], vertices) {
  let inside = false;
  vertices.forEach(([ax, ay], i) => {
    const [bx, by] = vertices[(i + 1) % vertices.length];
    if (ay > py !== by > py && px < ax + ((py - ay) / (by - ay)) * (bx - ax)) {
      inside = !inside;
    }
  });
  return inside;
}
