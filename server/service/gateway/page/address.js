// What is shown, in the page's address: #map=arena&start=1,1&goal=60,40, or #map=isles&start=harbour&goal=lighthouse.
// It also has what is chosen beside the ends: &algorithm=ALGORITHM_ASTAR&beside=ALGORITHM_DIJKSTRA; and marked places and
// the overlay: &marked=3,4;9,2&overlay=5,0,5,9.

export function readAddress() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const place = (text) => {
    const cell = /^(-?\d+),(-?\d+)$/.exec(text ?? "");
    return cell ? { x: Number(cell[1]), y: Number(cell[2]) } : text ? { id: text } : null;
  };
  const list = (text) => (text ? text.split(";") : []);
  // A node, or the corners of an area.
  const part = (text) => {
    const [ax, ay, bx, by] = text.split(",").map(Number);
    return Number.isFinite(by) ? { a: { x: ax, y: ay }, b: { x: bx, y: by } } : { node: text };
  };
  const { map, start, goal, marked, overlay, ...options } = Object.fromEntries(fields);
  const ends = { start: place(start), goal: place(goal) };
  return { map: map || undefined, ...ends, marked: list(marked).map(place), overlay: list(overlay).map(part), options };
}

export function placeText(place) {
  return place && (place.id === undefined ? `${place.x},${place.y}` : encodeURIComponent(place.id));
}

// `options` are pairs of a name and a value.
export function writeAddress({ map, start, goal }, options) {
  const fields = [
    ["map", encodeURIComponent(map)],
    ["start", placeText(start)],
    ["goal", placeText(goal)],
    ...options,
  ];
  const hash = fields.flatMap(([name, value]) => (value ? [`${name}=${value}`] : [])).join("&");
  if (location.hash.slice(1) !== hash) {
    history.replaceState(null, "", `#${hash}`);
  }
}
