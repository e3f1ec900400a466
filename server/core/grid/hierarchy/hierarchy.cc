#include "server/core/grid/hierarchy/hierarchy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/error.h"
#include "server/core/grid/search/octile.h"

namespace waystar::core {
namespace {

constexpr std::uint32_t kSideMask = (1U << Hierarchy::kSideBits) - 1;
static_assert(kMaxMapSide - 1 <= kSideMask);

NeighbourBits SurroundingsOf(const WalkCells& walk, Cell cell) {
  NeighbourBits surroundings = 0;
  for (unsigned d = 0; d < kDirectionCount; ++d) {
    if (walk.IsWalkable(Step(cell, static_cast<Direction>(d)))) {
      surroundings |= SetOf(static_cast<Direction>(d));
    }
  }
  return surroundings;
}

constexpr std::size_t kSubgoalsPerPoll = 16;
constexpr std::size_t kSamples = 256;

// Estimates the number of arcs of the graph from a sample, to fail early if there are far too many.
std::size_t EstimateArcs(const Subgoals& subgoals) {
  const std::size_t stride = subgoals.count() / kSamples + 1;
  std::size_t ends = 0;
  std::size_t node = 0;
  subgoals.ForEach([&](Cell cell) {
    if (node++ % stride == 0) {
      subgoals.ForEachNeighbour(cell, [&](Cell) { ++ends; });
    }
  });
  return ends * stride / 2;
}

// Builds the graph of the subgoals and the arcs between neighbours.
absl::StatusOr<Graph> SubgoalGraph(const Subgoals& subgoals, const WalkCells& walk, Cost straight,
                                   Cost diagonal, const ContractionLimits& limits) {
  Graph graph{.arcs = std::vector<std::vector<GraphArc>>(subgoals.count())};
  graph.surroundings.reserve(subgoals.count());
  std::size_t ends = 0;
  std::size_t node = 0;
  absl::Status status;
  subgoals.ForEach([&](Cell cell) {
    std::vector<GraphArc>& arcs = graph.arcs[node++];
    graph.surroundings.push_back(SurroundingsOf(walk, cell));
    if (!status.ok()) {
      return;
    }
    if (node % kSubgoalsPerPoll == 0 && limits.cancelled != nullptr &&
        limits.cancelled->load(std::memory_order_relaxed)) {
      status = absl::CancelledError("subgoal graph cancelled");
      return;
    }
    subgoals.ForEachNeighbour(cell, [&](Cell neighbour) {
      arcs.push_back({.cost = OctileCost(cell, neighbour, straight, diagonal),
                      .to = subgoals.At(neighbour) & kNodeMask,
                      .leaves = SectorOf(cell, neighbour) & kSectorMask,
                      .middle = kNoMiddle,
                      .arrives = SectorOf(neighbour, cell) & kSectorMask});
    });
    ends += arcs.size();
    if (ends / 2 > limits.max_arcs) {
      status = absl::ResourceExhaustedError("too many arcs between subgoals");
    }
  });
  WAYSTAR_RETURN_IF_ERROR(status);
  return graph;
}

}  // namespace

Hierarchy::Hierarchy(const WalkCells& walk, Cost straight, Cost diagonal)
    : StaticIndex(walk),
      subgoals_(walk),
      straight_(straight),
      diagonal_(diagonal),
      turns_(straight, diagonal) {}

std::size_t Hierarchy::MaxArcs(std::size_t max_bytes) const {
  // While building, an arc is stored at both ends in vectors with spare capacity; in the result once, in the
  // core twice. A node includes its state of the witness search, its queue entry and so on.
  constexpr std::size_t kArcBytes = 4 * sizeof(GraphArc) + 2 * (sizeof(Arc) + sizeof(Node));
  constexpr std::size_t kNodeBytes = 112;
  const std::size_t fixed = sizeof(*this) + subgoals_.memory_bytes() + kNodeBytes * subgoals_.count();
  return max_bytes <= fixed ? 0
                            : std::min((max_bytes - fixed) / kArcBytes,
                                       std::size_t{std::numeric_limits<ArcIndex>::max()} / 2 - 1);
}

absl::StatusOr<std::unique_ptr<const Hierarchy>> Hierarchy::Build(const WalkCells& walk, Cost straight,
                                                                  Cost diagonal, const Limits& limits) {
  if (Subgoals::BytesFor(walk.width(), walk.height()) > limits.max_bytes) {
    return absl::ResourceExhaustedError("the grid is too large for a hierarchy");
  }
  auto hierarchy = absl::WrapUnique(new Hierarchy(walk, straight, diagonal));
  const ContractionLimits contraction_limits{.max_arcs = hierarchy->MaxArcs(limits.max_bytes),
                                             .max_steps = limits.max_steps,
                                             .cancelled = limits.cancelled};
  if (contraction_limits.max_arcs < hierarchy->subgoals_.count() || hierarchy->subgoals_.count() >= kNone) {
    return absl::ResourceExhaustedError("the grid has too many subgoals for a hierarchy");
  }
  if (EstimateArcs(hierarchy->subgoals_) / 5 * 4 > contraction_limits.max_arcs) {
    return absl::ResourceExhaustedError("the grid's subgoals see too many others for a hierarchy");
  }
  WAYSTAR_ASSIGN_OR_RETURN(Graph graph,
                           SubgoalGraph(hierarchy->subgoals_, walk, straight, diagonal, contraction_limits));
  WAYSTAR_ASSIGN_OR_RETURN(const Contraction contraction,
                           Contract(contraction_limits, hierarchy->turns_, graph));
  hierarchy->Number(graph, contraction.order);
  hierarchy->first_of_core_ = static_cast<Node>(contraction.contracted);
  return std::unique_ptr<const Hierarchy>(std::move(hierarchy));
}

void Hierarchy::Number(Graph& graph, const std::vector<SubgoalId>& order) {
  node_of_.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    node_of_[order[i]] = static_cast<Node>(i);
  }
  cells_.resize(order.size());
  SubgoalId subgoal = 0;
  surroundings_.resize(order.size());
  subgoals_.ForEach([&](Cell cell) {
    const Node node = node_of_[subgoal];
    cells_[node] = Pack(cell);
    surroundings_[node] = graph.surroundings[subgoal];
    ++subgoal;
  });
  std::size_t arcs = 0;
  for (const std::vector<GraphArc>& upward : graph.arcs) {
    arcs += upward.size();
  }
  arcs_.reserve(arcs);
  middles_.reserve(arcs);
  first_arc_.reserve(order.size() + 1);
  for (const SubgoalId from : order) {
    std::sort(graph.arcs[from].begin(), graph.arcs[from].end(),
              [&](const GraphArc& a, const GraphArc& b) { return node_of_[a.to] < node_of_[b.to]; });
    first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));
    for (const GraphArc& arc : graph.arcs[from]) {
      const Node to = node_of_[arc.to];
      const Cell cell = Unpack(cells_[to]);
      arcs_.push_back({.cost = arc.cost,
                       .to = to & kNodeMask,
                       .leaves = arc.leaves,
                       .x = static_cast<std::uint32_t>(cell.x) & kSideMask,
                       .y = static_cast<std::uint32_t>(cell.y) & kSideMask,
                       .arrives = arc.arrives});
      middles_.push_back(arc.middle == kNoMiddle ? kNone : node_of_[arc.middle]);
    }
  }
  first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));
}

Hierarchy::Node Hierarchy::FromOf(ArcIndex index) const {
  const auto after = std::upper_bound(first_arc_.begin(), first_arc_.end(), index);
  return static_cast<Node>(after - first_arc_.begin() - 1);
}

Hierarchy::ArcIndex Hierarchy::ArcBetween(Node from, Node to) const {
  const absl::Span<const Arc> arcs = ArcsOf(from);
  const auto arc =
      std::lower_bound(arcs.begin(), arcs.end(), to, [](const Arc& a, Node b) { return a.to < b; });
  return first_arc_[from] + static_cast<ArcIndex>(arc - arcs.begin());
}

std::size_t Hierarchy::memory_bytes() const {
  return subgoals_.memory_bytes() + sizeof(*this) + node_of_.capacity() * sizeof(Node) +
         cells_.capacity() * sizeof(PackedCell) + surroundings_.capacity() * sizeof(NeighbourBits) +
         first_arc_.capacity() * sizeof(std::uint32_t) + arcs_.capacity() * sizeof(Arc) +
         middles_.capacity() * sizeof(Node);
}

}  // namespace waystar::core
