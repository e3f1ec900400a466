// Lines on a canvas.

const ARROW = 9;
// Lines of fewer pixels have no room for an arrowhead.
const LEAST_FOR_ARROW = 30;

// Adds the line through points, each [x, y], to a context or a Path2D.
export function trace(path, points) {
  points.forEach(([x, y], i) => (i === 0 ? path.moveTo(x, y) : path.lineTo(x, y)));
}

// Without a path, strokes the context's own.
export function stroke(context, color, width, ...path) {
  context.lineWidth = width;
  context.strokeStyle = color;
  context.stroke(...path);
}

// Adds an arrowhead in the middle of a line, where no mark at its end covers it.
export function addArrowhead(path, [ax, ay], [bx, by]) {
  const length = Math.hypot(bx - ax, by - ay);
  if (length < LEAST_FOR_ARROW) {
    return;
  }
  const [dx, dy] = [((bx - ax) / length) * ARROW, ((by - ay) / length) * ARROW];
  const [x, y] = [(ax + bx + dx) / 2, (ay + by + dy) / 2];
  trace(path, [
    [x + dx / 2, y + dy / 2],
    [x - dx / 2 - dy / 2, y - dy / 2 + dx / 2],
    [x - dx / 2 + dy / 2, y - dy / 2 - dx / 2],
  ]);
  path.closePath();
}
