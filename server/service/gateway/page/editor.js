// Paints walls and terrains, lifts walls, and takes strokes back. What is painted shows at once; the server is told of it
// in batches, one at a time.

import { call, needRpcError, oneAtATime } from "./api.js";
import { WALL } from "./map_model.js";

// Of an edit, and edits of a request: as many as fit one.
const MAX_CELLS = 1000;
const MAX_EDITS = 20;

const EDITS = {
  wall: (shape) => ({ block: shape }),
  lift: (shape) => ({ unblock: shape }),
  terrain: (shape, symbol) => ({ setTerrain: { shape, terrain: String.fromCharCode(symbol) } }),
};

export class Editor {
  // `model()` is the map that is shown. `events` has painted(), changed() and problem(error).
  constructor(model, events) {
    this.model = model;
    this.events = events;
    this.strokes = [];
    this.stroke = null;
    this.waiting = [];
  }

  clear() {
    this.strokes = [];
    this.stroke = null;
    this.events.changed();
  }

  get canUndo() {
    return this.strokes.length > 0;
  }

  // `tool` is "wall", "lift" or "terrain", the last with the symbol of one.
  begin(tool, symbol) {
    this.stroke = { tool, symbol, before: new Map() };
  }

  // Cells that look so already are passed over.
  paint(cells) {
    if (!this.stroke) {
      // Another map was opened meanwhile.
      return;
    }
    const { tool, symbol, before } = this.stroke;
    const model = this.model();
    const look = this.#lookOf(tool, symbol);
    const fresh = cells.filter((cell) => {
      const now = model.at(cell);
      const wanted = tool === "lift" ? now === WALL : now !== 0 && now !== WALL && now !== look;
      return wanted && !before.has(cell.y * model.width + cell.x);
    });
    if (fresh.length === 0) {
      return;
    }
    for (const cell of fresh) {
      before.set(cell.y * model.width + cell.x, model.at(cell));
      model.set(cell, look);
    }
    this.#send(tool, symbol, fresh);
    this.events.painted();
  }

  end() {
    if (this.stroke?.before.size > 0) {
      this.strokes.push(this.stroke);
    }
    this.stroke = null;
    this.events.changed();
  }

  // Of the cells of the last stroke, those that nobody has changed since.
  undo() {
    const stroke = this.strokes.pop();
    if (!stroke) {
      return;
    }
    const model = this.model();
    const look = this.#lookOf(stroke.tool, stroke.symbol);
    const bySymbol = new Map();
    for (const [index, before] of stroke.before) {
      const cell = { x: index % model.width, y: Math.floor(index / model.width) };
      if (stroke.tool === "lift" ? model.at(cell) !== WALL : model.at(cell) === look) {
        bySymbol.set(before, [...(bySymbol.get(before) ?? []), cell]);
      }
    }
    for (const [before, cells] of bySymbol) {
      cells.forEach((cell) => model.set(cell, before));
      const tool = { wall: "lift", lift: "wall", terrain: "terrain" }[stroke.tool];
      this.#send(tool, before, cells);
    }
    this.events.painted();
    this.events.changed();
  }

  // What lies below a wall is not known until the map is read again.
  #lookOf(tool, symbol) {
    return tool === "wall" ? WALL : tool === "terrain" ? symbol : ".".charCodeAt(0);
  }

  #send(tool, symbol, cells) {
    const { map } = this.model().info;
    for (let i = 0; i < cells.length; i += MAX_CELLS) {
      this.waiting.push({ map, edit: EDITS[tool]({ cells: cells.slice(i, i + MAX_CELLS) }, symbol) });
    }
    this.#sendAll();
  }

  #sendAll = oneAtATime(async () => {
    while (this.waiting.length > 0) {
      const { map } = this.waiting[0];
      let count = 1;
      while (count < MAX_EDITS && this.waiting[count]?.map === map) {
        ++count;
      }
      const edits = this.waiting.splice(0, count).map(({ edit }) => edit);
      try {
        await call("MapService/UpdateMap", { map, edits, requestId: requestId() });
      } catch (error) {
        needRpcError(error);
        this.waiting = [];
        this.events.problem(error);
      }
    }
  });
}

// Makes it harmless to send a batch again.
function requestId() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16)).join("-");
}

// The cells under a brush that is drawn from one cell to another.
export function brushed(lattice, from, to, size) {
  const steps = Math.max(lattice.steps(from, to), 1);
  const cells = new Map();
  const reach = (size - 1) / 2;
  const [ax, ay] = lattice.center(from.x, from.y);
  const [bx, by] = lattice.center(to.x, to.y);
  for (let i = 0; i <= steps; ++i) {
    const at = lattice.cellAt(ax + ((bx - ax) * i) / steps, ay + ((by - ay) * i) / steps);
    for (let dy = -reach; dy <= reach; ++dy) {
      for (let dx = -reach; dx <= reach; ++dx) {
        const cell = { x: at.x + dx, y: at.y + dy };
        if (lattice.steps(at, cell) <= reach && lattice.holds(cell)) {
          cells.set(`${cell.x},${cell.y}`, cell);
        }
      }
    }
  }
  return [...cells.values()];
}
