// What is shown, in the page's address: #map=arena&start=1,1&goal=60,40, or #map=isles&start=harbour&goal=lighthouse.

export function readAddress() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const place = (name) => {
    const text = fields.get(name);
    const cell = /^(-?\d+),(-?\d+)$/.exec(text ?? "");
    return cell ? { x: Number(cell[1]), y: Number(cell[2]) } : text ? { id: text } : null;
  };
  return { map: fields.get("map") ?? "", start: place("start"), goal: place("goal") };
}

// Of a cell, or of a node.
function placeText(place) {
  return place && (place.id === undefined ? `${place.x},${place.y}` : encodeURIComponent(place.id));
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
