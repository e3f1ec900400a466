// Draws a moment: the map, the search on it, the path, and the marks.

import { drawGraph } from "./graph_painter.js";
import { boundsOf } from "./lattice.js";
import { drawIntervals, partByHeights } from "./mesh_painter.js";
import { stroke, trace } from "./pen.js";
import { OPEN, CLOSED } from "./search_player.js";
import { TileLayer } from "./tiles.js";
import { colorOf, mapColors, pixelsOf } from "./theme.js";

// From how many pixels a cell on hexagons are drawn as such, and squares get lines between them.
const FINE_SCALE = 7;
// What the server draws on, in every theme.
const PAPER = "#ffffff";
// Of a path on a graph or a mesh.
const ROUTE_WIDTH = 5;

const INKS = [
  "outside", "text", "wall", "edge", "closed-edge", "grid", "path", "path-edge", "route", "start", "goal", "cursor",
  "open", "closed", "open-rim", "trail", "obstacle",
];

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
  }

  // After another map, or another theme.
  prepare(model) {
    this.ink = Object.fromEntries(INKS.map((name) => [name, colorOf(name)]));
    this.searchColors = new Map([
      [OPEN, this.ink.open],
      [CLOSED, this.ink.closed],
    ]);
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
    const { model, view, start, goal, cursor, hover, footprint, brush } = scene;
    const { context } = this;
    const ratio = this.canvas.width / view.width;
    this.ratio = ratio;
    this.view = view;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = model?.isMesh ? PAPER : this.ink.outside;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (!model) {
      return;
    }
    this.lattice = model.lattice;
    this.hasCells = Boolean(model.cells);
    if (model.isMesh) {
      this.#drawMesh(scene);
      if (scene.isOblique) {
        return;
      }
    } else if (model.isGraph) {
      this.#drawGraph(scene);
    } else {
      this.#drawGridMap(scene);
    }
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

  #drawGridMap({ view, player, answer, footprint, obstacles }) {
    this.#drawLayer(this.base, this.colors.css);
    if (player.isLoaded) {
      this.#drawSearch(player);
    }
    if (!this.lattice.isHex && view.scale >= FINE_SCALE) {
      this.#drawGrid();
    }
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    obstacles.forEach((obstacle) => this.#drawObstacle(obstacle));
    this.#drawTrail(player);
    if (answer) {
      this.#drawPath(answer, footprint, Math.min(Math.max(view.scale * 0.22, 2.5), 9), this.ink.path);
    }
  }

  // What the search finds is shown when it is over.
  #drawGraph(scene) {
    const { view, player, answer } = scene;
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    drawGraph(this.context, view, scene, this.ink, () => {
      this.#drawTrail(player);
      if (answer && (!player.isLoaded || player.isAtEnd)) {
        this.#drawPath(answer, 1, ROUTE_WIDTH, this.ink.route);
      }
    });
  }

  // Seen from the side or at some heights, the picture has the path, unless a search is shown.
  #drawMesh({ view, model, player, answer, picture, isOblique }) {
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.context.imageSmoothingEnabled = true;
    picture.draw(this.context, model.lattice, view);
    if (player.isLoaded) {
      drawIntervals(this.context, model, player, (point) => this.#placeOf(point), this.ink);
    }
    if (answer && (player.isLoaded ? player.isAtEnd : !isOblique && !model.hasHeights)) {
      const parts = answer.lines.map((line) => partByHeights(line, model.heights));
      this.#drawFaint(parts.flatMap(({ faint }) => faint));
      this.#drawPath({ ...answer, lines: parts.flatMap(({ plain }) => plain) }, 1, ROUTE_WIDTH, this.ink.route);
    }
    if (player.isLoaded && isOblique && answer) {
      const points = answer.lines.flat();
      this.#drawMark(points[0], this.ink.start, "S", 1);
      this.#drawMark(points.at(-1), this.ink.goal, "G", 1);
    }
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
    const corners = [
      [0, 0],
      [view.width, 0],
      [0, view.height],
      [view.width, view.height],
    ].map(([px, py]) => lattice.cellAt(...view.toMap(px, py)));
    return boundsOf(corners.map(({ x, y }) => [x, y, 1]));
  }

  #drawLayer(layer, css) {
    const { context, view } = this;
    if (this.lattice.isHex && view.scale >= FINE_SCALE) {
      context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
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
    for (let y = Math.max(part.top, 0); y <= Math.min(part.bottom, lattice.height - 1); ++y) {
      for (let x = Math.max(part.left, 0); x <= Math.min(part.right, lattice.width - 1); ++x) {
        const value = values[y * lattice.width + x];
        const [px, py] = view.toScreen(...lattice.center(x, y));
        const isSeen = px > -view.scale && py > -view.scale && px < view.width + view.scale && py < view.height + view.scale;
        if (isSeen && css.has(value)) {
          if (!paths.has(value)) {
            paths.set(value, new Path2D());
          }
          this.#addHexagon(paths.get(value), px, py, 0.95);
        }
      }
    }
    for (const [value, path] of paths) {
      context.fillStyle = css.get(value);
      context.fill(path);
    }
  }

  #addHexagon(path, px, py, size) {
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
    const { context, view, lattice, ratio } = this;
    const part = this.#part();
    const [left, top] = view.toScreen(0, 0);
    const [right, bottom] = view.toScreen(lattice.width, lattice.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.beginPath();
    for (let x = Math.max(part.left, 0); x <= Math.min(part.right, lattice.width); ++x) {
      const px = view.toScreen(x, 0)[0];
      context.moveTo(px, Math.max(top, 0));
      context.lineTo(px, Math.min(bottom, view.height));
    }
    for (let y = Math.max(part.top, 0); y <= Math.min(part.bottom, lattice.height); ++y) {
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

  #drawPath({ lines, jumps }, footprint, width, color) {
    const { context } = this;
    context.lineJoin = context.lineCap = "round";
    for (const cells of lines) {
      this.#trace(cells, footprint);
      stroke(context, this.ink["path-edge"], width + 3);
      stroke(context, color, width);
    }
    context.setLineDash([width, width * 2]);
    for (const jump of jumps) {
      this.#trace(jump, footprint);
      context.stroke();
    }
    context.setLineDash([]);
  }

  // What of a path lies at heights that are not shown.
  #drawFaint(lines) {
    const { context } = this;
    context.lineJoin = context.lineCap = "round";
    context.lineWidth = ROUTE_WIDTH * 0.75;
    context.strokeStyle = this.ink.route;
    context.globalAlpha = 0.55;
    context.setLineDash([ROUTE_WIDTH * 2, ROUTE_WIDTH * 2]);
    for (const line of lines) {
      this.#trace(line, 1);
      context.stroke();
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
    context.font = `700 ${Math.round(radius * 1.1)}px Inter, system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(letter, px, py + radius * 0.06);
  }

  #outline(cell, color, width) {
    const { context, lattice, view } = this;
    const path = new Path2D();
    const [px, py] = view.toScreen(...lattice.center(cell.x, cell.y));
    if (lattice.isHex) {
      this.#addHexagon(path, px, py, 1);
    } else if (!this.hasCells) {
      path.arc(px, py, 12, 0, 2 * Math.PI);
    } else {
      const side = Math.max(view.scale, 4);
      path.rect(px - side / 2, py - side / 2, side, side);
    }
    stroke(context, color, width, path);
  }

  // Named ones, by their bounds.
  #drawObstacle({ id, bounds }) {
    const { context, view } = this;
    const [left, top] = view.toScreen(bounds.left, bounds.top);
    const [right, bottom] = view.toScreen(bounds.right, bounds.bottom);
    context.setLineDash([5, 4]);
    context.lineWidth = 1.5;
    context.strokeStyle = this.ink.obstacle;
    context.strokeRect(left, top, right - left, bottom - top);
    context.setLineDash([]);
    if (right - left > 24) {
      context.font = "600 11px Inter, system-ui, sans-serif";
      context.textAlign = "left";
      context.textBaseline = "bottom";
      context.fillStyle = this.ink.obstacle;
      context.fillText(id, left + 2, top - 2);
    }
  }
}
