// Named obstacles on a waypoint graph: areas of its world, where cell (x, y) is the square to (x + 1, y + 1).

import { cellOf } from "./api.js";
import { distanceToLine, isInside } from "./obstacles.js";

export function placeAreas(obstacles) {
  return obstacles.map((obstacle) => ({ ...obstacle, areas: areasOf(obstacle.shape) }));
}

// The areas of a shape: polygons, and lines with round ends, which discs are as well.
function areasOf(shape) {
  const square = ({ x, y }, width, height) => [
    { x, y },
    { x: x + width, y },
    { x: x + width, y: y + height },
    { x, y: y + height },
  ];
  const line = (a, b, reach = 0) => ({ a: cellOf(a), b: cellOf(b), reach });
  return {
    polygons: [
      ...(shape.cells ?? []).map((cell) => square(cellOf(cell), 1, 1)),
      ...(shape.rectangles ?? []).map((each) => square(cellOf(each), each.width, each.height)),
      ...(shape.polygons ?? []).map(({ vertices }) => vertices.map(cellOf)),
    ],
    lines: [
      ...(shape.discs ?? []).map(({ center, radius }) => line(center, center, radius)),
      ...(shape.lines ?? []).map(({ start, end, width }) => line(start, end, (width ?? 0) / 2)),
    ],
  };
}

// Whether a point of the world lies in one of the areas, edges included.
export function areasHold({ polygons, lines }, point) {
  const at = ({ x, y }) => [x, y];
  const isNear = (a, b, reach) => distanceToLine(at(point), at(a), at(b)) <= reach + 1e-9;
  return (
    polygons.some((polygon) => isInside(at(point), polygon.map(at))) ||
    polygons.some((polygon) => polygon.some((a, i) => isNear(a, polygon[(i + 1) % polygon.length], 0))) ||
    lines.some(({ a, b, reach }) => isNear(a, b, reach))
  );
}
