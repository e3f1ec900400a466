// Chooses places for the nodes of a graph that has none: on a circle, and then pulled together along edges and pushed
// apart. The same graph always gets the same places.

// Of more nodes than this, the circle is all there is time for.
const MAX_NODES_TO_MOVE = 400;
const ROUNDS = 200;
const PULL_TO_MIDDLE = 0.05;

// Whether all nodes lie at one place as seen from above, so that a picture would show a single one.
export function needsLayout(nodes) {
  return nodes.length > 1 && nodes.every(({ x, y }) => x === nodes[0].x && y === nodes[0].y);
}

// `links` are pairs of indices of nodes. Returns a place for each node; most neighbours lie 1 to 2 apart.
export function layOut(count, links) {
  const places = circle(count, links);
  if (count > 2 && count <= MAX_NODES_TO_MOVE) {
    relax(places, links);
  }
  return places;
}

// In the order of a walk through the graph, so that neighbours come to lie near each other.
function circle(count, links) {
  const radius = Math.max(count / (2 * Math.PI), 0.5);
  const places = new Array(count);
  orderOf(count, links).forEach((node, i) => {
    const angle = (2 * Math.PI * i) / count;
    places[node] = { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
  return places;
}

function orderOf(count, links) {
  const neighbours = Array.from({ length: count }, () => []);
  for (const [a, b] of links) {
    neighbours[a].push(b);
    neighbours[b].push(a);
  }
  const seen = new Uint8Array(count);
  const order = [];
  for (let first = 0; first < count; ++first) {
    const waiting = [first];
    while (waiting.length > 0) {
      const node = waiting.pop();
      if (!seen[node]) {
        seen[node] = 1;
        order.push(node);
        waiting.push(...neighbours[node].reverse());
      }
    }
  }
  return order;
}

// After Fruchterman and Reingold: nodes push each other apart, edges pull, and a weak pull to the middle keeps parts
// without edges between them in one picture.
function relax(places, links) {
  const count = places.length;
  const xs = Float64Array.from(places, ({ x }) => x);
  const ys = Float64Array.from(places, ({ y }) => y);
  const forceX = new Float64Array(count);
  const forceY = new Float64Array(count);
  const attract = (a, b, isEdge) => {
    const dx = xs[b] - xs[a];
    const dy = ys[b] - ys[a];
    const square = Math.max(dx * dx + dy * dy, 1e-6);
    const share = isEdge ? Math.sqrt(square) : -1 / square;
    forceX[a] += dx * share;
    forceY[a] += dy * share;
    forceX[b] -= dx * share;
    forceY[b] -= dy * share;
  };
  for (let round = 0; round < ROUNDS; ++round) {
    forceX.forEach((_, i) => (forceX[i] = -xs[i] * PULL_TO_MIDDLE));
    forceY.forEach((_, i) => (forceY[i] = -ys[i] * PULL_TO_MIDDLE));
    for (let a = 0; a < count; ++a) {
      for (let b = a + 1; b < count; ++b) {
        attract(a, b, false);
      }
    }
    links.forEach(([a, b]) => attract(a, b, true));
    const longest = (Math.sqrt(count) / 4) * (1 - round / ROUNDS);
    for (let i = 0; i < count; ++i) {
      const share = Math.min(longest / Math.max(Math.hypot(forceX[i], forceY[i]), 1e-9), 1);
      xs[i] += forceX[i] * share;
      ys[i] += forceY[i] * share;
    }
  }
  places.forEach((place, i) => Object.assign(place, { x: xs[i], y: ys[i] }));
}
