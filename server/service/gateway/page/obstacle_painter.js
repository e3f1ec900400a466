// Draws the named obstacles of a waypoint graph as the areas that they cover, each with its name.

import { boundsOf } from "./lattice.js";
import { trace } from "./pen.js";

export function drawObstacle(context, { id, areas }, place, scale, color) {
  const outlines = areas.polygons.map((polygon) => outlineOf(polygon.map(place)));
  context.strokeStyle = context.fillStyle = color;
  context.lineJoin = context.lineCap = "round";
  context.globalAlpha = 0.3;
  outlines.forEach((outline) => context.fill(outline, "evenodd"));
  areas.lines.forEach(({ a, b, reach }) => drawLine(context, place(a), place(b), Math.max(reach * scale * 2, 2)));
  context.globalAlpha = 1;
  context.lineWidth = 1;
  outlines.forEach((outline) => context.stroke(outline));
  drawName(context, id, areas, place, scale);
}

function outlineOf(points) {
  const outline = new Path2D();
  trace(outline, points);
  outline.closePath();
  return outline;
}

// With round ends; a disc if it has no length.
function drawLine(context, a, b, width) {
  context.beginPath();
  if (a[0] === b[0] && a[1] === b[1]) {
    context.arc(...a, width / 2, 0, 2 * Math.PI);
    context.fill();
    return;
  }
  context.moveTo(...a);
  context.lineTo(...b);
  context.lineWidth = width;
  context.stroke();
}

// In the middle of what it covers, if there is room.
function drawName(context, id, { polygons, lines }, place, scale) {
  const { left, top, right, bottom } = boundsOf([
    ...polygons.flat().map(place),
    ...lines.flatMap(({ a, b, reach }) => [a, b].map((end) => [...place(end), reach * scale])),
  ]);
  context.font = "600 11px Inter, system-ui, sans-serif";
  if (Math.max(right - left, 40) >= context.measureText(id).width) {
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(id, (left + right) / 2, (top + bottom) / 2);
  }
}
