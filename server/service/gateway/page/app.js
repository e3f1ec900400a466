// Puts the parts of the page together, and holds what they share.

import { pause, call } from "./api.js";
import { readAddress, writeAddress } from "./address.js";
import { listenToControls } from "./controls.js";
import { Editor } from "./editor.js";
import { GraphModel, MAX_NODES, readGraph } from "./graph_model.js";
import { areasHold, placeAreas } from "./graph_obstacles.js";
import { MapFeed, readMap } from "./map_feed.js";
import { MapList } from "./map_list.js";
import { MapModel } from "./map_model.js";
import { MeshModel, readMesh } from "./mesh_model.js";
import { MeshPicture } from "./mesh_picture.js";
import { covers, placeObstacles } from "./obstacles.js";
import { Painter } from "./painter.js";
import { showAnswer, showCell, showEnds, showLink, showNothing, showPlayer, showProblem } from "./panel.js";
import { PathQuery, linesOf } from "./path_query.js";
import { Pointer } from "./pointer.js";
import { CellPlaces, IntervalPlaces, NodePlaces } from "./search_places.js";
import { SearchPlayer } from "./search_player.js";
import { onThemeChange } from "./theme.js";
import { ToolBar } from "./tool_bar.js";
import { Tools } from "./tools.js";
import { View } from "./view.js";
import { algorithmText, costText, countText, sizeText } from "./words.js";

const MAX_OBSTACLES = 1000;
const GRAPH_OPTIONS = ["algorithm", "unreachablePolicy"];
const GRAPH_ALGORITHMS = ["ALGORITHM_AUTO", "ALGORITHM_ASTAR", "ALGORITHM_DIJKSTRA"];
const MESH_OPTIONS = ["unreachablePolicy"];
const MAX_PIXELS_TO_NODE = 30;
const NOTE_MILLIS = 8000;

const element = (id) => document.getElementById(id);
const canvas = element("map");
const options = [...document.querySelectorAll("[data-option]")];

class App {
  view = new View();
  painter = new Painter(canvas);
  tools = new Tools(this);
  toolBar = new ToolBar(this.tools);
  // The id of the map that is shown, and its cells once they are there.
  map = "";
  model = null;
  feed = null;
  start = null;
  goal = null;
  cursor = null;
  hover = null;
  path = null;
  // The ends of which the ground is asked for.
  landing = {};
  // Why a change was refused, while it is shown.
  note = "";
  obstacles = [];
  isDrawing = false;
  // Of a mesh: whether it is seen from the side, and its picture.
  isOblique = false;
  picture = new MeshPicture({
    drawn: (placement) => this.#pictured(placement),
    problem: (error) => showProblem(error),
  });

  player = new SearchPlayer(
    () => this.#searchMoved(),
    (place) => this.painter.touchSearch(place),
  );
  editor = new Editor(() => this.model, {
    painted: () => this.redraw(),
    changed: () => (element("undo").disabled = !this.editor.canUndo),
    problem: (error) => {
      this.#open(this.map);
      this.#note(error.message);
    },
  });
  query = new PathQuery(() => this.question(), {
    answer: (answer) => this.#answered(answer),
    problem: (error) => {
      this.#forgetPath();
      showProblem(error);
    },
    nothing: () => {
      this.#forgetPath();
      showNothing(this.start ? "Now press the goal." : this.#firstSentence);
    },
  });
  list = new MapList(element("map-list"), {
    choose: (map) => this.#open(map),
    listed: (maps) => this.#listed(maps),
    down: (error) => this.#down(error),
  });

  get isGrid() {
    return this.model !== null && !this.model.isGraph && !this.model.isMesh;
  }

  get footprint() {
    return this.isGrid ? Number(element("option-footprint").value) : 1;
  }

  get #firstSentence() {
    if (this.model?.isMesh) {
      return this.isOblique ? "Seen from the side, a press is on no floor." : "Press two places: the start, then the goal.";
    }
    return this.model?.isGraph ? "Press two nodes: the start, then the goal." : "Press two cells: the start, then the goal.";
  }

