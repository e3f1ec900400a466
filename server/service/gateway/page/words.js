// Numbers and names as people read them.

export function costText(cost) {
  return Number((cost ?? 0).toFixed(4)).toLocaleString("en", { maximumFractionDigits: 4 });
}

export function countText(count) {
  return Number(count ?? 0).toLocaleString("en");
}

// Such as "1 polygon".
export function amountText(count, noun, several = `${noun}s`) {
  return `${countText(count)} ${Number(count ?? 0) === 1 ? noun : several}`;
}

// These four write figures as `waystar top` does.
export function rateText(rate) {
  return rate.toFixed(rate > 0 && rate < 10 ? 1 : 0);
}

export function millisText(seconds) {
  return `${Number((seconds * 1000).toPrecision(3))} ms`;
}

export function bytesText(bytes) {
  const kibi = 1024;
  if (bytes < kibi ** 2) {
    return `${Math.ceil(bytes / kibi)} KiB`;
  }
  return bytes < kibi ** 3 ? `${(bytes / kibi ** 2).toFixed(1)} MiB` : `${(bytes / kibi ** 3).toFixed(1)} GiB`;
}

// Such as "3m12s", or "0.4s".
export function spanText(seconds) {
  if (seconds < 10) {
    return `${seconds.toFixed(1)}s`;
  }
  const parts = [[Math.floor(seconds / 3600), "h"], [Math.floor(seconds / 60) % 60, "m"], [Math.floor(seconds) % 60, "s"]];
  return parts.slice(parts.findIndex(([count]) => count > 0)).map(([count, unit]) => `${count}${unit}`).join("");
}

// `name`, or one with the next number if it is taken.
export function freeName(name, isTaken) {
  const numbered = (number) => (number === 1 ? name : `${name}-${number}`);
  let number = 1;
  while (isTaken(numbered(number))) {
    ++number;
  }
  return numbered(number);
}

// Of a Duration, such as "0.000034s".
export function timeText(duration) {
  const value = Math.round(parseFloat(duration ?? "0s") * 1e9);
  if (value < 1e3) {
    return `${value} ns`;
  }
  const [unit, size] = value < 1e6 ? ["µs", 1e3] : value < 1e9 ? ["ms", 1e6] : ["s", 1e9];
  return `${(value / size).toFixed(value / size < 10 ? 2 : value / size < 100 ? 1 : 0)} ${unit}`;
}

const ALGORITHMS = {
  ALGORITHM_AUTO: "auto",
  ALGORITHM_ASTAR: "A*",
  ALGORITHM_DIJKSTRA: "Dijkstra",
  ALGORITHM_JUMP_POINT_SEARCH: "jump point search",
  ALGORITHM_LAZY_THETA_STAR: "Lazy Theta*",
  ALGORITHM_SUBGOAL_HIERARCHY: "subgoal hierarchy",
  ALGORITHM_POLYANYA: "Polyanya",
};

export function algorithmText(algorithm) {
  return ALGORITHMS[algorithm] ?? algorithm ?? "–";
}

const REASONS = {
  OUTCOME_REASON_GOAL_REACHED: "",
  OUTCOME_REASON_NO_ROUTE: "No path leads from the start to the goal.",
  OUTCOME_REASON_GOAL_BLOCKED: "The goal is blocked.",
  OUTCOME_REASON_EXPANSION_LIMIT: "The search has come to its limit of expansions.",
  OUTCOME_REASON_SCRATCH_LIMIT: "The search needs more memory than the server gives one.",
  OUTCOME_REASON_COST_LIMIT: "Every path costs more than the limit.",
};

const OUTCOMES = {
  OUTCOME_FOUND: ["found", "good"],
  OUTCOME_PARTIAL: ["partial", "fair"],
  OUTCOME_UNREACHABLE: ["unreachable", "bad"],
  OUTCOME_TOO_COSTLY: ["too costly", "bad"],
};

// A word, what kind of news it is, and a sentence.
export function outcomeText({ outcome, reason }) {
  return [...(OUTCOMES[outcome] ?? ["budget exhausted", "fair"]), REASONS[reason] ?? ""];
}

export function blockedText(count) {
  return count > 0 ? `${countText(count)} of them blocked` : "none blocked";
}

export function sizeText(info) {
  if (info.unloaded) {
    return "not in memory";
  }
  if (info.graph) {
    return `${amountText(info.graph.nodes, "node")}, ${amountText(info.graph.edges, "edge")}`;
  }
  if (info.mesh) {
    return amountText(info.mesh.polygons, "polygon");
  }
  const { width, height, hexagons, squares } = info.grid;
  if (hexagons) {
    return `${width} × ${height} hexagons`;
  }
  return `${width} × ${height}, ${squares?.connectivity === "CONNECTIVITY_FOUR" ? "4" : "8"} neighbours`;
}
