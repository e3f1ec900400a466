// The legend of what is on the map now.

import { WALL } from "./map_model.js";
import { make } from "./panel.js";
import { meshTerrains, rampColor } from "./theme.js";
import { costText } from "./words.js";

const WIDTHS = { ramp: 36 };
// In the colour of an entry, on 14 x 12 pixels if WIDTHS has no other.
const SIGNS = {
  area: '<path d="M0 0h14v12H0z" fill="currentColor" stroke="none" /><path d="M0 0h14v12H0z" stroke="gray" stroke-opacity=".6" />',
  outline: '<path d="M1 1h12v10H1z" fill="currentColor" fill-opacity=".3" stroke-width="1.5" stroke-dasharray="2 3" />',
  disc: '<circle cx="7" cy="6" r="6" fill="currentColor" stroke="none" />',
  cross: '<circle cx="7" cy="6" r="6" fill="currentColor" stroke="none" /><path d="M5 4l4 4M5 8l4-4" stroke="var(--card)" />',
  rim: '<circle cx="7" cy="6" r="5" fill="var(--agent-rim)" stroke-width="2" />',
  ring: '<circle cx="7" cy="6" r="4.700" stroke-width="2.500" />',
  diamond: '<path d="M7 0l7 6-7 6-7-6z" fill="currentColor" stroke="none" />',
  line: '<path d="M0 6h14" stroke-width="3" stroke-linecap="butt" />',
  dashes: '<path d="M0 6h14" stroke-width="2" stroke-linecap="butt" stroke-dasharray="4 2" />',
  hatch: '<path d="M1 1h12v10H1zM1 6l5-5M3 11L13 1M8 11l5-5" stroke-width="1.500" />',
  arrow: '<path d="M0 6h7" /><path d="M7 1l7 5-7 5z" fill="currentColor" stroke="none" />',
  ramp: [...Array(9).keys()].map((i) => `<path d="M${4 * i} 0h4v12h-4z" fill="${rampColor(i / 8)}" stroke="none" />`).join(""),
};

// Entries: one of SIGNS, its colour, and what it stands for. `colors` has those of cells.
export function legendOf(app, colors) {
  const { model, start, goal, sides, playback, obstacles, portals, sketch, ask, agents, others } = app;
  const ink = (name) => `var(--${name})`;
  const open = model.cells ? ["area", ink("open")] : [model.isMesh ? "line" : "ring", ink("open-rim")];
  const { states, reached, bands, arrows, dots, way, marks = [], ray, route } = ask.answer ?? {};
  const inks = new Set(obstacles.map((each) => each.ink));
  const ground = model.isGraph ? linksOf(model, ink) : model.isMesh ? floorsOf(model, ink) : cellsOf(model, colors);
  const entries = [
    ...ground,
    inks.has("obstacle") && ["outline", ink("obstacle"), "obstacle"],
    inks.has("dearer") && ["outline", ink("dearer"), "costs more"],
    inks.has("cheaper") && ["outline", ink("cheaper"), "costs less"],
    portals.length > 0 && ["diamond", ink("portal"), "portal"],
    agents.all.size > 0 && ["disc", ink("agent"), "agent"],
    others.all.length > 0 && ["rim", ink("agent"), "agent of another client"],
    agents.blocked + others.blocked > 0 && ["cross", ink("bad"), "blocked agent"],
    start && ["disc", ink("start"), "start"],
    goal && ["disc", ink("goal"), "goal"],
    sketch.marked.length > 0 && ["disc", ink("marked"), "marked place"],
    sketch.parts.length > 0 && ["hatch", ink("fair"), "overlay: blocked for these questions alone"],
    arrows && ["arrow", ink("trail"), "way to a goal"],
    dots && ["disc", ink("trail"), "drawn place"],
    (route ?? sides[0].path)?.lines.length > 0 && ["line", ink("path"), "path"],
    way?.jumps.length > 0 && ["dashes", ink("path"), "path through blockers"],
    marks.length > 0 && ["disc", ink("fair"), "blocker"],
    ray !== undefined && ["line", ink("trail"), "straight line"],
    (playback.isLoaded || states || reached || bands) && ["ramp", "", "reached or expanded, by cost"],
    playback.isLoaded && [...open, "on the open list"],
  ];
  return entries.filter(Boolean);
}

function cellsOf({ terrains }, colors) {
  const text = ({ name, cost, impassable }) => `${name}, ${impassable ? "impassable" : `cost ${costText(cost)}`}`;
  return [
    ...[...terrains].map(([symbol, terrain]) => ["area", colors.get(symbol), text(terrain)]),
    ["area", colors.get(WALL), "wall"],
  ];
}

function linksOf({ links }, ink) {
  return [
    ["disc", ink("wall"), "node"],
    ["line", ink("edge"), "edge"],
    links.some(({ isOneWay }) => isOneWay) && ["arrow", ink("edge"), "one-way edge"],
    links.some(({ isOpen }) => !isOpen) && ["dashes", ink("closed-edge"), "closed edge"],
  ];
}

function floorsOf(model, ink) {
  const { low, high } = model.lattice;
  const costOf = ({ cost, impassable }) => (impassable ? ", impassable" : cost === 1 ? "" : `, cost ${costText(cost)}`);
  const isFlat = low.z === high.z;
  return [
    !isFlat && ["area", ink("low"), `lowest, at ${costText(low.z)}`],
    ["area", ink("high"), isFlat ? "ground" : `highest, at ${costText(high.z)}`],
    ...meshTerrains(model).map((terrain) => ["area", terrain.color, `${terrain.name}${costOf(terrain)}`]),
    ["line", ink("text"), "wall"],
  ];
}

// Does nothing if it is shown already.
export function showLegend(list, entries) {
  const content = JSON.stringify(entries);
  if (list.dataset.content === content) {
    return;
  }
  list.dataset.content = content;
  list.replaceChildren(
    ...entries.map(([sign, color, text]) => {
      const innerHTML = `<svg viewBox="0 0 ${WIDTHS[sign] ?? 14} 12" aria-hidden="true">${SIGNS[sign]}</svg>`;
      const item = make("li", { innerHTML });
      item.firstChild.style.color = color;
      item.append(text);
      return item;
    }),
  );
}
