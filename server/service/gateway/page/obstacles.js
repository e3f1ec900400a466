// Named obstacles and portals: where they lie on a map, in the units of its lattice.

import { cellOf, pointOf } from "./api.js";
import { boundsOf } from "./lattice.js";
import { trace } from "./pen.js";

// The outline of a larger area is its bounds.
const MAX_CELLS = 10000;

// Each gets the name of an ink, and an `area` with holds(place) and an outline: paths to fill and for the rim, and
// their bounds.
export function placeObstacles(obstacles, { cells, lattice }) {
  return obstacles.map(({ id, shape, costFactor, costAddition }) => ({
    id,
    area: cells ? new CellArea(shape, lattice) : new WorldArea(shape, lattice),
    ink: inkOf(costFactor, costAddition),
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
  return portals.map(({ id, from, to, toMap = map, fromPosition, toPosition, bothWays = false, closed = false }) => {
    const place = (cell, position) => (position ? pointOf(position) : cellOf(cell));
    const isHere = toMap === map;
    return {
      text: isHere ? id : `${id}, to ${toMap}`,
      ends: [place(from, fromPosition), ...(isHere ? [place(to, toPosition)] : [])],
      isOneWay: !bothWays,
      isClosed: closed,
    };
  });
}

// The cells that a shape covers on a grid.
class CellArea {
  constructor(shape, lattice) {
    this.shape = shape;
    this.lattice = lattice;
    this.reach = boundsOf(pointsOf(shape, lattice));
  }

  holds(cell) {
    return covers(this.shape, cell, this.lattice);
  }

  get outline() {
    this.known ??= this.#trace();
    return this.known;
  }

  #trace() {
    const { lattice, reach } = this;
    const cells = this.#cells();
    if (!cells) {
      const box = new Path2D();
      box.rect(reach.left, reach.top, reach.right - reach.left, reach.bottom - reach.top);
      return { fill: box, rim: box, bounds: reach };
    }
    const [fill, rim] = [new Path2D(), new Path2D()];
    const keyOf = ({ x, y }) => `${x},${y}`;
    const keys = new Set(cells.map(keyOf));
    const corners = [];
    for (const cell of cells) {
      const [x, y] = lattice.center(cell.x, cell.y);
      const own = lattice.corners.map(([dx, dy]) => [x + dx, y + dy]);
      trace(fill, own);
      fill.closePath();
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
    const square = ({ x, y }, width, height) => [
      { x, y },
      { x: x + width, y },
      { x: x + width, y: y + height },
      { x, y: y + height },
    ];
    const line = (a, b, reach = 0) => ({ a: cellOf(a), b: cellOf(b), reach });
    this.polygons = [
      ...(shape.cells ?? []).map((cell) => square(cellOf(cell), 1, 1)),
      ...(shape.rectangles ?? []).map((each) => square(cellOf(each), each.width, each.height)),
      ...(shape.polygons ?? []).map(({ vertices }) => vertices.map(cellOf)),
    ];
    // With round ends, as discs have as well.
    this.lines = [
      ...(shape.discs ?? []).map(({ center, radius }) => line(center, center, radius)),
      ...(shape.lines ?? []).map(({ start, end, width }) => line(start, end, (width ?? 0) / 2)),
    ];
    this.lattice = lattice;
  }

  // Edges included.
  holds(point) {
    const at = ({ x, y }) => [x, y];
    const isNear = (a, b, reach) => distanceToLine(at(point), at(a), at(b)) <= reach + 1e-9;
    return (
      this.polygons.some((polygon) => isInside(at(point), polygon.map(at))) ||
      this.polygons.some((polygon) => polygon.some((a, i) => isNear(a, polygon[(i + 1) % polygon.length], 0))) ||
      this.lines.some(({ a, b, reach }) => isNear(a, b, reach))
    );
  }

  get outline() {
    const fill = new Path2D();
    const { unit } = this.lattice;
    const at = ({ x, y }) => this.lattice.center(x, y);
    const points = this.polygons.flat().map(at);
    for (const polygon of this.polygons) {
      trace(fill, polygon.map(at));
      fill.closePath();
    }
    for (const { a, b, reach } of this.lines) {
      const [[ax, ay], [bx, by], radius] = [at(a), at(b), reach * unit];
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

// Points of a shape on the map, with how far it reaches around each.
function pointsOf({ cells, rectangles, discs, polygons, lines }, lattice) {
  const at = (point, reach) => [...lattice.center(point?.x ?? 0, point?.y ?? 0), reach];
  const ends = (rectangle) => {
    const { x, y } = cellOf(rectangle);
    return [at({ x, y }, 0.5), at({ x: x + rectangle.width - 1, y: y + rectangle.height - 1 }, 0.5)];
  };
  return [
    ...(cells ?? []).map((cell) => at(cell, 0.5)),
    ...(rectangles ?? []).flatMap(ends),
    ...(discs ?? []).map(({ center, radius }) => at(center, radius ?? 0)),
    ...(polygons ?? []).flatMap(({ vertices }) => vertices.map((vertex) => at(vertex, 0))),
    ...(lines ?? []).flatMap(({ start, end, width }) => [start, end].map((each) => at(each, (width ?? 0) / 2))),
  ];
}

// Of lines, the cells whose centre is near: those that a line only clips may be missing.
function covers(shape, cell, lattice) {
  const place = lattice.center(cell.x, cell.y);
  const at = (point) => lattice.center(point?.x ?? 0, point?.y ?? 0);
  return (
    (shape.cells ?? []).some((each) => (each.x ?? 0) === cell.x && (each.y ?? 0) === cell.y) ||
    (shape.rectangles ?? []).some((each) => {
      const { x, y } = cellOf(each);
      return cell.x >= x && cell.y >= y && cell.x < x + each.width && cell.y < y + each.height;
    }) ||
    (shape.discs ?? []).some(({ center, radius }) => distance(place, at(center)) <= (radius ?? 0) + 1e-9) ||
    (shape.polygons ?? []).some(({ vertices }) => isInside(place, vertices.map(at))) ||
    (shape.lines ?? []).some(
      ({ start, end, width }) => distanceToLine(place, at(start), at(end)) <= Math.max((width ?? 0) / 2, 0.5),
    )
  );
}

function distance([ax, ay], [bx, by]) {
  return Math.hypot(ax - bx, ay - by);
}

function distanceToLine([px, py], [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const share = length === 0 ? 0 : ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length;
  const t = Math.min(Math.max(share, 0), 1);
  return distance([px, py], [ax + t * (bx - ax), ay + t * (by - ay)]);
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
