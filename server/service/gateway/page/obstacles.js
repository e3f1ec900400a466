// Named obstacles: where they lie, and which of them cover a cell.

import { cellOf } from "./api.js";
import { boundsOf } from "./lattice.js";

// With their bounds on the map, and the points of their shapes as the map draws them.
export function placeObstacles(obstacles, lattice) {
  return obstacles.map((obstacle) => ({ ...obstacle, bounds: boundsOf(pointsOf(obstacle.shape, lattice)) }));
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
