// Colours, which follow the light or dark of the page.

import { WALL } from "./map_model.js";

export const dark = matchMedia("(prefers-color-scheme: dark)");

// Names that terrains often have, their symbol, and their colours if passable and if not, in the light and in the dark,
// as in the pictures of the server. The last are names that those of meshes do not know.
const KNOWN = [
  [/ground|floor|plain|earth|dirt/, ".", "#faf9f5", "#8a8f96", "#21252c", "#4e5868"],
  [/water|river|sea|lake|ocean|ford/, "~", "#a9d3ee", "#5a9bcb", "#173957", "#296499"],
  [/trees?|forest|woods?|jungle/, "T", "#b4d49c", "#66a06c", "#1a321f", "#35663e"],
  [/grass|meadow|field/, "G", "#ddecc6", "#8fb573", "#354f25", "#4f7838"],
  [/swamp|mud|marsh|bog/, "s", "#c9c391", "#8c8757", "#30351b", "#5b6333"],
  [/road|path|street|bridge|track/, "=", "#ebd7a6", "#b79a5b", "#544122", "#816535", /trail/],
  [/hills?|mountains?|rocks?|rubble|cliff/, "^", "#d5c2ae", "#94806b", "#4e3d30", "#7d624d", /stone/],
  [/sand|desert|beach/, ":", "#f4e6b8", "#c2ac6a", "#5a4d20", "#826f2e"],
  [/snow|ice|glacier/, "*", "#e4eef7", "#a7bdd3", "#3b5a6e", "#527c99"],
  [/lava|fire/, "%", "#f2b08a", "#c4572d", "#672714", "#ad4121", /danger/],
  [/wall|building|house/, "+", "#c4c8ce", "#596270", "#4b525c", "#6a7482"],
];
const OTHERS = {
  light: ["#f2d0a9", "#bfd7ea", "#d9c7e3", "#c6e2d3", "#f3c6c6", "#e3e0a6", "#cbd2da", "#e6c9b8"],
  dark: ["#5a3c22", "#223646", "#5d3e73", "#234233", "#5b2929", "#535225", "#3e4852", "#422b20"],
};

export function pictureTheme() {
  return dark.matches ? "PICTURE_THEME_DARK" : "PICTURE_THEME_LIGHT";
}

const sample = document.body.appendChild(document.createElement("i"));
sample.hidden = true;

// A colour of style.css, as light or dark as the page is now.
export function colorOf(name) {
  sample.style.color = `var(--${name})`;
  return getComputedStyle(sample).color;
}

// From yellow at 0 to red at 1, as in the pictures of the server.
const RAMP = [[255, 233, 107], [253, 192, 77], [246, 142, 59], [228, 85, 43], [183, 28, 42]];

export function rampColor(share, opacity = 1) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const below = Math.min(Math.floor(at), RAMP.length - 2);
  const parts = RAMP[below].map((part, i) => Math.round(part + (RAMP[below + 1][i] - part) * (at - below)));
  return `rgb(${parts.join(" ")} / ${opacity})`;
}

function terrainColor({ name = "", symbol, impassable }, index) {
  const isIn = (pattern) => pattern?.test(name.toLowerCase());
  const known = KNOWN.find((each) => isIn(each[0]) || isIn(each[6])) ?? KNOWN.find((each) => each[1] === symbol);
  return shadeOf(known, impassable, index);
}

function shadeOf(known, impassable, index) {
  if (known) {
    return known[2 + (dark.matches ? 2 : 0) + (impassable ? 1 : 0)];
  }
  const others = OTHERS[dark.matches ? "dark" : "light"];
  const color = others[index % others.length];
  return impassable ? `color-mix(in srgb, ${color} 55%, ${colorOf("wall")})` : color;
}

// The terrains of a mesh but plain ground, each with its colour: see MakeMeshScene of the server.
export function meshTerrains({ info }) {
  return (info.mesh?.terrains ?? []).flatMap(({ area = 0, name, tags = [], cost, impassable = false }) => {
    const lower = name.toLowerCase();
    const word = lower === "walkable" ? "ground" : lower;
    const known = KNOWN.find(([pattern]) => new RegExp(`^(${pattern.source})$`).test(word));
    const isDefault = tags.length === 0 && name === (area === 0 ? "ground" : `area-${area}`);
    const isPlain = cost === 1 && !impassable && (isDefault || known === KNOWN[0]);
    return isPlain ? [] : [{ name, cost, impassable, color: shadeOf(known, impassable, area) }];
  });
}

const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

// As ImageData holds it.
export function pixelOf(color) {
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = color;
  pixel.fillRect(0, 0, 1, 1);
  return new Uint32Array(pixel.getImageData(0, 0, 1, 1).data.buffer)[0];
}

// From the bytes of a map to colours, as CSS has them and as pixels. Byte 0 has none.
export function mapColors(terrains) {
  const css = new Map([[WALL, colorOf("wall")]]);
  let index = 0;
  for (const [symbol, terrain] of terrains) {
    css.set(symbol, terrainColor(terrain, index++));
  }
  return { css, pixels: pixelsOf(css) };
}

export function pixelsOf(css) {
  const pixels = new Uint32Array(256);
  css.forEach((color, value) => (pixels[value] = pixelOf(color)));
  return pixels;
}
