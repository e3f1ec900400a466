// Finds room for the names of nodes beside them, on a part of the screen.

// Among more nodes than this there is hardly any room, and no time to look for it.
const MAX_NODES = 2000;
const HEIGHT = 14;
const GAP = 4;
// Side of the squares that what is taken is looked up by.
const BUCKET = 64;

// `nodes` have text, x, y and radius in pixels, the most important first. `widthOf(text)` is in pixels. Returns the
// names that neither lie on a node nor on another name, each with its left and its middle.
export function placeLabels(nodes, width, height, widthOf) {
  const seen = nodes.filter(({ x, y }) => x >= 0 && y >= 0 && x <= width && y <= height);
  if (seen.length > MAX_NODES) {
    return [];
  }
  const taken = new Boxes();
  for (const { x, y, radius } of seen) {
    taken.add({ left: x - radius, top: y - radius, right: x + radius, bottom: y + radius });
  }
  const labels = [];
  for (const { text, x, y, radius } of seen) {
    const reach = radius + GAP;
    const side = widthOf(text);
    const corners = [
      [x + reach, y - HEIGHT],
      [x + reach, y],
      [x - side / 2, y - reach - HEIGHT],
      [x - side / 2, y + reach],
      [x - reach - side, y - HEIGHT],
      [x - reach - side, y],
    ];
    const isInSight = (box) => box.left >= 0 && box.top >= 0 && box.right <= width && box.bottom <= height;
    const box = corners
      .map(([left, top]) => ({ left, top, right: left + side, bottom: top + HEIGHT }))
      .find((each) => isInSight(each) && taken.isFree(each));
    if (box) {
      taken.add(box);
      labels.push({ text, left: box.left, middle: box.top + HEIGHT / 2 });
    }
  }
  return labels;
}

class Boxes {
  constructor() {
    this.buckets = new Map();
  }

  add(box) {
    for (const key of keysOf(box)) {
      this.buckets.set(key, [...(this.buckets.get(key) ?? []), box]);
    }
  }

  isFree({ left, top, right, bottom }) {
    const hits = (box) => box.left < right && box.right > left && box.top < bottom && box.bottom > top;
    return !keysOf({ left, top, right, bottom }).some((key) => this.buckets.get(key)?.some(hits));
  }
}

function keysOf({ left, top, right, bottom }) {
  const keys = [];
  for (let y = Math.floor(top / BUCKET); y <= Math.floor(bottom / BUCKET); ++y) {
    for (let x = Math.floor(left / BUCKET); x <= Math.floor(right / BUCKET); ++x) {
      keys.push(`${x}/${y}`);
    }
  }
  return keys;
}
