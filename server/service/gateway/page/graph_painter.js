// Draws a waypoint graph, and a search on it. Edges that no path may go along are dotted; nodes that are disabled are
// crossed out. The path goes below the nodes.

import { addArrowhead, crossAt, discAt, fill, stroke, trace } from "./pen.js";
import { rampColor } from "./theme.js";

// Smaller nodes are dots without a rim.
const LEAST_RADIUS_FOR_RIM = 2;

export function radiusOf(view, lattice) {
  return Math.min(Math.max(view.scale * lattice.spacing * 0.13, 1), 8);
}

// `place(node)` is in pixels; `drawPath()` draws the path.
export function drawGraph(context, view, { model, player, ask }, place, ink, drawPath) {
  const radius = radiusOf(view, model.lattice);
  const heads = drawLinks(context, view, model.links, place, ink);
  const reached = player.isLoaded ? [...player.reached()] : (ask.answer?.reached ?? []);
  drawTree(context, reached, place, ink);
  drawPath();
  for (const [path, color] of heads) {
    stroke(context, ink.outside, 3, path);
    fill(context, color, path);
  }
  const stages = new Map(reached.map((each) => [each.place.id, each]));
  for (const node of model.nodes) {
    const [px, py] = place(node);
    if (px > -radius && py > -radius && px < view.width + radius && py < view.height + radius) {
      drawNode(context, px, py, radius, lookOf(node, stages.get(node.id), ink));
    }
  }
}

// The ends of the links that may be in sight.
export function* linksInSight(view, links, place) {
  const isBeside = (a, b, end) => (a < 0 && b < 0) || (a > end && b > end);
  for (const link of links) {
    const [a, b] = [place(link.from), place(link.to)];
    if (!isBeside(a[0], b[0], view.width) && !isBeside(a[1], b[1], view.height)) {
      yield [a, b, link];
    }
  }
}

// Returns the arrowheads of those that lead one way, which go above the path: pairs of a path and its colour.
function drawLinks(context, view, links, place, ink) {
  const [open, closed, openHeads, closedHeads] = Array.from({ length: 4 }, () => new Path2D());
  for (const [a, b, { isOpen, isOneWay }] of linksInSight(view, links, place)) {
    trace(isOpen ? open : closed, [a, b]);
    if (isOneWay) {
      addArrowhead(isOpen ? openHeads : closedHeads, a, b);
    }
  }
  stroke(context, ink.edge, 1.5, open);
  stroke(context, ink["closed-edge"], 1.5, closed, [3, 4]);
  return [[openHeads, ink.edge], [closedHeads, ink["closed-edge"]]];
}

// The edges that the search has come along.
function drawTree(context, reached, place, ink) {
  const edges = new Path2D();
  for (const { place: node, parent } of reached.filter((each) => each.parent)) {
    trace(edges, [place(parent), place(node)]);
  }
  stroke(context, ink["open-rim"], 3, edges);
}

function lookOf(node, stage, ink) {
  if (stage?.isExpanded) {
    const inside = rampColor(stage.share);
    return { inside, rim: ink.wall, width: 1, dot: inside };
  }
  if (stage) {
    return { inside: ink.outside, rim: ink["open-rim"], width: 3, dot: ink["open-rim"] };
  }
  const { isDisabled } = node;
  return { inside: isDisabled ? ink.outside : ink.wall, rim: ink.wall, width: 1.5, isCrossed: isDisabled, dot: ink.wall };
}

function drawNode(context, px, py, radius, { inside, rim, width, isCrossed, dot }) {
  if (radius < LEAST_RADIUS_FOR_RIM) {
    context.fillStyle = dot;
    context.fillRect(px - radius, py - radius, 2 * radius, 2 * radius);
    return;
  }
  const path = discAt(px, py, radius);
  fill(context, inside, path);
  if (isCrossed) {
    path.addPath(crossAt(px, py, radius * Math.SQRT1_2));
  }
  stroke(context, rim, width, path);
}
