// Puts the parts of the page together, and holds what they share.

import { NOT_FOUND, UNAVAILABLE, call, needRpcError, oneAtATime, pause } from "./api.js";
import { readAddress, writeAddress } from "./address.js";
import { Agents } from "./agents.js";
import { Ask, QUESTIONS, requestOf } from "./ask.js";
import { listenToControls } from "./controls.js";
import { FORMS } from "./copy_as.js";
import { Drawing } from "./drawing.js";
import { Editor } from "./editor.js";
import { listenToFiles, saveImage, savePicture } from "./files.js";
import { GraphModel, MAX_NODES } from "./graph_model.js";
import { legendOf, showLegend } from "./legend.js";
import { LiveLayer } from "./live_layer.js";
import { MapFeed } from "./map_feed.js";
import { MapList } from "./map_list.js";
import { MapModel } from "./map_model.js";
import { MeshModel } from "./mesh_model.js";
import { MeshPicture } from "./mesh_picture.js";
import { placeObstacles, placePortals } from "./obstacles.js";
import { OtherAgents } from "./others.js";
import { Painter } from "./painter.js";
import {
  element, make, showAnswer, showCell, showCopied, showEnds, showFigures, showLink, showMatrix, showNotes, showNothing,
  showPlayback, showProblem,
} from "./panel.js";
import { PathQuery, linesOf } from "./path_query.js";
import { Playback } from "./playback.js";
import { Pointer } from "./pointer.js";
import { SearchPlayer } from "./search_player.js";
import { LETTERS, Sketch } from "./sketch.js";
import { dark, meshTerrains } from "./theme.js";
import { ServerPanel } from "./server_panel.js";
import { Tools } from "./tools.js";
import { View } from "./view.js";
import { algorithmText, amountText, blockedText, countText, sizeText } from "./words.js";

const MAX_NAMED = 1000;
// Without one of these, a map is a grid.
const MODELS = { MAP_KIND_WAYPOINT_GRAPH: GraphModel, MAP_KIND_MESH: MeshModel };
const HEIGHTS = [["height-low", "low"], ["height-high", "high"]];
const MAX_PIXELS_TO_NODE = 30;
const NOTE_MILLIS = 8000;

const canvas = element("map");
const options = [...document.querySelectorAll("[data-option]")];
const beside = element("option-beside");
const asking = element("ask");
const profiles = element("option-profile");
// The names of terrains of a mesh, with spaces between.
const avoided = element("option-avoid");
// Fields that only some questions have.
const fields = ["budget", "count", "seed"].map(element);
// All that a link names beside the places, by the names there.
const choices = new Map([
  ...options.map((each) => [each.dataset.option, each]),
  ["beside", beside],
  ["ask", asking],
  ...fields.map((each) => [each.id, each]),
]);

// A search as the page shows it: on a canvas, with figures below when there is another beside it.
function sideOf(suffix) {
  const painter = new Painter(element(`map${suffix}`));
  const player = new SearchPlayer((place) => painter.touchSearch(place));
  return { painter, player, figures: element(`figures${suffix}`), path: null };
}

// The first choice, or nothing, if there is none of that value.
function select(choice, value = "") {
  choice.value = value;
  if (choice.selectedIndex < 0) {
    choice.selectedIndex = 0;
  }
}

// The state of the page, which its parts have as `app`.
class App {
  view = new View();
  // The search for the answer, and the one beside it.
  sides = [sideOf(""), sideOf("-beside")];
  drawing = new Drawing(this);
  tools = new Tools(this);
  // The id of the map that is shown, and its cells once they are there; whether there is no such map.
  map = "";
  model = null;
  isMissing = false;
  feed = null;
  start = null;
  goal = null;
  cursor = null;
  hover = null;
  sketch = new Sketch();
  // The question that has no path for an answer, and what is asked beside that for the path.
  unanswered = "";
  ask = new Ask((answer) => {
    element("asked").textContent = answer?.text ?? "";
    showMatrix(answer?.table, (pair) => {
      this.ask.pair = pair;
      this.redraw();
    });
    this.redraw();
  });
  agents = new Agents(this);
  others = new OtherAgents(this);
  live = new LiveLayer(this);
  // A note that is shown for a while, and whether the server is away.
  news = { text: "", kind: "bad" };
  isDown = false;
  obstacles = [];
  portals = [];
  isDrawing = false;
  // Of a mesh: whether it is seen from the side, and its picture.
  isOblique = false;
  picture = new MeshPicture(this);