  question() {
    if (!this.model || !this.start || !this.goal) {
      return null;
    }
    const { map, start, goal } = this;
    const chosen = Object.fromEntries(options.map((each) => [each.dataset.option, each.value]));
    const { algorithm, unreachablePolicy, pathForm, cornerRule } = chosen;
    const query = { map, start: this.#locationOf(start), goals: [this.#locationOf(goal)], algorithm, unreachablePolicy };
    return this.model.isGraph || this.model.isMesh ? query : { ...query, pathForm, agent: { cornerRule, footprint: this.footprint } };
  }

  #locationOf({ x, y, z, id }) {
    if (this.model.isMesh) {
      return { position: { x, y, z } };
    }
    return this.model.isGraph ? { node: id } : { cell: { x, y } };
  }

  // Of the canvas; null off the map.
  cellAt(px, py) {
    if (!this.model) {
      return null;
    }
    const cell = this.model.lattice.cellAt(...this.view.toMap(px, py));
    if (this.model.at(cell) === 0) {
      return null;
    }
    if (this.model.isMesh) {
      const isThere = (end) => end?.x === cell.x && end.y === cell.y;
      return this.isOblique ? null : ([this.start, this.goal].find(isThere) ?? this.model.onFloor(cell));
    }
    const [x, y] = this.view.toScreen(...this.model.lattice.center(cell.x, cell.y));
    return this.model.isGraph && Math.hypot(x - px, y - py) > MAX_PIXELS_TO_NODE ? null : cell;
  }

  placeOf(cell) {
    const { lattice } = this.model;
    const hasCells = !this.model.isGraph && !this.model.isMesh;
    return this.view.toScreen(
      ...(hasCells ? lattice.middleOf(cell, this.footprint) : lattice.center(cell.x, cell.y)),
    );
  }

  setEnd(end, cell) {
    this[end] = cell;
    this.settle();
  }

  // While an end is dragged.
  moveEnd(end, cell) {
    this[end] = cell;
    this.player.clear();
    this.#showEnds();
    this.query.ask();
    this.redraw();
  }

  // After a change of the question, by a drag that has ended perhaps.
  settle() {
    this.#showEnds();
    this.query.follow();
    this.redraw();
    this.#land("start");
    this.#land("goal");
  }

