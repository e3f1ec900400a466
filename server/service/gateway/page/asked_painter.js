// Draws what questions have found, and the overlay, which only they see.

import { addArrow, discAt, fill, lineThrough, stroke } from "./pen.js";

// Arrows are at least so many pixels apart.
const LEAST_TO_ARROW = 18;
const DOT_RADIUS = 5;
const PAIR_RADIUS = 20;
const HATCH = 8;

// `part` has the cells that may be seen, if there are cells; `placeOf(place)` is in pixels.
export function drawFound(context, ink, view, { answer, pair }, part, placeOf) {
  const { arrows, dots = [], table } = answer ?? {};
  const stride = Math.max(Math.ceil(LEAST_TO_ARROW / view.scale), 1);
  const lines = new Path2D();
  for (const [from, to] of arrows?.(part, stride) ?? []) {
    addArrow(lines, view.toScreen(...from), view.toScreen(...to));
  }
  stroke(context, ink["path-edge"], 4, lines);
  stroke(context, ink.trail, 2, lines);
  for (const disc of dots.map((place) => discAt(...placeOf(place), DOT_RADIUS))) {
    fill(context, ink.trail, disc);
    stroke(context, ink["path-edge"], 2, disc);
  }
  const ends = table && pair ? pair.map((i) => placeOf(table.places[i])) : [];
  const line = lineThrough(ends);
  ends.forEach((end) => line.addPath(discAt(...end, PAIR_RADIUS)));
  stroke(context, ink["path-edge"], 6, line);
  stroke(context, ink.marked, 3, line);
}

// Hatched, as nothing on the map is. The units of the context are those of the view.
export function drawOverlay(context, ink, view, areas) {
  const hatch = hatchOf(context, ink.overlay);
  hatch.setTransform(new DOMMatrix().scale(1 / view.scale));
  for (const { area } of areas) {
    fill(context, hatch, area.outline.fill);
    stroke(context, ink.overlay, 2 / view.scale, area.outline.rim);
  }
}

function hatchOf(context, color) {
  const tile = new OffscreenCanvas(HATCH, HATCH);
  const pen = tile.getContext("2d");
  const line = lineThrough([[-1, 1], [1, -1]]);
  line.addPath(lineThrough([[0, HATCH], [HATCH, 0]]));
  line.addPath(lineThrough([[HATCH - 1, HATCH + 1], [HATCH + 1, HATCH - 1]]));
  stroke(pen, color, 2, line);
  return context.createPattern(tile, "repeat");
}