  playback = new Playback(
    this.sides.map(({ player }) => player),
    () => this.#searchMoved(),
  );
  editor = new Editor(this);
  query = new PathQuery(() => this.question(), {
    answer: (answer) => this.#answered(answer),
    problem: (error) => {
      this.unanswered = error.reason && error.code !== NOT_FOUND ? JSON.stringify(this.question()) : "";
      this.#forgetPath();
      showProblem(error);
    },
    nothing: () => {
      this.#forgetPath();
      showNothing(this.start ? "Now press the goal." : this.#firstSentence);
    },
  });
  list = new MapList(this);

  get isGrid() {
    return Boolean(this.model?.cells);
  }

  get footprint() {
    const chosen = Number(element("option-footprint").value);
    const named = this.model?.info?.grid?.profiles?.find(({ name }) => name === profiles.value);
    return this.isGrid ? (chosen > 1 ? chosen : named?.profile.footprint || 1) : 1;
  }

  get #firstSentence() {
    return this.isOblique
      ? "Seen from the side, a press is on no floor."
      : `Press two ${this.model?.noun ?? "cells"}: the start, then the goal.`;
  }

  question() {
    const { map, start, goal, agent, view, algorithm, unreachablePolicy, pathForm } = this.chosen();
    if (!start || !goal) {
      return null;
    }
    return { map, start, goals: [goal], algorithm, unreachablePolicy, pathForm, agent, view };
  }

  // All that questions are made of, as far as it is there.
  chosen() {
    const { map, model, sketch } = this;
    const { cornerRule, footprint, profileName, requiredTags, forbiddenTerrains, ...chosen } = Object.fromEntries(
      options.map((each) => [each.dataset.option, each.disabled ? undefined : each.value.trim()]),
    );
    const places = [this.start, this.goal, ...sketch.marked];
    const [start, goal, ...marked] = places.map((place) => place && model?.locationOf(place));
    const tags = requiredTags ? { requiredTags: requiredTags.split(/[\s,]+/) } : undefined;
    const profile = forbiddenTerrains ? { ...tags, forbiddenTerrains: forbiddenTerrains.split(" ") } : tags;
    // A named profile has tags of its own, and all that is not chosen otherwise.
    const unless = (value, first) => (profileName && value === first ? undefined : value);
    const moving = {
      cornerRule: unless(cornerRule, "CORNER_RULE_NO_CORNER_CUTTING"),
      footprint: unless(Number(footprint), 1),
    };
    const plain = this.isGrid ? { ...moving, profile } : profile && { profile };
    const agent = profileName ? { profileName, ...moving } : plain;
    return { ...chosen, map, start, goal, marked, agent, view: sketch.view };
  }

  // Unless another question is chosen, it is why there is no path.
  #askBeside() {
    const kind = asking.value || (JSON.stringify(this.question()) === this.unanswered ? "explain" : "");
    this.ask.want(kind, this.#chosenBeside(), this.model, [this.feed?.epoch, this.feed?.latest]);
  }

