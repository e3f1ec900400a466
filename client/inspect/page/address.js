// What is shown, in the page's address: #map=arena&start=1,1&goal=60,40.

export function readAddress() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const cell = (name) => {
    const match = /^(-?\d+),(-?\d+)$/.exec(fields.get(name) ?? "");
    return match && { x: Number(match[1]), y: Number(match[2]) };
  };
  return { map: fields.get("map") ?? "", start: cell("start"), goal: cell("goal") };
}

// Of a cell; nodes of a graph are left out.
function placeText(place) {
  return place && place.id === undefined && `${place.x},${place.y}`;
}

export function writeAddress({ map, start, goal }) {
  const fields = [
    ["map", encodeURIComponent(map)],
    ["start", placeText(start)],
    ["goal", placeText(goal)],
  ];
  const hash = fields.flatMap(([name, value]) => (value ? [`${name}=${value}`] : [])).join("&");
  if (location.hash.slice(1) !== hash) {
    history.replaceState(null, "", `#${hash}`);
  }
}
