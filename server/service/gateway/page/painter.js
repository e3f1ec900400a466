// Draws a moment: the map, the search on it, the path, and the marks.

import { drawGraph, linksInSight, radiusOf } from "./graph_painter.js";
import { placeLabels } from "./labels.js";
import { drawIntervals, partByHeights } from "./mesh_painter.js";
import { addArrowhead, stroke, trace } from "./pen.js";
import { CLOSED, OPEN } from "./search_player.js";
import { TileLayer } from "./tiles.js";
import { colorOf, mapColors, pixelsOf, rampColor } from "./theme.js";

// From how many pixels a cell on hexagons are drawn as such, and squares get lines between them.
const FINE_SCALE = 7;
// So that the ground of a search shows through.
const SEARCH_OPACITY = 0.8;
const OBSTACLE_OPACITY = 0.3;
const PORTAL_RADIUS = 7;
// Half the pixels from which an obstacle has its name beside it.
const LEAST_ACROSS_FOR_NAME = 8;
const FONT = "Inter, system-ui, sans-serif";

const INKS = [
  "outside", "text", "wall", "edge", "closed-edge", "grid", "path", "path-edge", "start", "goal", "cursor", "open",
  "open-rim", "trail", "obstacle", "dearer", "cheaper", "portal",
];

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
  }

  // After another map, or another theme.
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

  // After a map was read again.
  refresh(model) {
    if (model.cells) {
      this.base.values = model.cells;
    }
  }

  touchSearch({ x, y }) {
    this.search?.invalidate(x, y);
  }

  draw(scene) {
    const { model, view, start, goal, cursor, hover, footprint, brush, isOblique } = scene;
    const { context } = this;
    const ratio = this.canvas.width / view.width;
    this.ratio = ratio;
    this.view = view;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.ink.outside;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (!model) {
      return;
    }
    this.lattice = model.lattice;
    this.hasCells = Boolean(model.cells);
    const drawing = model.isMesh ? this.#drawMesh : model.isGraph ? this.#drawGraph : this.#drawCells;
    drawing.call(this, scene);
    if (isOblique) {
      return;
    }
    this.#drawPortals(scene);
    this.#drawLabels(scene);
    brush.forEach((cell) => this.#outline(cell, this.ink.cursor, 1.5));
    if (hover) {
      this.#outline(hover, this.ink.cursor, 1.5);
    }
    if (start) {
      this.#drawMark(start, this.ink.start, "S", footprint);
    }
    if (goal) {
      this.#drawMark(goal, this.ink.goal, "G", footprint);
    }
    if (cursor) {
      this.#outline(cursor, this.ink.cursor, 3);
    }
  }

  #drawCells({ view, player, answer, footprint, obstacles }) {
    this.#drawLayer(this.base, this.colors.css);
    if (player.isLoaded) {
      this.#drawSearch(player);
    }
    if (!this.lattice.isHex && view.scale >= FINE_SCALE) {
      this.#drawGrid();
    }
    this.#usePixels();
    this.#drawObstacles(obstacles);
    this.#drawTrail(player);
    this.#drawPath(answer, player, footprint);
  }

  #drawGraph(scene) {
    const { view, player, answer, obstacles } = scene;
    this.#usePixels();
    this.#drawObstacles(obstacles);
    drawGraph(this.context, view, scene, (node) => this.#placeOf(node), this.ink, () => {
      this.#drawTrail(player);
      this.#drawPath(answer, player);
    });
  }

  // Seen from the side the picture has the path, unless a search is shown.
  #drawMesh({ view, model, player, answer, picture, isOblique, obstacles }) {
    this.#usePixels();
    this.context.imageSmoothingEnabled = true;
    picture.draw(this.context, model.lattice, view);
    if (player.isLoaded) {
      drawIntervals(this.context, model, player, (point) => this.#placeOf(point), this.ink);
    }
    if (!isOblique) {
      this.#drawObstacles(obstacles);
    }
    if (answer && (player.isLoaded || !isOblique)) {
      const parts = answer.lines.map((line) => partByHeights(line, model.heights));
      this.#drawFaint(player, parts.flatMap(({ faint }) => faint));
      this.#drawPath({ ...answer, lines: parts.flatMap(({ plain }) => plain) }, player);
    }
    if (isOblique && answer) {
      const points = answer.lines.flat();
      this.#drawMark(points[0], this.ink.start, "S", 1);
      this.#drawMark(points.at(-1), this.ink.goal, "G", 1);
    }
  }

  #usePixels() {
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
  }

  #useCells() {
    const { view, ratio, context } = this;
    const [a, b, c, d, e, f] = this.lattice.matrix;
    const scale = view.scale * ratio;
    context.setTransform(a * scale, b * scale, c * scale, d * scale, (e - view.left) * scale, (f - view.top) * scale);
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
    this.#useCells();
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
    for (const [value, path] of paths) {
      context.fillStyle = css.get(value);
      context.fill(path);
    }
  }

  #addCell(path, px, py, size) {
    const reach = this.view.scale * size;
    trace(path, this.lattice.corners.map(([dx, dy]) => [px + dx * reach, py + dy * reach]));
    path.closePath();
  }

  #drawSearch(player) {
    if (this.search?.values !== player.states) {
      this.search = new TileLayer(this.lattice.width, this.lattice.height, player.states, pixelsOf(this.searchColors));
    }
    this.#drawLayer(this.search, this.searchColors);
  }

  #drawGrid() {
    const { context, view, lattice } = this;
    const part = this.#part();
    const [left, top] = view.toScreen(0, 0);
    const [right, bottom] = view.toScreen(lattice.width, lattice.height);
    this.#usePixels();
    context.beginPath();
    for (let x = part.left; x <= part.right + 1; ++x) {
      const px = view.toScreen(x, 0)[0];
      context.moveTo(px, Math.max(top, 0));
      context.lineTo(px, Math.min(bottom, view.height));
    }
    for (let y = part.top; y <= part.bottom + 1; ++y) {
      const py = view.toScreen(0, y)[1];
      context.moveTo(Math.max(left, 0), py);
      context.lineTo(Math.min(right, view.width), py);
    }
    stroke(context, this.ink.grid, 1);
  }

  // Where an agent of some size stands that is at a cell.
  #placeOf({ x, y, z }, footprint = 1) {
    const place =
      footprint === 1 ? this.lattice.center(x, y, z) : this.lattice.middleOf({ x, y }, footprint);
    return this.view.toScreen(...place);
  }

  #trace(cells, footprint) {
    this.context.beginPath();
    trace(this.context, cells.map((cell) => this.#placeOf(cell, footprint)));
  }

  get #pathWidth() {
    return Math.min(Math.max(this.view.scale * 0.22, 4), 8);
  }

  // The path that a search finds is shown when it is over.
  #isFound(player) {
    return !player.isLoaded || player.isAtEnd;
  }

  #drawPath(answer, player, footprint) {
    if (!answer || !this.#isFound(player)) {
      return;
    }
    const { context } = this;
    const width = this.#pathWidth;
    context.lineJoin = context.lineCap = "round";
    for (const cells of answer.lines) {
      this.#trace(cells, footprint);
      stroke(context, this.ink["path-edge"], width + 3);
      stroke(context, this.ink.path, width);
    }
    context.setLineDash([width, width * 2]);
    for (const jump of answer.jumps) {
      this.#trace(jump, footprint);
      stroke(context, this.ink.path, width);
    }
    context.setLineDash([]);
  }

  // What of a path lies at heights that are not shown.
  #drawFaint(player, lines) {
    const { context } = this;
    const width = this.#pathWidth;
    context.globalAlpha = 0.55;
    context.setLineDash([width * 2, width * 2]);
    for (const line of this.#isFound(player) ? lines : []) {
      this.#trace(line, 1);
      stroke(context, this.ink.path, width * 0.75);
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  #drawTrail(player) {
    const { context } = this;
    if (player.current && !player.isAtEnd) {
      this.#trace(player.trail());
      context.lineJoin = context.lineCap = "round";
      stroke(context, this.ink.trail, Math.min(Math.max(this.view.scale * 0.1, 1.5), 4));
      this.#outline(player.currentPlace, this.ink.trail, 2.5);
    }
  }

  #drawMark(cell, color, letter, footprint) {
    const { context, view } = this;
    if (footprint > 1) {
      for (let i = 0; i < footprint * footprint; ++i) {
        this.#outline({ x: cell.x + (i % footprint), y: cell.y + Math.floor(i / footprint) }, color, 1);
      }
    }
    const [px, py] = this.#placeOf(cell, footprint);
    const radius = Math.min(Math.max(view.scale * 0.38, 9), 16);
    context.beginPath();
    context.arc(px, py, radius, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.fill();
    stroke(context, this.ink["path-edge"], 2);
    context.fillStyle = this.ink["path-edge"];
    context.font = `700 ${Math.round(radius * 1.1)}px ${FONT}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(letter, px, py + radius * 0.06);
  }

  #outline(cell, color, width) {
    const { context, lattice, view } = this;
    const path = new Path2D();
    const [px, py] = view.toScreen(...lattice.center(cell.x, cell.y));
    if (this.hasCells) {
      this.#addCell(path, px, py, Math.max(1, 4 / view.scale));
    } else {
      path.arc(px, py, 12, 0, 2 * Math.PI);
    }
    stroke(context, color, width, path);
  }

  // From afar, the box of one on a grid stands for its outline, which may have many corners.
  #drawObstacles(obstacles) {
    const { context, view, ratio } = this;
    const scale = view.scale * ratio;
    const isAfar = this.hasCells && view.scale < FINE_SCALE;
    context.setTransform(scale, 0, 0, scale, -view.left * scale, -view.top * scale);
    context.setLineDash([5 / view.scale, 4 / view.scale]);
    for (const { area, ink } of obstacles.filter((each) => this.#isInSight(each))) {
      const { fill, rim, bounds } = area.outline;
      context.lineWidth = 1.5 / view.scale;
      context.strokeStyle = context.fillStyle = this.ink[ink];
      if (isAfar) {
        context.strokeRect(bounds.left, bounds.top, bounds.right - bounds.left, bounds.bottom - bounds.top);
      } else {
        context.globalAlpha = OBSTACLE_OPACITY;
        context.fill(fill);
        context.globalAlpha = 1;
        context.stroke(rim);
      }
    }
    context.setLineDash([]);
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
    context.setLineDash([3, 4]);
    stroke(context, ink.portal, 1.5, lines);
    context.setLineDash([]);
    context.fillStyle = ink.portal;
    context.fill(heads);
    for (const { ends, isClosed } of portals) {
      for (const [x, y] of ends.map((end) => this.#placeOf(end))) {
        const diamond = new Path2D();
        const reach = PORTAL_RADIUS;
        trace(diamond, [[x - reach, y], [x, y - reach], [x + reach, y], [x, y + reach]]);
        diamond.closePath();
        context.fillStyle = isClosed ? ink.outside : ink.portal;
        context.fill(diamond);
        stroke(context, isClosed ? ink.portal : ink["path-edge"], 1.5, diamond);
      }
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
    context.lineJoin = "round";
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
  #named({ model, view, start, goal, hover, cursor, obstacles, portals }) {
    const at = (place, text, reach) => {
      const [x, y] = this.#placeOf(place);
      return { text, x, y, across: reach, down: reach };
    };
    const marks = [start, goal].filter((place) => place);
    const first = model.isGraph ? new Set([...marks, hover, cursor].filter((node) => node)) : new Set();
    const nodes = model.isGraph ? [...first, ...model.nodes.filter((node) => !first.has(node))] : [];
    const radius = model.isGraph ? radiusOf(view, model.lattice) : 0;
    return [
      ...(model.isGraph ? [] : marks.map((place) => at(place, "", 14))),
      ...obstacles.flatMap(({ id, area }) => {
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