  #chosenBeside() {
    const { map, start, goal, marked, agent, view } = this.chosen();
    const goals = [["G", goal], ...marked.map((each, i) => [LETTERS[i], each])];
    const named = (all) => all.filter(([, location]) => location).map(([name, location]) => ({ name, location }));
    const numbers = Object.fromEntries(fields.map(({ id, value }) => [id, value ? Number(value) : undefined]));
    return { map, start, goal, agent, view, goals: named(goals), places: named([["S", start], ...goals]), ...numbers };
  }

  // One for each search that is shown. Beside the first is one by another algorithm, or with a tolerance.
  #questions() {
    const first = this.question();
    const { value } = beside;
    const other = value.startsWith("ALGORITHM") ? { algorithm: value } : { tolerance: Number(value) };
    return first && this.playback.isComparing ? [first, { ...first, ...other }] : [first];
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
    return this.model.isGraph && this.distanceTo(cell, px, py) > MAX_PIXELS_TO_NODE ? null : cell;
  }

  // The place for a corner of a shape; a node need not be there.
  pointAt(px, py) {
    return this.model.lattice.pointAt(...this.view.toMap(px, py));
  }

  // In pixels.
  distanceTo(place, px, py) {
    const [x, y] = this.placeOf(place);
    return Math.hypot(x - px, y - py);
  }

  placeOf(cell) {
    return this.view.toScreen(...this.model.lattice.middleOf(cell, this.footprint));
  }

  setEnd(end, cell) {
    this[end] = cell;
    this.settle();
  }

  // While an end is dragged.
  moveEnd(end, cell) {
    this[end] = cell;
    this.playback.clear();
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
    this.#compare();
  }

  // A place of a mesh that was pressed takes the height of the ground there.
  async #land(end) {
    const place = this[end];
    if (!place?.isAloft || !this.model?.isMesh || place.isLanding) {
      return;
    }
    place.isLanding = true;
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
      const { model, view, playback, footprint, picture, isOblique } = this;
      showLegend(element("legend"), model ? legendOf(this, this.sides[0].painter.colors?.css) : []);
      const brush = model ? this.tools.preview(this.hover) : [];
      if (model?.isMesh) {
        // Seen from the side, only the server knows what of a path is hidden. On top of a search, the page draws it.
        const query = isOblique && !playback.isLoaded ? this.question() : null;
        picture.want(model, view, canvas.width / view.width, isOblique, query);
      }
      this.#askBeside();
      const { obstacles } = this.drawing;
      for (const { painter, player, path } of this.sides.slice(0, playback.players.length)) {
        painter.draw({ ...this, obstacles, player, answer: this.ask.answer?.route ?? path, footprint, brush });
      }
      this.live.draw();
    });
  }

  async run() {
    element("figures-beside").innerHTML = element("figures").innerHTML;
    this.sides.forEach(({ painter }) => new Pointer(painter.canvas, this.tools));
    new ResizeObserver(() => this.#resized()).observe(element("frame"));
    dark.addEventListener("change", () => this.#prepare());
    Object.entries(QUESTIONS).forEach(([kind, { title }]) => asking.add(new Option(title, kind)));
    listenToControls(this, [...choices.values()]);
    listenToFiles(this);
    this.#prepare();
    this.#searchMoved();
    this.agentsChanged("");
    showLink("fair", location.host);
    await this.#configure();
    new ServerPanel().run();
    this.list.run();
  }

  async #configure() {
    const info = await call("ServerService/GetServerInfo", {}).catch(() => ({ algorithms: [] }));
    for (const algorithm of info.algorithms ?? []) {
      element("option-algorithm").add(new Option(algorithmText(algorithm), algorithm));
      element("algorithms-beside").append(new Option(algorithmText(algorithm), algorithm));
    }
  }

  listed(maps) {
    if (!this.map) {
      this.followAddress(maps[0]?.map);
    } else if (this.isMissing && this.list.find(this.map)) {
      this.open(this.map, true);
    }
    if (!this.map) {
      element("empty").textContent = "There are no maps on this server yet. Drop a file of one here, or import it with Files.";
    }
    this.#showLive();
  }

  #leave() {
    this.feed?.stop();
    this.feed = null;
    this.query.stop();
    this.picture.forget();
    this.#forgetPath();
  }

  open(map, keepsEnds = map === this.map) {
    this.#leave();
    if (map === this.map) {
      this.agents.pause();
    } else {
      this.editor.clear();
      this.drawing.id = "";
      this.agents.clear();
    }
    if (map !== this.map || !this.isGrid) {
      this.model = null;
      this.cursor = null;
      this.hover = null;
      this.obstacles = [];
      this.portals = [];
    }
    if (!keepsEnds) {
      this.start = null;
      this.goal = null;
      this.sketch.clear();
    }
    this.sketch.model = this.model;
    this.map = map;
    element("empty").textContent = "";
    this.list.choose(map);
    document.title = `${map} – Waystar inspector`;
    this.#showEnds();
    showNothing(this.#firstSentence);
    this.redraw();
    this.isMissing = false;
    const info = this.list.find(map);
    if (!info) {
      this.#miss(`There is no map ${map} on this server.`);
      // It may be newer than the list.
      this.list.ask();
    } else if (info.graph?.nodes > MAX_NODES) {
      element("empty").textContent = `${map} has more nodes than there is a picture for: ${countText(info.graph.nodes)}.`;
    } else {
      this.#follow(map, info.kind);
    }
  }

  // No other map takes its place: the address names this one, which may come.
  #miss(text) {
    this.isMissing = true;
    this.agents.clear();
    this.#leave();
    this.model = null;
    this.#showCell(null);
    this.drawing.renew();
    element("empty").textContent = `${text} Choose a map from the list.`;
    showNothing("");
  }

  #follow(map, kind) {
    const changed = (x, y) => this.sides.forEach(({ painter }) => painter.base?.invalidate(x, y));
    const model = this.model ?? new (MODELS[kind] ?? MapModel)(changed);
    this.feed = new MapFeed(map, model, {
      map: (isNew) => this.#mapRead(model, isNew),
      revision: (changedAreas) => {
        this.#revised();
        this.live.flash(changedAreas);
      },
      up: () => this.#showLive(),
      down: (error) => this.down(error),
      gone: () => this.#miss(`The map ${map} was deleted.`),
    });
    this.feed.run();
    this.others.follow(map, this.feed.control.signal);
  }

  #mapRead(model, isNew) {
    for (const name of ["start", "goal", "cursor", "hover"]) {
      this[name] = model.again(this[name]);
    }
    const isOther = isNew || this.model !== model;
    this.model = model;
    this.view.show(model.lattice.bounds, isOther);
    this.#prepare();
    if (isOther) {
      this.tools.offer(model);
      this.#offerOptions();
      this.#offerFloors();
    }
    element("places").hidden = !model.isLaidOut;
    this.sketch.take(model);
    this.agents.resume();
    this.live.wake();
    this.settle();
    this.#revised();
  }

  #offerOptions() {
    const { model } = this;
    options.forEach((each) => (each.disabled = !model.options.includes(each.dataset.option)));
    const chosen = profiles.value;
    const names = (model.info.grid?.profiles ?? []).map(({ name }) => name);
    profiles.replaceChildren(new Option("the costs of the map", ""), ...names.map((name) => new Option(name, name)));
    select(profiles, chosen);
    this.#offerTerrains();
    for (const choice of [element("option-algorithm"), beside]) {
      const all = [...choice.options];
      all.forEach((each) => (each.disabled = each.value.startsWith("ALGORITHM") && !model.suits(each.value)));
      if (choice.selectedOptions[0].disabled) {
        choice.value = all.find((each) => each.value && !each.disabled).value;
      }
    }
  }

  // Those that the map does not have are not avoided any more.
  #offerTerrains() {
    const names = avoided.value.split(" ");
    const open = this.model ? meshTerrains(this.model).filter(({ impassable }) => !impassable) : [];
    const boxOf = ({ name }) => make("input", { type: "checkbox", value: name, checked: names.includes(name) });
    element("avoid").replaceChildren(...open.map((terrain) => make("label", {}, boxOf(terrain), terrain.name)));
    element("avoid").hidden = element("avoid-title").hidden = open.length === 0;
    this.takeAvoided();
  }

  takeAvoided() {
    const boxes = [...element("avoid").querySelectorAll(":checked")];
    avoided.value = boxes.map(({ value }) => value).join(" ");
  }

  // Returns the choices that a link names: all that are not the defaults.
  #optionsInLink() {
    const chosen = [...choices].filter(([, choice]) => {
      const { disabled, value, options: [first] = [] } = choice;
      return !disabled && !choice.closest("[hidden]") && value !== (first?.value ?? "");
    });
    return [...chosen.map(([name, { value }]) => [name, encodeURIComponent(value)]), ...this.sketch.fields];
  }

  #choose(named) {
    // The profiles of a map are known once it is read.
    profiles.add(new Option(named.profileName, named.profileName));
    choices.forEach((each, name) => select(each, named[name]));
    this.#showSides();
  }

  #showSides() {
    for (const { id, labels: [label] } of fields) {
      label.hidden = !QUESTIONS[asking.value]?.fields?.includes(id);
    }
    const isComparing = beside.value !== "";
    this.playback.count = isComparing ? 2 : 1;
    document.querySelector("main").classList.toggle("compares", isComparing);
    element("view-beside").hidden = !isComparing;
    element("figures").hidden = !isComparing;
    this.#searchMoved();
  }

  // A mesh is shown with all of its heights at first, from above.
  #offerFloors() {
    element("floors").hidden = !this.model.isMesh;
    this.isOblique = false;
    element("oblique").checked = false;
    for (const [id, end] of HEIGHTS) {
      element(id).value = "";
      element(id).placeholder = this.model.isMesh ? String(Number(this.model.lattice[end].z.toFixed(2))) : "";
    }
  }

  changeFloors() {
    const chosen = HEIGHTS.filter(([id]) => element(id).value !== "");
    const heights = chosen.map(([id, end]) => [end, Number(element(id).value)]);
    this.model.heights = heights.length > 0 ? Object.fromEntries(heights) : undefined;
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
      this.view.show(lattice.bounds, true);
    }
  }

  // The picture says from where it was drawn.
  pictured({ xStep, yStep, zStep }) {
    if (this.model?.isMesh) {
      this.#lookFrom(this.isOblique ? yStep.y / xStep.x : 1, this.isOblique ? -(zStep?.y ?? 0) / xStep.x : 0);
      this.redraw();
    }
  }

  #revised() {
    this.list.update(this.map, String(this.feed.latest));
    this.#showEnds();
    this.#showCell(this.hover ?? this.cursor);
    this.#readNamed();
    this.redraw();
  }

  #readNamed = oneAtATime(async () => {
    const { map, feed, model } = this;
    if (!feed || !model) {
      return;
    }
    try {
      const request = { map, pageSize: MAX_NAMED };
      const { obstacles = [] } = await call("MapService/ListObstacles", request);
      const { portals = [] } = model.isGraph ? {} : await call("MapService/ListPortals", request);
      if (this.feed === feed && this.model) {
        // Among nodes whose places are not those of the world, nothing has a place.
        this.obstacles = model.isLaidOut ? [] : placeObstacles(obstacles, model);
        this.portals = placePortals(portals, map);
        this.#showCell(this.hover ?? this.cursor);
        this.drawing.renew();
      }
      await pause(200);
    } catch {
      // The feed tells what is wrong.
    }
  });

  // Says it for a while, whatever else is shown meanwhile.
  note(text, kind = "bad") {
    this.news = { text, kind };
    this.#showLive();
    clearTimeout(this.noteTimer);
    this.noteTimer = setTimeout(() => {
      this.news.text = "";
      this.#showLive();
    }, NOTE_MILLIS);
  }

  #showLive() {
    if (this.feed?.isDown) {
      return;
    }
    if (this.isDown) {
      this.isDown = false;
      this.note("The server answers again. What you see is up to date.", "good");
    }
    showLink("good", location.host, this.news.text, this.news.kind);
  }

  down({ code, message }) {
    this.isDown = true;
    const away = "The server does not answer. What you see may be out of date.";
    showLink("bad", location.host, `${code === UNAVAILABLE ? away : `${message}.`} Trying again …`, "bad");
  }

  #answered(answer) {
    const path = linesOf(answer, this.model);
    const { playback } = this;
    const [first] = this.sides;
    const asked = JSON.stringify(this.question());
    first.path = { ...path, asked };
    this.unanswered = answer.outcome === "OUTCOME_FOUND" ? "" : asked;
    if (first.player.answer && !first.player.isOf(this.question(), answer)) {
      playback.clear();
    }
    showAnswer(answer, this.#stepsOf(path), path.leadsTo);
    this.#searchMoved();
    this.#compare();
  }

  // Shows the ends of two searches for the path, unless they are there, or on their way.
  #compare() {
    const { playback, sides, tools } = this;
    const [{ path, player }] = sides;
    const question = this.question();
    if (!playback.isComparing || tools.dragged || path?.asked !== JSON.stringify(question) || player.isFor(question)) {
      return;
    }
    playback.clear();
    this.#searchMoved("Searching …");
    this.withSearch(() => {
      playback.seek(playback.length);
      element("announce").textContent = sides.map(({ figures }) => figures.innerText).join("\n");
    });
  }

  #stepsOf({ lines, jumps }) {
    return lines
      .flatMap((cells) => cells.slice(1).map((cell, i) => this.model.lattice.steps(cells[i], cell)))
      .reduce((sum, each) => sum + each, jumps.length);
  }

  #forgetPath() {
    this.sides.forEach((side) => (side.path = null));
    this.playback.clear();
    this.#searchMoved();
  }

  // Calls `then` once the search is loaded.
  async withSearch(then) {
    const queries = this.#questions();
    if (!queries[0]) {
      return;
    }
    const { model, playback } = this;
    if (!playback.isLoaded) {
      if (!(await playback.load(queries, () => model.searchPlaces()))) {
        return;
      }
      const [, second] = this.sides;
      second.path = second.player.answer && linesOf(second.player.answer, model);
    }
    if (playback.isLoaded) {
      then();
    } else {
      this.#searchMoved(this.sides[0].player.problem || "That is known without a search.");
    }
  }

  #searchMoved(problem = "") {
    showPlayback(this.playback, this.sides[0].path !== null, problem);
    this.sides.forEach(({ figures, player }) => showFigures(figures, player));
    this.redraw();
  }

  #showEnds() {
    const label = (cell) => cell && this.model && this.model.lattice.label(cell);
    showEnds(label(this.start), label(this.goal), this.feed?.latest);
    if (this.map) {
      writeAddress(this, this.#optionsInLink());
    }
  }

  #showCell(cell) {
    const { model } = this;
    showCell(model ? (cell ? this.#factsOf(cell) : [["", this.map], ["", sizeText(model.info)]]) : []);
  }

  #factsOf(cell) {
    const over = (all) => all.filter(({ area }) => area.holds(cell));
    const obstacles = over(this.obstacles);
    // A map is read with walls where its obstacles block cells.
    const isBare = obstacles.every(({ ink }) => ink !== "obstacle");
    const facts = this.model.factsOf(cell).filter(([, text]) => isBare || text !== "wall");
    const names = [...obstacles, ...over(this.sketch.areas)].map(({ id }) => id);
    return names.length > 0 ? [...facts, ["under", names.join(", ")]] : facts;
  }

  #prepare() {
    this.sides.forEach(({ painter }) => painter.prepare(this.model));
    this.redraw();
  }

  #resized() {
    const { width, height } = element("frame").getBoundingClientRect();
    if (width === 0) {
      // The server is shown in place of the map.
      return;
    }
    const ratio = devicePixelRatio || 1;
    for (const { painter } of this.sides) {
      painter.canvas.width = Math.max(Math.round(width * ratio), 1);
      painter.canvas.height = Math.max(Math.round(height * ratio), 1);
    }
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
    if (this.drawing.isHeld) {
      this.tools.drag(...this.placeOf(to));
    }
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

  atCursor(act) {
    const cell = this.cursor ?? this.hover;
    if (cell) {
      act(cell);
    }
  }

  // Where a press would draw something, it begins a drag that the next one ends.
  pressAtCursor() {
    if (this.cursor) {
      this.tools.press(...this.placeOf(this.cursor));
    }
  }

  // After there are more agents or fewer, or others are blocked.
  agentsChanged(problem) {
    const { all, blocked } = this.agents;
    const none = "Agents walk to random goals, and around what you block. The tool Agent adds one where you press.";
    const some = `${amountText(all.size, "agent")}, ${blockedText(blocked)}.`;
    element("agents-text").textContent = problem || (all.size > 0 ? some : none);
    this.redraw();
    this.live.wake();
  }

  othersChanged() {
    const { all, blocked } = this.others;
    const some = `${amountText(all.length, "agent")} of other clients, ${blockedText(blocked)}.`;
    element("others-text").textContent = all.length > 0 ? some : "";
    this.redraw();
  }

  clear() {
    this.start = null;
    this.goal = null;
    this.sketch.clear();
    this.settle();
  }

  imported({ info, notes = [] }) {
    this.note(`Imported ${info.map}: ${sizeText(info)}.`, "good");
    if (notes.length > 0) {
      showNotes(info.map, notes);
    }
    this.list.maps.push(info);
    this.open(info.map);
  }

  // `form` is "PNG", "SVG", or "image" for one that a map can be made of again.
  async save(form) {
    const { map, model, isOblique } = this;
    const request = { map, query: this.question() ?? undefined, heights: model?.heights, oblique: isOblique };
    try {
      await (form === "image" ? saveImage(map) : savePicture(form, request));
    } catch (error) {
      needRpcError(error);
      this.note(error.message);
    }
  }

  copy(form) {
    const path = this.question();
    const asked = asking.value && this.model ? requestOf(asking.value, this.#chosenBeside(), this.model) : {};
    const { method, request, missing } = asked.method || !path ? asked : { method: "FindPath", request: path };
    showCopied(request && FORMS[form](method, request), form, missing);
  }

  changeOptions() {
    this.#showSides();
    this.settle();
  }

  // An address without a map means `first`.
  followAddress(first = this.map) {
    const { map = first, start, goal, marked, overlay, options: named } = readAddress();
    this.#choose(named);
    const model = map === this.map ? this.model : null;
    [this.start, this.goal] = [start, goal].map((end) => (model ? model.again(end) : end));
    this.sketch.model = model;
    this.sketch.restore(model ? marked.map((place) => model.again(place)).filter(Boolean) : marked, overlay);
    if (model || !map) {
      this.#offerTerrains();
      this.settle();
    } else {
      this.open(map, true);
    }
  }

  // A page that nobody sees holds no streams: browsers allow six to one server.
  seen() {
    if (document.hidden) {
      this.feed?.stop();
      this.query.stop();
      this.agents.pause();
      this.playback.pause();
    } else if (this.map) {
      this.open(this.map, true);
    }
  }
}

new App().run();
