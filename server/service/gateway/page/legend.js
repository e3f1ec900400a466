// The legend: what is on a map of this kind, whatever is asked, so that the map stays where it is.

import { WALL } from "./map_model.js";
import { costText } from "./words.js";

// Entries: a sign of style.css, its colour, and what it stands for. `colors` has those of cells.
export function legendOf({ model, obstacles, portals }, colors) {
  const ink = (name) => `var(--${name})`;
  const seen = "on the open list";
  const inks = new Set(obstacles.map((each) => each.ink));
  const ground = model.isGraph ? linksOf(model, ink) : model.isMesh ? floorsOf(model, ink) : cellsOf(model, colors);
  const entries = [
    ...ground,
    inks.has("obstacle") && ["outline", ink("obstacle"), "obstacle"],
    inks.has("dearer") && ["outline", ink("dearer"), "costs more"],
    inks.has("cheaper") && ["outline", ink("cheaper"), "costs less"],
    portals.length > 0 && ["diamond", ink("portal"), "portal"],
    ["disc", ink("start"), "start"],
    ["disc", ink("goal"), "goal"],
    ["line", ink("path"), "path"],
    ["ramp", "", "expanded, by cost"],
    model.cells ? ["area", ink("open"), seen] : [model.isMesh ? "line" : "ring", ink("open-rim"), seen],
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

function floorsOf({ lattice: { low, high } }, ink) {
  const isFlat = low.z === high.z;
  return [
    !isFlat && ["area", ink("low"), `lowest, at ${costText(low.z)}`],
    ["area", ink("high"), isFlat ? "ground" : `highest, at ${costText(high.z)}`],
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
      const item = document.createElement("li");
      const mark = document.createElement("i");
      mark.dataset.sign = sign;
      mark.style.color = color;
      item.append(mark, text);
      return item;
    }),
  );
}
