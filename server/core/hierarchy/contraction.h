// Contraction of the nodes of a graph in turn, from the least to the most important.
//
// Geisberger, Sanders, Schultes, Delling, "Contraction Hierarchies: Faster and Simpler Hierarchical Routing
// in Road Networks" (2008).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/grid/cost.h"
#include "server/core/search/taut_turns.h"

namespace waystar::core {

inline constexpr int kNodeBits = 28;
inline constexpr std::uint32_t kNodeMask = (1U << kNodeBits) - 1;
inline constexpr std::uint32_t kNoMiddle = kNodeMask;

// An arc of an undirected graph over cells, seen from one of its ends.
struct GraphArc {
  Cost cost = 0;
  std::uint32_t to : kNodeBits = 0;
  // The sector of this end in which the arc's first leg lies, and that of `to` in which the last one does.
  std::uint32_t leaves : kSectorBits = 0;
  // The node that a shortcut leads over; kNoMiddle if the arc is not a shortcut.
  std::uint32_t middle : kNodeBits = 0;
  std::uint32_t arrives : kSectorBits = 0;
};

struct Graph {
  // The arcs of each node. An arc is listed with both its ends.
  std::vector<std::vector<GraphArc>> arcs;
  std::vector<NeighbourBits> surroundings;
};

struct ContractionLimits {
  // The most arcs, each counted once, original ones and shortcuts.
  std::size_t max_arcs = 0;
  // The most steps of searches for witnesses, about 5 ns each. Nodes that are left then are not contracted.
  std::uint64_t max_steps = 0;
  // A cancellation flag, or null. It is only read; another thread may set it at any time.
  const std::atomic<bool>* cancelled = nullptr;
};

struct Contraction {
  // All nodes, from the least important up.
  std::vector<std::uint32_t> order;
  // How many of them were contracted; the rest are the core.
  std::size_t contracted = 0;
};

// Leaves with each contracted node of `graph` the arcs to nodes after it in the order, and with those of the
// core all arcs between them: from any two nodes searches along such arcs, meeting on the way, find a
// cheapest path. It is deterministic. Returns RESOURCE_EXHAUSTED if there are too many arcs and CANCELLED if
// cancelled; `graph` is undefined then.
absl::StatusOr<Contraction> Contract(const ContractionLimits& limits, const TautTurns& turns, Graph& graph);

}  // namespace waystar::core
