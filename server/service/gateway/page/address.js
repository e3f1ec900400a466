// What is shown, in the page's address: #map=arena&start=1,1&goal=60,40, or #map=isles&start=harbour&goal=lighthouse.
// With two searches, or another question, it has the options of all: &algorithm=ALGORITHM_ASTAR&beside=ALGORITHM_DIJKSTRA.

export function readAddress() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const place = (text) => {
    const cell = /^(-?\d+),(-?\d+)$/.exec(text ?? "");
    return cell ? { x: Number(cell[1]), y: Number(cell[2]) } : text ? { id: text } : null;
  };
  const { map, start, goal, ...options } = Object.fromEntries(fields);
  return { map: map || undefined, start: place(start), goal: place(goal), options };
}

// Of a cell, or of a node.
function placeText(place) {
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
