// Shapes of obstacles as they are drawn by hand: between two places, and by handles.

import { cellOf } from "./api.js";

// How far two places are apart, in the units of the radius of a disc.
function distance(lattice, a, b) {
  const [[ax, ay], [bx, by]] = [a, b].map(({ x, y }) => lattice.center(x, y));
  return Number((Math.hypot(bx - ax, by - ay) / (lattice.unit ?? 1)).toFixed(6));
}

function rectangleBetween(a, b) {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)];
  return { x, y, width: Math.abs(a.x - b.x) + 1, height: Math.abs(a.y - b.y) + 1 };
}

// A box between opposite corners, or a disc with a place on its rim. Off grids, rectangles would have whole numbers.
export function shapeBetween(a, b, isDisc, { cells, lattice }) {
  if (isDisc) {
    return { discs: [{ center: a, radius: distance(lattice, a, b) }] };
  }
  return cells
    ? { rectangles: [rectangleBetween(a, b)] }
    : { polygons: [{ vertices: [a, { x: b.x, y: a.y }, b, { x: a.x, y: b.y }] }] };
}

// The places of a shape that can be dragged, each with the shape moved(to) that it makes. Corners that lie straight
// beside one follow it, so that a box stays a box.
export function handlesOf(shape, lattice) {
  const handles = [];
  const add = (place, field, i, change) => {
    handles.push({ ...cellOf(place), moved: (to) => ({ ...shape, [field]: shape[field].with(i, change(to)) }) });
  };
  (shape.rectangles ?? []).forEach((each, i) => {
    const { x, y } = cellOf(each);
    const [right, bottom] = [x + each.width - 1, y + each.height - 1];
    const corners = [{ x, y }, { x: right, y }, { x: right, y: bottom }, { x, y: bottom }];
    corners.forEach((end, j) => add(end, "rectangles", i, (to) => rectangleBetween(corners[(j + 2) % 4], to)));
  });
  (shape.polygons ?? []).forEach(({ vertices }, i) => {
    vertices.map(cellOf).forEach((old, j, all) => {
      const beside = [j, (j + 1) % all.length, (j + all.length - 1) % all.length];
      const follow = (each, to) => ({ x: each.x === old.x ? to.x : each.x, y: each.y === old.y ? to.y : each.y });
      const change = (to) => ({ vertices: all.map((each, k) => (beside.includes(k) ? follow(each, to) : each)) });
      add(old, "polygons", i, change);
    });
  });
  (shape.discs ?? []).forEach(({ center, radius = 0 }, i) => {
    const { x, y } = cellOf(center);
    add({ x: x + radius, y }, "discs", i, (to) => ({ center, radius: distance(lattice, { x, y }, to) }));
  });
  (shape.lines ?? []).forEach((line, i) => {
    ["start", "end"].forEach((end) => add(line[end], "lines", i, (to) => ({ ...line, [end]: to })));
  });
  return handles;
}
