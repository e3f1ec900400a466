// The edges of a graph as a picture shows them: one line for a pair of nodes.

// A link is one-way if paths go along it from `from` to `to` alone: there is no edge back, or it is closed. Edges to
// nodes that were not read are left out.
export function linksOf(nodes, byId) {
  const keyOf = (from, to) => from.index * nodes.length + to.index;
  const edges = new Map();
  for (const from of nodes) {
    for (const edge of from.edges) {
      const to = byId.get(edge.to);
      if (to) {
        edges.set(keyOf(from, to), { from, to, isOpen: edge.open ?? false });
      }
    }
  }
  const links = [];
  for (const { from, to, isOpen } of edges.values()) {
    const back = edges.get(keyOf(to, from));
    const isSame = back?.isOpen === isOpen;
    // One of the two stands for both: the open one, or else that of the first node.
    if (!back || (isSame ? from.index < to.index : isOpen)) {
      links.push({ from, to, isOpen, isOneWay: !isSame });
    }
  }
  return links;
}
