// Colours, which follow the light or dark of the page.

import { WALL } from "./map_model.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

// Hue and saturation of what terrains are often called.
const KNOWN = [
  [/water|river|sea|lake|ocean|ford/, 205, 52],
  [/swamp|marsh|mud|bog/, 88, 24],
  [/grass|meadow|field/, 105, 32],
  [/tree|forest|wood|jungle/, 146, 30],
  [/road|path|bridge|street|trail/, 38, 34],
  [/sand|desert|beach|dirt/, 45, 46],
  [/hill|mountain|rock|stone/, 28, 14],
  [/lava|fire|danger/, 12, 62],
  [/snow|ice/, 200, 30],
];

export function isDark() {
  return dark.matches;
}

export function onThemeChange(listener) {
  dark.addEventListener("change", listener);
}

export function colorOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// From yellow at 0 to red at 1, as in the pictures of the server.
const RAMP = ["ffe96b", "fdc04d", "f68e3b", "e4552b", "b71c2a"].map((color) =>
  [0, 2, 4].map((at) => parseInt(color.slice(at, at + 2), 16)),
);

export function rampColor(share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const below = Math.min(Math.floor(at), RAMP.length - 2);
  const parts = RAMP[below].map((part, i) => Math.round(part + (RAMP[below + 1][i] - part) * (at - below)));
  return `rgb(${parts.join(" ")})`;
}

function terrainColor(terrain, index) {
  if (terrain.symbol === "." && !/grass|sand|snow/.test(terrain.name)) {
    return colorOf("ground");
  }
  const known = KNOWN.find(([pattern]) => pattern.test(terrain.name.toLowerCase()));
  const [hue, saturation] = known ? known.slice(1) : [(index * 137.5 + 260) % 360, 30];
  // The dearer, the stronger.
  const weight = terrain.impassable ? 3.4 : Math.min(Math.max(Math.log2(terrain.cost) + 1, 0), 3);
  const lightness = isDark() ? 20 + weight * 5 : 93 - weight * 7;
  return `hsl(${hue} ${saturation}% ${lightness}%)`;
}

// As ImageData holds it.
function pixelOf(color) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0];
}

// From the bytes of a map to colours, as CSS has them and as pixels. Byte 0 has none.
export function mapColors(terrains) {
  const css = new Map([[WALL, colorOf("wall")]]);
  let index = 0;
  for (const [symbol, terrain] of terrains) {
    css.set(symbol, terrainColor(terrain, ++index));
  }
  return { css, pixels: pixelsOf(css) };
}

export function pixelsOf(css) {
  const pixels = new Uint32Array(256);
  css.forEach((color, value) => (pixels[value] = pixelOf(color)));
  return pixels;
}
