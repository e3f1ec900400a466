// Draws the nodes and edges of a waypoint graph. Edges that no path may go along are dotted.

const MOST_NAMES = 60;

export function drawGraph(context, view, { nodes, byId, lattice }, ink) {
  const place = (node) => view.toScreen(...lattice.center(node.x, node.y));
  const open = new Path2D();
  const closed = new Path2D();
  for (const node of nodes) {
    for (const edge of node.edges) {
      const to = byId.get(edge.to);
      if (to) {
        const path = edge.open ? open : closed;
        path.moveTo(...place(node));
        path.lineTo(...place(to));
      }
    }
  }
  context.lineWidth = 1.5;
  context.strokeStyle = ink.edge;
  context.stroke(open);
  context.setLineDash([3, 5]);
  context.stroke(closed);
  context.setLineDash([]);
  nodes.forEach((node) => drawNode(context, view, node, place(node), ink));
  if (nodes.length < MOST_NAMES) {
    drawNames(context, nodes, place, ink);
  }
}

function drawNode(context, view, node, [px, py], ink) {
  const radius = Math.min(Math.max(view.scale * 0.35, 2.5), 7);
  if (px < -radius || py < -radius || px > view.width + radius || py > view.height + radius) {
    return;
  }
  context.beginPath();
  context.arc(px, py, radius, 0, 2 * Math.PI);
  context.fillStyle = node.isDisabled ? ink.outside : ink.wall;
  context.fill();
  context.strokeStyle = ink.wall;
  context.stroke();
}

function drawNames(context, nodes, place, ink) {
  context.font = "500 11px Inter, system-ui, sans-serif";
  context.textAlign = "left";
  context.textBaseline = "bottom";
  context.fillStyle = ink.wall;
  nodes.forEach((node) => {
    const [px, py] = place(node);
    context.fillText(node.id, px + 9, py - 7);
  });
}
