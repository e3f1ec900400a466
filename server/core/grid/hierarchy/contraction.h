// Contraction of the nodes of a graph, in order of importance.
//
// Geisberger, Sanders, Schultes, Delling, "Contraction Hierarchies: Faster and Simpler Hierarchical Routing
// in Road Networks" (2008).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/search/taut_turns.h"

namespace waystar::core {

inline constexpr int kNodeBits = 28;
inline constexpr std::uint32_t kNodeMask = (1U << kNodeBits) - 1;
inline constexpr std::uint32_t kNoMiddle = kNodeMask;

// Arc of an undirected graph over cells, seen from one of its ends.
struct GraphArc {
  Cost cost = 0;
  std::uint32_t to : kNodeBits = 0;
  // Sector of this end that contains the arc's first leg. `arrives` is the sector of `to` that contains the
  // last leg.
  std::uint32_t leaves : kSectorBits = 0;
  // Node that a shortcut bypasses; kNoMiddle if the arc is not a shortcut.
  std::uint32_t middle : kNodeBits = 0;
  std::uint32_t arrives : kSectorBits = 0;
};

struct Graph {
  // Arcs of each node. An arc is listed at both ends.
  std::vector<std::vector<GraphArc>> arcs;
  std::vector<NeighbourBits> surroundings;
};

struct ContractionLimits {
  // Maximum number of arcs, original ones and shortcuts, each counted once.
  std::size_t max_arcs = 0;
  // Maximum number of steps of witness searches, about 5 ns each. Nodes left then are not contracted.
  std::uint64_t max_steps = 0;
  // Cancellation flag, or null. Only read; another thread may set it at any time.
  const std::atomic<bool>* cancelled = nullptr;
};

struct Contraction {
  // All nodes, least important first.
  std::vector<std::uint32_t> order;
  // Number of contracted nodes; the rest are the core.
  std::size_t contracted = 0;
};

// Contracts `graph`. Each contracted node keeps its arcs to later nodes in the order; nodes of the core keep
// all arcs between them. Searches from two nodes along these arcs meet on a cheapest path. Deterministic.
// Returns RESOURCE_EXHAUSTED if there are too many arcs, or CANCELLED; `graph` is undefined then.
absl::StatusOr<Contraction> Contract(const ContractionLimits& limits, const TautTurns& turns, Graph& graph);

}  // namespace waystar::core