  // A place of a mesh that was pressed takes the height of the ground there.
  async #land(end) {
    const place = this[end];
    if (!place?.isAloft || !this.model?.isMesh || this.landing[end] === place) {
      return;
    }
    this.landing[end] = place;
    const ground = await this.model.land(place).catch(() => null);
    if (ground && this[end] === place) {
      this.setEnd(end, ground);
    }
  }

  setHover(cell) {
    this.hover = cell;
    this.#showCell(cell ?? this.cursor);
    this.redraw();
  }

  redraw() {
    if (this.isDrawing) {
      return;
    }
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      const { model, view, player, path, start, goal, cursor, hover, footprint, obstacles } = this;
      const brush = model ? this.tools.preview(hover) : [];
      const { picture, isOblique } = this;
      if (model?.isMesh) {
        // The page draws the path itself on top of a search.
        const query = player.isLoaded ? null : this.question();
        picture.want(model, view, canvas.width / view.width, isOblique, query);
      }
      this.painter.draw({
        model, view, player, answer: path, start, goal, cursor, hover, footprint, brush, obstacles, picture, isOblique,
      });
    });
  }

  async run() {
    new Pointer(canvas, this.tools);
    new ResizeObserver(() => this.#resized()).observe(element("frame"));
    onThemeChange(() => this.#prepare());
    listenToControls(this, options);
    this.#prepare();
    showPlayer(this.player, false);
    showLink("waiting", location.host);
    await this.#configure();
    this.list.run();
  }

  async #configure() {
    const info = await call("ServerService/GetServerInfo", {}).catch(() => ({ algorithms: [] }));
    for (const algorithm of info.algorithms ?? []) {
      element("option-algorithm").add(new Option(algorithmText(algorithm), algorithm));
    }
  }

  #listed(maps) {
    if (!this.map && maps.length > 0) {
      const asked = readAddress();
      this.start = asked.start;
      this.goal = asked.goal;
      this.#open(maps.some((info) => info.map === asked.map) ? asked.map : maps[0].map, true);
    }
    if (maps.length === 0) {
      this.#say("There are no maps on this server yet.");
    }
    this.#showLive();
  }

  #open(map, keepsEnds = map === this.map) {
    this.feed?.stop();
    this.feed = null;
    this.query.stop();
    this.player.clear();
    this.editor.clear();
    this.picture.forget();
    this.path = null;
    if (map !== this.map || !this.isGrid) {
      this.model = null;
      this.cursor = null;
      this.hover = null;
      this.obstacles = [];
    }
    if (!keepsEnds) {
      this.start = null;
      this.goal = null;
    }
    this.map = map;
    this.#say("");
    this.list.choose(map);
    document.title = `${map} – Waystar inspector`;
    this.#showEnds();
    showNothing(this.#firstSentence);
    this.redraw();
    const info = this.list.maps.find((each) => each.map === map);
    if (info?.graph?.nodes > MAX_NODES) {
      this.#say(`${map} has more nodes than there is a picture for: ${countText(info.graph.nodes)}.`);
      return;
    }
    this.#follow(map, info?.kind);
  }

  #follow(map, kind) {
    const [fresh, read] =
      kind === "MAP_KIND_WAYPOINT_GRAPH"
        ? [new GraphModel(), readGraph]
        : kind === "MAP_KIND_MESH"
          ? [new MeshModel(), readMesh]
          : [new MapModel((x, y) => this.painter.base?.invalidate(x, y)), readMap];
    const model = this.model ?? fresh;
    this.feed = new MapFeed(model, read, {
      map: (isNew) => this.#mapRead(model, isNew),
      revision: () => this.#revised(),
      up: () => this.#showLive(),
      down: (error) => this.#down(error),
      gone: () => {
        this.query.stop();
        this.map = "";
        this.model = null;
        this.#say(`The map ${map} is gone.`);
        this.redraw();
      },
    });
    this.feed.run(map);
  }

  #mapRead(model, isNew) {
    for (const name of ["start", "goal", "cursor", "hover"]) {
      this[name] = model.again(this[name]);
    }
    if (isNew || this.model !== model) {
      this.model = model;
      this.view.show(model.lattice.bounds);
      this.#prepare();
      this.toolBar.offer(model);
      this.#offerOptions();
      this.#offerFloors();
    } else {
      this.view.follow(model.lattice.bounds);
      this.painter.refresh(model);
    }
    element("places").hidden = !model.isLaidOut;
    this.settle();
    this.#revised();
  }

  // What a question can ask of this kind of map.
  #offerOptions() {
    const { isGraph, isMesh } = this.model;
    const known = isGraph ? GRAPH_OPTIONS : isMesh ? MESH_OPTIONS : null;
    options.forEach((each) => (each.disabled = known !== null && !known.includes(each.dataset.option)));
    const algorithm = element("option-algorithm");
    [...algorithm.options].forEach((each) => (each.disabled = isGraph && !GRAPH_ALGORITHMS.includes(each.value)));
    if (isMesh || algorithm.selectedOptions[0].disabled) {
      algorithm.value = "ALGORITHM_AUTO";
    }
  }

  // A mesh is shown with all of its heights at first, from above.
  #offerFloors() {
    element("floors").hidden = !this.model.isMesh;
    this.isOblique = false;
    element("oblique").checked = false;
    for (const [id, end] of [["height-low", "low"], ["height-high", "high"]]) {
      element(id).value = "";
      element(id).placeholder = this.model.isMesh ? String(Number(this.model.lattice[end].z.toFixed(2))) : "";
    }
  }

  // After the heights or the side were chosen.
  changeFloors() {
    const heightIn = (id) => (element(id).value === "" ? undefined : Number(element(id).value));
    const [low, high] = [heightIn("height-low"), heightIn("height-high")];
    this.model.heights = { ...(low !== undefined && { low }), ...(high !== undefined && { high }) };
    const isOblique = element("oblique").checked;
    if (isOblique !== this.isOblique) {
      this.isOblique = isOblique;
      this.hover = null;
      this.picture.forget();
      if (!isOblique) {
        this.#lookFrom(1, 0);
      }
      if (!this.question()) {
        showNothing(this.#firstSentence);
      }
    }
    this.redraw();
  }

  #lookFrom(depth, rise) {
    const { lattice } = this.model;
    if (lattice.depth !== depth || lattice.rise !== rise) {
      lattice.lookFrom(depth, rise);
      this.view.show(lattice.bounds);
    }
  }

  // The picture says from where it was drawn.
  #pictured({ xStep, yStep, zStep }) {
    if (this.model?.isMesh) {
      this.#lookFrom(this.isOblique ? yStep.y / xStep.x : 1, this.isOblique ? -(zStep?.y ?? 0) / xStep.x : 0);
      this.redraw();
    }
  }

  #revised() {
    this.list.update(this.map, String(this.feed.latest));
    this.#showEnds();
    this.#showCell(this.hover ?? this.cursor);
    this.#readObstacles();
    this.redraw();
  }

  async #readObstacles() {
    const { map, feed } = this;
    if (this.isReadingObstacles || !feed || !this.model) {
      return;
    }
    this.isReadingObstacles = true;
    const { latest, epoch } = feed;
    try {
      const { obstacles } = await call("MapService/ListObstacles", { map, pageSize: MAX_OBSTACLES });
      if (this.feed === feed && this.model) {
        this.obstacles = this.#placed(obstacles ?? []);
        this.#showCell(this.hover ?? this.cursor);
        this.redraw();
      }
      await pause(200);
    } catch {
      // The feed tells what is wrong.
    }
    this.isReadingObstacles = false;
    if (this.feed && (this.feed !== feed || feed.latest !== latest || feed.epoch !== epoch)) {
      this.#readObstacles();
    }
  }

  // None among nodes whose places are not those of the world.
  #placed(obstacles) {
    const { isGraph, isLaidOut, lattice } = this.model;
    return isLaidOut ? [] : isGraph ? placeAreas(obstacles) : placeObstacles(obstacles, lattice);
  }

  // Says it for a while, whatever else is shown meanwhile.
  #note(text) {
    this.note = text;
    this.#showLive();
    clearTimeout(this.noteTimer);
    this.noteTimer = setTimeout(() => {
      this.note = "";
      this.#showLive();
    }, NOTE_MILLIS);
  }

  #showLive() {
    if (!this.feed?.isDown) {
      showLink("live", location.host, this.note);
    }
  }

  #down(error) {
    showLink("down", location.host, `${location.host}: ${error.message}. Trying again …`);
  }

  #say(text) {
    element("empty").textContent = text;
    element("empty").hidden = !text;
  }

  #answered(answer) {
    this.path = linesOf(answer, this.model);
    const { isGraph, isMesh } = this.model;
    const stops = isGraph ? answer.path?.nodes : isMesh ? answer.path?.positions : null;
    this.path.steps = stops === null ? this.#stepsOf(this.path) : (stops?.length ?? 1) - 1;
    if (this.player.isLoaded && !this.player.isOf(this.question(), answer)) {
      this.player.clear();
    }
    showAnswer(answer, this.path);
    showPlayer(this.player, true);
    this.redraw();
  }

  #stepsOf({ lines, jumps }) {
    return lines
      .flatMap((cells) => cells.slice(1).map((cell, i) => this.model.lattice.steps(cells[i], cell)))
      .reduce((sum, each) => sum + each, jumps.length);
  }

  #forgetPath() {
    this.path = null;
    this.player.clear();
    showPlayer(this.player, false);
    this.redraw();
  }

  async #withSearch(then) {
    const query = this.question();
    if (!query) {
      return;
    }
    const { model } = this;
    const places = model.isGraph
      ? new NodePlaces((id, position) => model.placeOf(id, position))
      : model.isMesh
        ? new IntervalPlaces()
        : new CellPlaces(model.width, model.height);
    try {
      if (!this.player.isLoaded) {
        await this.player.load(query, places);
      }
      if (this.player.isLoaded) {
        then();
      } else {
        showPlayer(this.player, true, "That is known without a search.");
      }
    } catch (error) {
      if (error.code === undefined && error.name !== "AbortError") {
        throw error;
      }
      showPlayer(this.player, true, error.message);
    }
  }

  #searchMoved() {
    showPlayer(this.player, this.question() !== null);
    this.redraw();
  }

  #showEnds() {
    const label = (cell) => cell && this.model && this.model.lattice.label(cell);
    showEnds(label(this.start), label(this.goal), this.feed?.latest);
    if (this.map) {
      writeAddress(this);
    }
  }

  #showCell(cell) {
    const { model } = this;
    showCell(model ? (cell ? this.#factsOf(cell) : [["", this.map], ["", sizeText(model.info)]]) : []);
  }

  #factsOf(cell) {
    const { model } = this;
    if (model.isMesh) {
      return model.factsOf(cell);
    }
    if (model.isGraph) {
      const over = this.obstacles.filter(({ areas }) => areasHold(areas, cell));
      return [...model.factsOf(cell), ...this.#namesOf(over)];
    }
    const terrain = model.terrainAt(cell);
    const pairs = [["cell", model.lattice.label(cell)]];
    pairs.push(terrain ? ["terrain", terrain.name] : ["", "wall"]);
    if (terrain && !terrain.impassable) {
      pairs.push(["cost", costText(terrain.cost)]);
    }
    pairs.push(["", model.isBlocked(cell) ? "blocked" : "free"]);
    const over = this.obstacles.filter((obstacle) => covers(obstacle.shape, cell, model.lattice));
    return [...pairs, ...this.#namesOf(over)];
  }

  #namesOf(obstacles) {
    return obstacles.length > 0 ? [["under", obstacles.map(({ id }) => id).join(", ")]] : [];
  }

  #prepare() {
    this.painter.prepare(this.model);
    this.redraw();
  }

  #resized() {
    const { width, height } = element("frame").getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.max(Math.round(width * ratio), 1);
    canvas.height = Math.max(Math.round(height * ratio), 1);
    this.view.resize(width, height);
    this.redraw();
  }

  moveCursor(dx, dy) {
    if (!this.model || this.isOblique) {
      return;
    }
    const { lattice } = this.model;
    const place = lattice.cellAt(...this.view.toMap(this.view.width / 2, this.view.height / 2));
    const middle = this.model.isMesh ? this.model.onFloor(place) : place;
    const from = this.cursor ?? this.hover ?? this.start ?? middle;
    let to = this.cursor ? lattice.move(from, dx, dy) : from;
    for (let back = Math.max(Math.abs(dx), Math.abs(dy)); back > 0 && this.model.at(to) === 0; --back) {
      to = lattice.move(to, -Math.sign(dx), -Math.sign(dy));
    }
    this.cursor = to;
    this.view.reveal(lattice.center(to.x, to.y));
    canvas.focus();
    this.#showCell(to);
    element("announce").textContent = this.#factsOf(to).map((pair) => pair.join(" ")).join(", ");
    this.redraw();
  }

  paintAtCursor(tool) {
    if (this.cursor && this.isGrid) {
      this.editor.begin(tool, 0);
      this.editor.paint([this.cursor]);
      this.editor.end();
    }
  }

  setAtCursor(end) {
    const cell = this.cursor ?? this.hover;
    if (cell) {
      this.setEnd(end, cell);
    }
  }

  clear() {
    this.start = null;
    this.goal = null;
    this.settle();
  }

  zoom(factor) {
    this.view.zoom(factor);
    this.redraw();
  }

  fit() {
    this.view.fit();
    this.redraw();
  }

  step(by) {
    this.#withSearch(() => this.player.step(by));
  }

  play() {
    this.#withSearch(() => this.player.toggle());
  }

  changeOptions() {
    this.player.clear();
    this.settle();
  }

  followAddress() {
    const { map, start, goal } = readAddress();
    if (map && map !== this.map) {
      Object.assign(this, { start, goal });
      this.#open(map, true);
    } else {
      this.start = this.model?.again(start) ?? null;
      this.goal = this.model?.again(goal) ?? null;
      this.settle();
    }
  }

  // A page that nobody sees holds no streams: browsers allow six to one server.
  seen() {
    if (document.hidden) {
      this.feed?.stop();
      this.query.stop();
      this.player.pause();
    } else if (this.map) {
      this.#open(this.map, true);
    }
  }
}

new App().run();
