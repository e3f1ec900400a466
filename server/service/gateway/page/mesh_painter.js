// Draws a search on a navigation mesh, as films of searches show it: open intervals are lines on their edges. For an
// expanded one, what is seen between the interval before, or its root, and itself is filled by the cost to its middle.
// What lies at heights that are not shown is faint.

import { sameCell } from "./api.js";
import { BANDS } from "./ask.js";
import { fill, lineThrough, polygonOf, stroke } from "./pen.js";
import { rampColor } from "./theme.js";

const FILL_OPACITY = 0.82;
const FAINT_FILL_OPACITY = 0.15;
const FAINT_LINE_OPACITY = 0.3;

// `place(point)` says where on the canvas a point of `model`, a mesh, lies.
export function drawIntervals(context, model, player, place, ink) {
  const reached = [...player.reached()];
  for (const each of reached.filter(({ isExpanded }) => isExpanded)) {
    const seen = seenBefore(each.place, each.parent);
    context.globalAlpha = model.shows(seen) ? FILL_OPACITY : FAINT_FILL_OPACITY;
    fill(context, rampColor(each.share), polygonOf(seen.map(place)));
  }
  const draw = (points, color, width) => stroke(context, color, width, lineThrough(points.map(place)));
  for (const { place: interval } of reached.filter(({ isExpanded }) => !isExpanded)) {
    const ends = [interval.left, interval.right];
    context.globalAlpha = model.shows(ends) ? 1 : FAINT_LINE_OPACITY;
    draw(ends, ink["open-rim"], 2.5);
  }
  context.globalAlpha = 1;
  if (player.current && !player.isAtEnd) {
    const { left, right } = player.currentPlace;
    draw(wayOf(player.trail()), ink.trail, 2);
    draw([left, right], ink.trail, 4);
  }
}

// Draws what is reached: see `bands` of ask.js. From above, their rims are circles around the last turn.
export function drawBands(context, model, { pieces, most, budget }, view, place) {
  const { unit, depth } = model.lattice;
  const farthest = Math.min(most, budget) || 1;
  context.save();
  context.globalAlpha = FILL_OPACITY;
  context.scale(1, depth);
  const shown = pieces.filter(({ corners }) => corners.length > 0 && model.shows(corners));
  for (const { corners, root, before } of shown) {
    const flat = ({ x, y, z }) => place({ x, y, z }).map((each, i) => (i === 1 ? each / depth : each));
    const [x, y] = flat({ ...root, z: corners[0].z });
    const reach = Math.max(farthest - before, 0);
    const bands = context.createRadialGradient(x, y, 0, x, y, reach * unit * view.scale);
    for (let i = 0; i < BANDS; ++i) {
      for (const cost of [i, i + 1].map((each) => (each / BANDS) * farthest)) {
        bands.addColorStop(Math.min(Math.max((cost - before) / (reach || 1), 0), 1), rampColor(i / (BANDS - 1)));
      }
    }
    if (budget < most) {
      bands.addColorStop(1, "transparent");
    }
    fill(context, bands, polygonOf(corners.map(flat)));
  }
  context.restore();
}

// The corners of what an expanded interval shows. `parent` is the interval before, or null.
export function seenBefore({ left, right, root }, parent) {
  if (!parent || !sameCell(parent.root, root)) {
    return [root, right, left];
  }
  const crossing = (end) => between(parent.left, parent.right, shareAtCrossing(root, end, parent.left, parent.right));
  return [crossing(right), right, left, crossing(left)];
}

// The parts of a line at the heights from `low` to `high`, and those at others: lists of lines. Its pieces are taken to
// be straight in space.
export function partByHeights(points, { low = -Infinity, high = Infinity } = {}) {
  const parts = { plain: [], faint: [] };
  for (let i = 0; i + 1 < points.length; ++i) {
    const [from, to] = [points[i], points[i + 1]];
    const shares = [low, high].map((height) => (height - from.z) / (to.z - from.z)).filter((share) => share > 0 && share < 1);
    const ends = [from, ...shares.sort((a, b) => a - b).map((share) => between(from, to, share)), to];
    for (let k = 0; k + 1 < ends.length; ++k) {
      const { z } = between(ends[k], ends[k + 1], 0.5);
      const lines = z >= low && z <= high ? parts.plain : parts.faint;
      if (lines.at(-1)?.at(-1) === ends[k]) {
        lines.at(-1).push(ends[k + 1]);
      } else {
        lines.push([ends[k], ends[k + 1]]);
      }
    }
  }
  return parts;
}

// From the middle of an interval back to the start: it turns at the roots. `trail` has the intervals before it.
export function wayOf(trail) {
  const roots = trail.map(({ root }) => root);
  return [
    between(trail[0].left, trail[0].right, 0.5),
    ...roots.filter((root, i) => i === 0 || !sameCell(root, roots[i - 1])),
  ];
}

// How far from a to b the line from one point to another crosses, seen from above.
function shareAtCrossing(from, to, a, b) {
  const side = ({ x, y }) => (to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x);
  const [atA, atB] = [side(a), side(b)];
  return atA === atB ? 0 : Math.min(Math.max(atA / (atA - atB), 0), 1);
}

function between(a, b, share) {
  const at = (name) => a[name] + (b[name] - a[name]) * share;
  return { x: at("x"), y: at("y"), z: at("z") };
}
