// Draws a moment: the map, the search on it, the path, and the marks.

import { drawGraph, linksInSight, radiusOf } from "./graph_painter.js";
import { placeLabels } from "./labels.js";
import { boxOf } from "./obstacles.js";
import { drawBands, drawIntervals, partByHeights } from "./mesh_painter.js";
import {
  addArrow, addArrowhead, addPolygon, discAt, fill, lineThrough, polygonOf, stroke, trace,
} from "./pen.js";
import { CLOSED, OPEN } from "./search_player.js";
import { TileLayer } from "./tiles.js";
import { LETTERS } from "./sketch.js";
import { colorOf, mapColors, pixelsOf, rampColor } from "./theme.js";

// From how many pixels a cell on hexagons are drawn as such, and squares get lines between them.
const FINE_SCALE = 7;
// So that the ground of a search shows through.
const SEARCH_OPACITY = 0.8;
const OBSTACLE_OPACITY = 0.3;
const PORTAL_RADIUS = 7;
const HANDLE = 9;
// Arrows of a flow field are at least so many pixels apart.
const LEAST_TO_ARROW = 18;
const DOT_RADIUS = 5;
const PAIR_RADIUS = 20;
const HATCH = 8;
// So near to an end, another mark would lie below it.
const MARK_REACH = 16;
// Half the pixels from which an obstacle has its name beside it.
const LEAST_ACROSS_FOR_NAME = 8;
const FONT = "Inter, system-ui, sans-serif";

