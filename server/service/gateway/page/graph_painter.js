// Draws a waypoint graph, and a search on it. Edges that no path may go along are dotted, and those that lead one way
// have an arrowhead; nodes that are disabled are crossed out. The path goes below the nodes.

import { placeLabels } from "./node_labels.js";
import { drawObstacle } from "./obstacle_painter.js";
import { stroke } from "./pen.js";
import { rampColor } from "./theme.js";

const ARROW = 7;
// Edges of fewer pixels have no room for an arrowhead.
const LEAST_FOR_ARROW = 30;
// Smaller nodes are dots without a rim.
const LEAST_RADIUS_FOR_RIM = 2;
const widths = new Map();

// `scene` is what Painter.draw() gets; `drawPath()` draws its path.
export function drawGraph(context, view, scene, ink, drawPath) {
  const { model, player, obstacles } = scene;
  const { lattice } = model;
  const place = ({ x, y }) => view.toScreen(...lattice.center(x, y));
  const radius = Math.min(Math.max(view.scale * lattice.spacing * 0.13, 1), 8);
  obstacles.forEach((each) => drawObstacle(context, each, place, view.scale * lattice.unit, ink.obstacle));
  drawLinks(context, view, model.links, place, radius, ink);
  const reached = player.isLoaded ? [...player.reached()] : [];
  drawTree(context, reached, place, ink);
  drawPath();
  const stages = new Map(reached.map((each) => [each.place.id, each]));
  for (const node of model.nodes) {
    const [px, py] = place(node);
    if (px > -radius && py > -radius && px < view.width + radius && py < view.height + radius) {
      drawNode(context, px, py, radius, lookOf(node, stages.get(node.id), ink));
    }
  }
  drawNames(context, view, scene, place, radius, ink);
}

function drawLinks(context, view, links, place, radius, ink) {
  const open = new Path2D();
  const closed = new Path2D();
  const openHeads = new Path2D();
  const closedHeads = new Path2D();
  for (const { from, to, isOpen, isOneWay } of links) {
    const [a, b] = [place(from), place(to)];
    if (isBeside(a[0], b[0], view.width) || isBeside(a[1], b[1], view.height)) {
      continue;
    }
    const lines = isOpen ? open : closed;
    lines.moveTo(...a);
    lines.lineTo(...b);
    if (isOneWay) {
      addArrowhead(isOpen ? openHeads : closedHeads, a, b, radius + 3);
    }
  }
  const draw = (lines, heads, color) => {
    context.strokeStyle = context.fillStyle = color;
    context.stroke(lines);
    context.fill(heads);
  };
  context.lineWidth = 1.5;
  context.lineCap = "butt";
  draw(open, openHeads, ink.edge);
  context.setLineDash([2, 5]);
  draw(closed, closedHeads, ink["closed-edge"]);
  context.setLineDash([]);
}

function isBeside(a, b, end) {
  return (a < 0 && b < 0) || (a > end && b > end);
}

// Its tip is that far before the end.
function addArrowhead(heads, [ax, ay], [bx, by], before) {
  const length = Math.hypot(bx - ax, by - ay);
  if (length < LEAST_FOR_ARROW) {
    return;
  }
  const [dx, dy] = [(bx - ax) / length, (by - ay) / length];
  const [x, y] = [bx - dx * before, by - dy * before];
  const [backX, backY] = [x - dx * ARROW * 1.4, y - dy * ARROW * 1.4];
  heads.moveTo(x, y);
  heads.lineTo(backX - dy * ARROW * 0.6, backY + dx * ARROW * 0.6);
  heads.lineTo(backX + dy * ARROW * 0.6, backY - dx * ARROW * 0.6);
  heads.closePath();
}

// The edges that the search has come along.
function drawTree(context, reached, place, ink) {
  context.beginPath();
  for (const { place: node, parent } of reached) {
    if (parent) {
      context.moveTo(...place(parent));
      context.lineTo(...place(node));
    }
  }
  stroke(context, ink["open-rim"], 3);
}

function lookOf(node, stage, ink) {
  if (stage?.isExpanded) {
    const fill = rampColor(stage.share);
    return { fill, rim: ink.wall, width: 1, dot: fill };
  }
  if (stage) {
    return { fill: ink.outside, rim: ink["open-rim"], width: 3, dot: ink["open-rim"] };
  }
  const { isDisabled } = node;
  return { fill: isDisabled ? ink.outside : ink.wall, rim: ink.wall, width: 1.5, isCrossed: isDisabled, dot: ink.wall };
}

function drawNode(context, px, py, radius, { fill, rim, width, isCrossed, dot }) {
  if (radius < LEAST_RADIUS_FOR_RIM) {
    context.fillStyle = dot;
    context.fillRect(px - radius, py - radius, 2 * radius, 2 * radius);
    return;
  }
  context.beginPath();
  context.arc(px, py, radius, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.fill();
  if (isCrossed) {
    const reach = radius * Math.SQRT1_2;
    context.moveTo(px - reach, py - reach);
    context.lineTo(px + reach, py + reach);
    context.moveTo(px - reach, py + reach);
    context.lineTo(px + reach, py - reach);
  }
  stroke(context, rim, width);
}

// First those that are looked at.
function drawNames(context, view, { model, start, goal, hover, cursor }, place, radius, ink) {
  const marks = [start, goal].filter((node) => node);
  const first = new Set([...marks, hover, cursor].filter((node) => node));
  const nodes = [...first, ...model.nodes.filter((node) => !first.has(node))].map((node) => {
    const [x, y] = place(node);
    return { text: node.id, x, y, radius: marks.includes(node) ? 12 : radius };
  });
  context.font = "500 11px Inter, system-ui, sans-serif";
  const widthOf = (text) => {
    if (!widths.has(text)) {
      widths.set(text, context.measureText(text).width);
    }
    return widths.get(text);
  };
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = ink.text;
  context.strokeStyle = ink.outside;
  context.lineWidth = 3;
  context.lineJoin = "round";
  for (const { text, left, middle } of placeLabels(nodes, view.width, view.height, widthOf)) {
    context.strokeText(text, left, middle);
    context.fillText(text, left, middle);
  }
}
