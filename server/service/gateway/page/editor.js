// Makes one's own edits, takes them back and makes them again: strokes of walls and terrains, which show at once, and
// changes of named obstacles and portals. The server is told of all in their order, of strokes in batches.

import { call, listAll, needRpcError } from "./api.js";
import { WALL } from "./map_model.js";
import { element } from "./panel.js";
import { amountText } from "./words.js";

// Of an edit, and edits of a request: as many as fit one.
const MAX_CELLS = 1000;
const MAX_EDITS = 20;

const EDITS = {
  wall: (shape) => ({ block: shape }),
  lift: (shape) => ({ unblock: shape }),
  terrain: (shape, symbol) => ({ setTerrain: { shape, terrain: String.fromCharCode(symbol) } }),
};
const OPPOSITES = { wall: "lift", lift: "wall", terrain: "terrain" };

export class Editor {
  // The steps that can be taken back, and made again.
  done = [];
  undone = [];
  stroke = null;
  #waiting = [];
  #last = Promise.resolve();

  constructor(app) {
    this.app = app;
  }

  clear() {
    this.done = [];
    this.undone = [];
    this.stroke = null;
    this.#changed();
  }

  // `tool` is "wall", "lift" or "terrain", the last with the symbol of one. What lies below a wall is not known until
  // the map is read again.
  begin(tool, symbol) {
    const look = { wall: WALL, lift: ".".charCodeAt(0), terrain: symbol }[tool];
    this.stroke = { tool, look, befores: new Map() };
  }

  // Cells that look so already are passed over.
  paint(cells) {
    if (!this.stroke) {
      // Another map was opened meanwhile.
      return;
    }
    const { tool, look, befores } = this.stroke;
    const { model } = this.app;
    const fresh = cells.filter((cell) => {
      const now = model.at(cell);
      const wanted = tool === "lift" ? now === WALL : now !== 0 && now !== WALL && now !== look;
      return wanted && !befores.has(cell.y * model.width + cell.x);
    });
    if (fresh.length > 0) {
      fresh.forEach((cell) => befores.set(cell.y * model.width + cell.x, { cell, before: model.at(cell) }));
      this.#show(tool, look, fresh);
    }
  }

  end() {
    const { tool, look, befores } = this.stroke ?? {};
    this.stroke = null;
    if (befores?.size > 0) {
      this.#add({ tool, look, cells: [...befores.values()] });
    }
  }

  // Makes edits of a map that change obstacles or portals of these ids. `kind` is "Obstacle" or "Portal".
  change(map, kind, ids, edits) {
    return this.#inOrder(async () => {
      const before = await readNamed(map, kind);
      await update(map, edits);
      const after = await readNamed(map, kind);
      this.#add({ map, kind, things: ids.map((id) => ({ id, before: before.get(id), after: after.get(id) })) });
    });
  }

  undo() {
    return this.#turn("done", "undone");
  }

  redo() {
    return this.#turn("undone", "done");
  }

  #changed() {
    element("undo").disabled = this.done.length === 0;
    element("redo").disabled = this.undone.length === 0;
  }

  #add(step) {
    this.done.push(step);
    this.undone = [];
    this.#changed();
  }

  #turn(from, to) {
    return this.#inOrder(async () => {
      const step = this[from].pop();
      if (!step) {
        return;
      }
      const isBack = to === "undone";
      const { turned, kept } = step.tool ? this.#turnStroke(step, isBack) : await turnNamed(step, isBack);
      this[to].push(turned);
      if (kept) {
        this.app.note(`This has changed since, and stays as it is: ${kept}.`, "fair");
      }
      this.#changed();
    });
  }

  // Undoes or redoes a stroke on those of its cells that nobody has changed since.
  #turnStroke({ tool, look, cells }, isBack) {
    const { model } = this.app;
    const own = cells.filter(({ cell, before }) => {
      const now = model.at(cell);
      return isBack && tool === "lift" ? now !== WALL : now === (isBack ? look : before);
    });
    for (const [symbol, group] of Map.groupBy(own, ({ before }) => (isBack ? before : look))) {
      this.#show(isBack ? OPPOSITES[tool] : tool, symbol, group.map(({ cell }) => cell));
    }
    const others = cells.length - own.length;
    return { turned: { tool, look, cells: own }, kept: others > 0 && amountText(others, "cell") };
  }

  #show(tool, symbol, cells) {
    const { model } = this.app;
    cells.forEach((cell) => model.set(cell, symbol));
    for (let i = 0; i < cells.length; i += MAX_CELLS) {
      const edit = EDITS[tool]({ cells: cells.slice(i, i + MAX_CELLS) }, symbol);
      this.#waiting.push({ map: model.info.map, edit });
      this.#inOrder(() => this.#sendWaiting());
    }
    this.app.redraw();
  }

  async #sendWaiting() {
    const [first, ...rest] = this.#waiting.slice(0, MAX_EDITS);
    if (first) {
      const count = rest.findIndex(({ map }) => map !== first.map);
      const batch = this.#waiting.splice(0, count < 0 ? MAX_EDITS : count + 1);
      await update(first.map, batch.map(({ edit }) => edit)).catch((error) => {
        this.clear();
        throw error;
      });
    }
  }

  #inOrder(work) {
    this.#last = this.#last.then(work).catch((error) => {
      needRpcError(error);
      this.#waiting = [];
      this.app.open(this.app.map);
      this.app.note(error.message);
    });
    return this.#last;
  }
}

function update(map, edits) {
  return call("MapService/UpdateMap", { map, edits, requestId: requestId() });
}

async function readNamed(map, kind) {
  const all = await listAll(`MapService/List${kind}s`, { map, pageSize: 1000 }, `${kind.toLowerCase()}s`);
  return new Map(all.map((each) => [each.id, each]));
}

// Undoes or redoes a step on those of its obstacles or portals that nobody has changed since. If only the shape of an
// obstacle differs, its lifetime goes on.
async function turnNamed({ map, kind, things }, isBack) {
  const now = await readNamed(map, kind);
  const [from, to] = isBack ? ["after", "before"] : ["before", "after"];
  const textOf = (thing, without) => JSON.stringify({ ...thing, lifetime: undefined, ...without });
  const own = things.filter((each) => textOf(now.get(each.id)) === textOf(each[from]));
  const edits = own.map((each) => {
    const { id, [from]: old, [to]: next } = each;
    if (!next) {
      return { [`remove${kind}`]: id };
    }
    const isReshaped = old && kind === "Obstacle" && textOf(old, { shape: 0 }) === textOf(next, { shape: 0 });
    return isReshaped ? { resizeObstacle: { id, shape: next.shape } } : { [`put${kind}`]: next };
  });
  if (edits.length > 0) {
    await update(map, edits);
  }
  const kept = things.filter((each) => !own.includes(each)).map(({ id }) => id).join(", ");
  return { turned: { map, kind, things: own }, kept };
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
