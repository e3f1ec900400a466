// Lines on a canvas.

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
