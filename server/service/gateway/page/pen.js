// Lines and areas on a canvas, as paths.

const ARROW = 9;
// Lines of fewer pixels have no room for an arrowhead.
const LEAST_FOR_ARROW = 30;

// Adds the line through points, each [x, y].
export function trace(path, points) {
  points.forEach(([x, y], i) => (i === 0 ? path.moveTo(x, y) : path.lineTo(x, y)));
}

export function addPolygon(path, points) {
  trace(path, points);
  path.closePath();
}

export function lineThrough(points) {
  const path = new Path2D();
  trace(path, points);
  return path;
}

export function polygonOf(points) {
  const path = new Path2D();
  addPolygon(path, points);
  return path;
}

export function discAt(x, y, radius) {
  const path = new Path2D();
  path.arc(x, y, radius, 0, 2 * Math.PI);
  return path;
}

export function crossAt(x, y, reach) {
  const path = new Path2D();
  trace(path, [[x - reach, y - reach], [x + reach, y + reach]]);
  trace(path, [[x - reach, y + reach], [x + reach, y - reach]]);
  return path;
}

export function fill(context, color, path) {
  context.fillStyle = color;
  context.fill(path);
}

export function stroke(context, color, width, path, dashes = []) {
  context.lineWidth = width;
  context.strokeStyle = color;
  context.setLineDash(dashes);
  context.stroke(path);
  context.setLineDash([]);
}

// Adds a line that ends in an open arrowhead.
export function addArrow(path, [ax, ay], [bx, by]) {
  const [dx, dy] = [(bx - ax) * 0.4, (by - ay) * 0.4];
  const most = Math.min(1, ARROW / (Math.hypot(dx, dy) || 1));
  const [x, y] = [dx * most, dy * most];
  trace(path, [[ax, ay], [bx, by]]);
  trace(path, [[bx - x - y * 0.7, by - y + x * 0.7], [bx, by], [bx - x + y * 0.7, by - y - x * 0.7]]);
}

// Adds an arrowhead in the middle of a line, where no mark at its end covers it.
export function addArrowhead(path, [ax, ay], [bx, by]) {
  const length = Math.hypot(bx - ax, by - ay);
  if (length < LEAST_FOR_ARROW) {
    return;
  }
  const [dx, dy] = [((bx - ax) / length) * ARROW, ((by - ay) / length) * ARROW];
  const [x, y] = [(ax + bx + dx) / 2, (ay + by + dy) / 2];
  addPolygon(path, [
    [x + dx / 2, y + dy / 2],
    [x - dx / 2 - dy / 2, y - dy / 2 + dx / 2],
    [x - dx / 2 + dy / 2, y - dy / 2 - dx / 2],
  ]);
}
