// Named obstacles: where they lie, and which of them cover a cell.

import { cellOf } from "./api.js";

// With their bounds on the map, and the points of their shapes as the map draws them.
export function placeObstacles(obstacles, lattice) {
  return obstacles.map((obstacle) => ({ ...obstacle, bounds: boundsOf(obstacle.shape, lattice) }));
}

function boundsOf(shape, lattice) {
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  const add = (point, reach) => {
    const [x, y] = lattice.center(point?.x ?? 0, point?.y ?? 0);
    bounds.left = Math.min(bounds.left, x - reach);
    bounds.right = Math.max(bounds.right, x + reach);
    bounds.top = Math.min(bounds.top, y - reach);
    bounds.bottom = Math.max(bounds.bottom, y + reach);
  };
  shape.cells?.forEach((cell) => add(cell, 0.5));
  shape.rectangles?.forEach((rectangle) => {
    const { x, y } = cellOf(rectangle);
    add({ x, y }, 0.5);
    add({ x: x + rectangle.width - 1, y: y + rectangle.height - 1 }, 0.5);
  });
  shape.discs?.forEach((disc) => add(disc.center, disc.radius ?? 0));
  shape.polygons?.forEach((polygon) => polygon.vertices.forEach((vertex) => add(vertex, 0)));
  shape.lines?.forEach((line) => {
    add(line.start, (line.width ?? 0) / 2);
    add(line.end, (line.width ?? 0) / 2);
  });
  return bounds;
}

// Of lines, the cells whose centre is near: those that a line only clips may be missing.
export function covers(shape, cell, lattice) {
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

export function distanceToLine([px, py], [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const share = length === 0 ? 0 : ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length;
  const t = Math.min(Math.max(share, 0), 1);
  return distance([px, py], [ax + t * (bx - ax), ay + t * (by - ay)]);
}

export function isInside([px, py], vertices) {
  let inside = false;
  vertices.forEach(([ax, ay], i) => {
    const [bx, by] = vertices[(i + 1) % vertices.length];
    if (ay > py !== by > py && px < ax + ((py - ay) / (by - ay)) * (bx - ax)) {
      inside = !inside;
    }
  });
  return inside;
}
