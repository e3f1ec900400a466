// Finds room for names beside what they name, on a part of the screen.

// Among more things than this there is hardly any room, and no time to look for it.
const MAX_ITEMS = 2000;
const HEIGHT = 14;
const GAP = 4;
// The screen is divided into squares of so many pixels, each with what lies there.
const SQUARE = 4;
const TAKEN = 1;
const LINE = 2;

// `items` have text, the middle x and y, and how far they reach to the sides, `across`, and up and down, `down`, in
// pixels, the most important first; a name may lie inside of one with `isArea`. `lines` are pairs of points [x, y].
// `widthOf(text)` is in pixels. Returns the names that lie neither on an item nor on another name, each with its left
// and its middle. They lie on lines only where there is no other room.
export function placeLabels(items, lines, width, height, widthOf) {
  const seen = items.filter(({ x, y }) => x >= 0 && y >= 0 && x <= width && y <= height);
  if (seen.length > MAX_ITEMS) {
    return [];
  }
  const screen = new Screen(width, height);
  for (const [from, to] of lines) {
    screen.addLine(from, to);
  }
  for (const { x, y, across, down, isArea } of seen) {
    if (!isArea) {
      screen.add(x - across, y - down, 2 * across, 2 * down);
    }
  }
  const labels = [];
  for (const item of seen.filter(({ text }) => text)) {
    const { x, y, text, isArea } = item;
    const [side, across, down] = [widthOf(text), item.across + GAP, item.down + GAP];
    const corners = [
      ...(isArea && side <= 2 * item.across ? [[x - side / 2, y - HEIGHT / 2]] : []),
      [x + across, y - HEIGHT],
      [x + across, y],
      [x - side / 2, y - down - HEIGHT],
      [x - side / 2, y + down],
      [x - across - side, y - HEIGHT],
      [x - across - side, y],
      [x + across - GAP, y - down - HEIGHT + GAP],
      [x + across - GAP, y + down - GAP],
      [x - across - side + GAP, y - down - HEIGHT + GAP],
      [x - across - side + GAP, y + down - GAP],
    ];
    const findRoom = (without) => corners.find(([left, top]) => screen.isFree(left, top, side, HEIGHT, without));
    const corner = findRoom(TAKEN | LINE) ?? findRoom(TAKEN);
    if (corner) {
      screen.add(...corner, side, HEIGHT);
      labels.push({ text, left: corner[0], middle: corner[1] + HEIGHT / 2 });
    }
  }
  return labels;
}

class Screen {
  constructor(width, height) {
    this.columns = Math.ceil(width / SQUARE);
    this.rows = Math.ceil(height / SQUARE);
    this.squares = new Uint8Array(this.columns * this.rows);
  }

  add(left, top, width, height, what = TAKEN) {
    this.#some(left, top, width, height, (index) => {
      this.squares[index] |= what;
      return false;
    });
  }

  addLine([ax, ay], [bx, by]) {
    const count = Math.ceil(Math.hypot(bx - ax, by - ay) / SQUARE) || 1;
    for (let i = 0; i <= count; ++i) {
      this.add(ax + ((bx - ax) * i) / count, ay + ((by - ay) * i) / count, 0, 0, LINE);
    }
  }

  // True if all of it is in sight, and free of those things.
  isFree(left, top, width, height, without) {
    const isSeen = left >= 0 && top >= 0 && left + width <= this.columns * SQUARE && top + height <= this.rows * SQUARE;
    return isSeen && !this.#some(left, top, width, height, (index) => (this.squares[index] & without) !== 0);
  }

  // Asks of each square until one is met that passes the test.
  #some(left, top, width, height, test) {
    const lastRow = Math.min(Math.floor((top + height) / SQUARE), this.rows - 1);
    const lastColumn = Math.min(Math.floor((left + width) / SQUARE), this.columns - 1);
    for (let row = Math.max(Math.floor(top / SQUARE), 0); row <= lastRow; ++row) {
      for (let column = Math.max(Math.floor(left / SQUARE), 0); column <= lastColumn; ++column) {
        if (test(row * this.columns + column)) {
          return true;
        }
      }
    }
    return false;
  }
}