const INKS = [
  "outside", "text", "wall", "edge", "closed-edge", "grid", "path", "path-edge", "start", "goal", "open",
  "open-rim", "trail", "obstacle", "dearer", "cheaper", "portal", "fair", "marked",
];

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
  }

  // After the map was read, or for another theme.
  prepare(model) {
    this.ink = Object.fromEntries(INKS.map((name) => [name, colorOf(name)]));
    this.searchColors = new Map([[OPEN, this.ink.open]]);
    for (let look = CLOSED; look < 256; ++look) {
      this.searchColors.set(look, rampColor((look - CLOSED) / (255 - CLOSED), SEARCH_OPACITY));
    }
    this.search = null;
    if (model?.cells) {
      this.colors = mapColors(model.terrains);
      this.base = new TileLayer(model.width, model.height, model.cells, this.colors.pixels);
    }
  }

  touchSearch({ x, y }) {
    this.search?.invalidate(x, y);
  }

  draw(scene) {
    const { model, view, start, goal, cursor, hover, footprint, brush, isOblique } = scene;
    const { context, ink } = this;
    const ratio = this.canvas.width / view.width;
    this.ratio = ratio;
    this.view = view;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = ink.outside;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    context.lineCap = context.lineJoin = "round";
    if (!model) {
      return;
    }
    this.lattice = model.lattice;
    this.hasCells = Boolean(model.cells);
    const drawing = model.isMesh ? this.#drawMesh : model.isGraph ? this.#drawGraph : this.#drawCells;
    drawing.call(this, scene);
    this.#drawAsked(scene);
    if (isOblique) {
      return;
    }
    this.#drawPortals(scene);
    this.#drawHandles(scene.drawing);
    this.#drawLabels(scene);
    [...brush, hover].forEach((cell) => this.#outline(cell, ink.marked, 1.5));
    this.#drawMarks(start, goal, footprint);
    scene.sketch.marked.forEach((place, i) => this.#drawMark(place, ink.marked, LETTERS[i], footprint));
    this.#outline(cursor, ink.marked, 3);
  }

  #drawCells(scene) {
    const { view, player, answer, ask, footprint } = scene;
    this.#drawLayer(this.base, this.colors.css);
    const states = player.isLoaded ? player.states : ask.answer?.states;
    if (states) {
      this.#drawSearch(states);
    }
    this.#usePixels();
    if (!this.lattice.isHex && view.scale >= FINE_SCALE) {
      this.#drawGrid();
    }
    this.#drawObstacles(scene);
    this.#drawTrail(player);
    this.#drawPath(answer, player, footprint);
  }

  #drawGraph(scene) {
    const { view, player, answer } = scene;
    this.#usePixels();
    this.#drawObstacles(scene);
    drawGraph(this.context, view, scene, (node) => this.#placeOf(node), this.ink, () => {
      this.#drawTrail(player);
      this.#drawPath(answer, player);
    });
  }

  // Seen from the side the picture has the path, unless a search is shown.
  #drawMesh(scene) {
    const { view, model, player, answer, ask, picture, isOblique } = scene;
    this.#usePixels();
    this.context.imageSmoothingEnabled = true;
    picture.draw(this.context, model.lattice, view);
    if (player.isLoaded) {
      drawIntervals(this.context, model, player, (point) => this.#placeOf(point), this.ink);
    } else if (ask.answer?.bands) {
      drawBands(this.context, model, ask.answer.bands, view, (point) => this.#placeOf(point));
    }
    if (!isOblique) {
      this.#drawObstacles(scene);
    }
    if (answer && (player.isLoaded || !isOblique)) {
      const parts = answer.lines.map((line) => partByHeights(line, model.heights));
      const [lines, faint] = ["plain", "faint"].map((name) => parts.flatMap((part) => part[name]));
      this.#drawPath({ ...answer, lines, faint }, player);
    }
    if (isOblique && answer) {
      const points = answer.lines.flat();
      this.#drawMarks(points[0], points.at(-1), 1);
    }
  }

  #usePixels() {
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
  }

  // The cells that may be seen.
  #part() {
    const { view, lattice } = this;
    const [left, top] = view.toMap(0, 0);
    const [right, bottom] = view.toMap(view.width, view.height);
    return lattice.rangeOf({ left, top, right, bottom });
  }

  #drawLayer(layer, css) {
    const { context, view } = this;
    if (this.lattice.isHex && view.scale >= FINE_SCALE) {
      this.#usePixels();
      this.#drawHexagons(layer.values, css);
      return;
    }
    const pixels = view.scale * this.ratio;
    context.imageSmoothingEnabled = pixels < 1;
    view.applyTo(context, this.ratio, this.lattice.matrix);
    layer.draw(context, this.#part(), pixels);
  }

  #drawHexagons(values, css) {
    const { lattice, context, view } = this;
    const part = this.#part();
    const paths = new Map();
    for (let y = part.top; y <= part.bottom; ++y) {
      for (let x = part.left; x <= part.right; ++x) {
        const value = values[y * lattice.width + x];
        const [px, py] = view.toScreen(...lattice.center(x, y));
        const isSeen = px > -view.scale && py > -view.scale && px < view.width + view.scale && py < view.height + view.scale;
        if (isSeen && css.has(value)) {
          if (!paths.has(value)) {
            paths.set(value, new Path2D());
          }
          this.#addCell(paths.get(value), px, py, 0.95);
        }
      }
    }
    paths.forEach((path, value) => fill(context, css.get(value), path));
  }

  #addCell(path, px, py, size) {
    const reach = this.view.scale * size;
    addPolygon(path, this.lattice.corners.map(([dx, dy]) => [px + dx * reach, py + dy * reach]));
  }

  #drawSearch(states) {
    if (this.search?.values !== states) {
      this.search = new TileLayer(this.lattice.width, this.lattice.height, states, pixelsOf(this.searchColors));
    }
    this.#drawLayer(this.search, this.searchColors);
  }

  #drawGrid() {
    const { view, lattice } = this;
    const part = this.#part();
    const [left, top] = view.toScreen(0, 0).map((each) => Math.max(each, 0));
    const [width, height] = view.toScreen(lattice.width, lattice.height);
    const [right, bottom] = [Math.min(width, view.width), Math.min(height, view.height)];
    // Beside pixels, lines are so faint that nobody sees them.
    const onPixels = (at) => (Math.round(at * this.ratio) + 0.5) / this.ratio;
    const lines = new Path2D();
    for (let x = part.left; x <= part.right + 1; ++x) {
      const px = onPixels(view.toScreen(x, 0)[0]);
      trace(lines, [[px, top], [px, bottom]]);
    }
    for (let y = part.top; y <= part.bottom + 1; ++y) {
      const py = onPixels(view.toScreen(0, y)[1]);
      trace(lines, [[left, py], [right, py]]);
    }
    stroke(this.context, this.ink.grid, 1, lines);
  }

  // Where an agent of some size stands that is at a place.
  #placeOf(place, footprint) {
    return this.view.toScreen(...this.lattice.middleOf(place, footprint));
  }

  #through(places, footprint) {
    return lineThrough(places.map((place) => this.#placeOf(place, footprint)));
  }

  #strokeOnRim(path, color, width, widthOfRim) {
    stroke(this.context, this.ink["path-edge"], widthOfRim, path);
    stroke(this.context, color, width, path);
  }

  // What another question has found.
  #drawAsked({ view, player, ask, start, goal, footprint }) {
    const { arrows, dots = [], table, way, ray, marks = [] } = ask.answer ?? {};
    const { context, ink } = this;
    const lines = new Path2D();
    const stride = Math.max(Math.ceil(LEAST_TO_ARROW / view.scale), 1);
    for (const [from, to] of arrows?.(this.hasCells && this.#part(), stride) ?? []) {
      addArrow(lines, view.toScreen(...from), view.toScreen(...to));
    }
    this.#strokeOnRim(lines, ink.trail, 2, 4);
    for (const disc of dots.map((place) => discAt(...this.#placeOf(place, footprint), DOT_RADIUS))) {
      fill(context, ink.trail, disc);
      stroke(context, ink["path-edge"], 2, disc);
    }
    const pair = table && ask.pair ? ask.pair.map((i) => table.places[i]) : [];
    const line = this.#through(pair, footprint);
    pair.forEach((end) => line.addPath(discAt(...this.#placeOf(end, footprint), PAIR_RADIUS)));
    this.#strokeOnRim(line, ink.marked, 3, 6);
    this.#drawPath(way, player, footprint);
    const ends = [start, goal].filter(Boolean).map((end) => this.#placeOf(end, footprint));
    if (ray !== undefined && ends.length > 1) {
      const [from, to] = ends;
      const free = lineThrough([from, from.map((each, i) => each + (to[i] - each) * ray)]);
      stroke(context, ink.trail, 2, lineThrough(ends), [3, 6]);
      this.#strokeOnRim(free, ink.trail, 3, 6);
    }
    for (const { place, letter } of marks) {
      const [px, py] = this.#placeOf(place);
      const shift = ends.some(([x, y]) => Math.hypot(x - px, y - py) < MARK_REACH) ? MARK_REACH : 0;
      this.#drawDisc(px + shift, py - shift, ink.fair, letter);
    }
  }

  // The path that a search finds is shown when it is over. What of it lies at heights that are not shown is `faint`.
  #drawPath(answer, player, footprint) {
    if (!answer || (player.isLoaded && !player.isAtEnd)) {
      return;
    }
    const { context, ink } = this;
    const width = Math.min(Math.max(this.view.scale * 0.22, 4), 8);
    context.globalAlpha = 0.55;
    for (const line of answer.faint ?? []) {
      stroke(context, ink.path, width * 0.75, this.#through(line), [width * 2, width * 2]);
    }
    context.globalAlpha = 1;
    for (const cells of answer.lines) {
      this.#strokeOnRim(this.#through(cells, footprint), ink.path, width, width + 3);
    }
    for (const jump of answer.jumps) {
      stroke(context, ink.path, width, this.#through(jump, footprint), [width, width * 2]);
    }
  }

  #drawTrail(player) {
    if (player.current && !player.isAtEnd) {
      const width = Math.min(Math.max(this.view.scale * 0.1, 1.5), 4);
      stroke(this.context, this.ink.trail, width, this.#through(player.trail()));
      this.#outline(player.currentPlace, this.ink.trail, 2.5);
    }
  }

  #drawMarks(start, goal, footprint) {
    this.#drawMark(start, this.ink.start, "S", footprint);
    this.#drawMark(goal, this.ink.goal, "G", footprint);
  }

  #drawMark(cell, color, letter, footprint) {
    if (!cell) {
      return;
    }
    for (let i = 0; footprint > 1 && i < footprint * footprint; ++i) {
      this.#outline({ x: cell.x + (i % footprint), y: cell.y + Math.floor(i / footprint) }, color, 1);
    }
    this.#drawDisc(...this.#placeOf(cell, footprint), color, letter);
  }

  #drawDisc(px, py, color, letter) {
    const { context, view, ink } = this;
    const radius = Math.min(Math.max(view.scale * 0.38, 9), 16);
    const disc = discAt(px, py, radius);
    fill(context, color, disc);
    stroke(context, ink["path-edge"], 2, disc);
    context.fillStyle = ink["path-edge"];
    context.font = `700 ${Math.round(radius * 1.1)}px ${FONT}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(letter, px, py + radius * 0.06);
  }

  #outline(cell, color, width) {
    if (!cell) {
      return;
    }
    const { context, lattice, view } = this;
    const [px, py] = view.toScreen(...lattice.center(cell.x, cell.y));
    const path = this.hasCells ? new Path2D() : discAt(px, py, 12);
    if (this.hasCells) {
      this.#addCell(path, px, py, Math.max(1, 4 / view.scale));
    }
    stroke(context, color, width, path);
  }

  // From afar, the box of one on a grid stands for its outline, which may have many corners. The overlay is
  // hatched, as nothing on the map is.
  #drawObstacles({ obstacles, sketch }) {
    const { context, view, ratio } = this;
    const isAfar = this.hasCells && view.scale < FINE_SCALE;
    view.applyTo(context, ratio);
    for (const { area, ink } of obstacles.filter((each) => this.#isInSight(each))) {
      const { outline } = area;
      if (!isAfar) {
        context.globalAlpha = OBSTACLE_OPACITY;
        fill(context, this.ink[ink], outline.fill);
        context.globalAlpha = 1;
      }
      const rim = isAfar ? boxOf(outline.bounds) : outline.rim;
      stroke(context, this.ink[ink], 1.5 / view.scale, rim, [5 / view.scale, 4 / view.scale]);
    }
    const hatch = hatchOf(context, this.ink.fair);
    hatch.setTransform(new DOMMatrix().scale(1 / view.scale));
    for (const { area } of sketch.areas.filter((each) => this.#isInSight(each))) {
      fill(context, hatch, area.outline.fill);
      stroke(context, this.ink.fair, 2 / view.scale, area.outline.rim);
    }
    this.#usePixels();
  }

  #isInSight({ area }) {
    const { left, top, right, bottom } = area.outline.bounds;
    const { view } = this;
    const [ax, ay] = view.toScreen(left, top);
    const [bx, by] = view.toScreen(right, bottom);
    return bx > 0 && by > 0 && ax < view.width && ay < view.height;
  }

  // Closed ones are hollow and faint. A mesh's picture has the lines between their ends.
  #drawPortals({ portals, model }) {
    const { context, ink } = this;
    const [lines, heads] = [new Path2D(), new Path2D()];
    for (const { ends, isOneWay } of model.isMesh ? [] : portals.filter(({ ends }) => ends.length > 1)) {
      const places = ends.map((end) => this.#placeOf(end));
      trace(lines, places);
      if (isOneWay) {
        addArrowhead(heads, ...places);
      }
    }
    stroke(context, ink.portal, 1.5, lines, [3, 4]);
    fill(context, ink.portal, heads);
    const reach = PORTAL_RADIUS;
    for (const { ends, isClosed } of portals) {
      for (const [x, y] of ends.map((end) => this.#placeOf(end))) {
        const diamond = polygonOf([[x - reach, y], [x, y - reach], [x + reach, y], [x, y + reach]]);
        fill(context, isClosed ? ink.outside : ink.portal, diamond);
        stroke(context, isClosed ? ink.portal : ink["path-edge"], 1.5, diamond);
      }
    }
  }

  // Draws the handles of the chosen obstacle, and the first end of a portal.
  #drawHandles({ handles, from, app }) {
    const { context, ink } = this;
    const boxes = new Path2D();
    for (const [x, y] of handles.map((each) => this.#placeOf(each))) {
      boxes.rect(x - HANDLE / 2, y - HANDLE / 2, HANDLE, HANDLE);
    }
    fill(context, ink["path-edge"], boxes);
    stroke(context, ink.obstacle, 2, boxes);
    if (from?.map === app.map) {
      stroke(context, ink.portal, 3, discAt(...this.#placeOf(from.place), PORTAL_RADIUS));
    }
  }

  #drawLabels(scene) {
    const { context, view, ink } = this;
    context.font = `600 11px ${FONT}`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.strokeStyle = ink.outside;
    context.fillStyle = ink.text;
    context.lineWidth = 3;
    const widthOf = (text) => this.#widthOf(text);
    const labels = placeLabels(this.#named(scene), this.#linesOf(scene), view.width, view.height, widthOf);
    for (const { text, left, middle } of labels) {
      context.strokeText(text, left, middle);
      context.fillText(text, left, middle);
    }
  }

  #widths = new Map();

  #widthOf(text) {
    if (!this.#widths.has(text)) {
      this.#widths.set(text, this.context.measureText(text).width);
    }
    return this.#widths.get(text);
  }

  // Items for labels, or that labels may not cover: first what is looked at.
  #named({ model, view, ask, sketch, start, goal, hover, cursor, obstacles, portals }) {
    const at = (place, text, reach) => {
      const [x, y] = this.#placeOf(place);
      return { text, x, y, across: reach, down: reach };
    };
    const marks = [start, goal, ...sketch.marked].filter((place) => place);
    const first = model.isGraph ? new Set([...marks, hover, cursor].filter((node) => node)) : new Set();
    const nodes = model.isGraph ? [...first, ...model.nodes.filter((node) => !first.has(node))] : [];
    const radius = model.isGraph ? radiusOf(view, model.lattice) : 0;
    return [
      ...(model.isGraph ? [] : marks.map((place) => at(place, "", 14))),
      ...(ask.answer?.marks ?? []).map(({ place }) => at(place, "", 14)),
      ...[...sketch.areas, ...obstacles].flatMap(({ id, area }) => {
        const { left, top, right, bottom } = area.outline.bounds;
        const [x, y] = view.toScreen((left + right) / 2, (top + bottom) / 2);
        const [across, down] = [right - left, bottom - top].map((length) => (length / 2) * view.scale);
        return across < LEAST_ACROSS_FOR_NAME ? [] : [{ text: id, x, y, across, down, isArea: true }];
      }),
      ...portals.flatMap(({ text, ends }) => ends.map((end) => at(end, text, PORTAL_RADIUS))),
      ...nodes.map((node) => at(node, node.id, marks.includes(node) ? 12 : radius)),
    ];
  }

  *#linesOf({ model, view, answer }) {
    if (model.isGraph) {
      yield* linksInSight(view, model.links, (node) => this.#placeOf(node));
    }
    for (const line of [...(answer?.lines ?? []), ...(answer?.jumps ?? [])]) {
      const places = line.map((place) => this.#placeOf(place));
      yield* places.slice(1).map((place, i) => [places[i], place]);
    }
  }
}

function hatchOf(context, color) {
  const tile = new OffscreenCanvas(HATCH, HATCH);
  const line = lineThrough([[-1, 1], [1, -1]]);
  line.addPath(lineThrough([[0, HATCH], [HATCH, 0]]));
  line.addPath(lineThrough([[HATCH - 1, HATCH + 1], [HATCH + 1, HATCH - 1]]));
  stroke(tile.getContext("2d"), color, 2, line);
  return context.createPattern(tile, "repeat");
}
