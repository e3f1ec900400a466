#include "server/core/graph/search/graph_reachability.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/node_set.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Finding the node of a position may take as long as checking many obstacles.
constexpr std::size_t kPairsPerPoll = 16;

// A pair whose nodes are enabled and differ.
struct Trip {
  NodeNumber start = 0;
  NodeNumber goal = 0;
  // Index of the pair.
  std::size_t index = 0;
};

std::size_t CountDistinct(absl::Span<const Trip> trips, NodeNumber Trip::*end) {
  std::vector<NodeNumber> nodes;
  nodes.reserve(trips.size());
  for (const Trip& trip : trips) {
    nodes.push_back(trip.*end);
  }
  std::sort(nodes.begin(), nodes.end());
  return static_cast<std::size_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

class PairChecker {
 public:
  PairChecker(const WaypointGraph& graph, const GraphReachabilityQuery& query, const Budget& budget,
              GraphScratch& scratch)
      : graph_(graph),
        query_(query),
        left_(budget),
        stop_(budget),
        scratch_(scratch),
        reachable_(query.pairs.size(), false),
        targets_(graph.number_limit()) {}

  absl::StatusOr<std::vector<bool>> Check() {
    WAYSTAR_ASSIGN_OR_RETURN(required_tags_, FindRequiredTags(graph_, query_.required_tags));
    for (std::size_t i = 0; i < query_.pairs.size(); ++i) {
      if (i % kPairsPerPoll == 0) {
        WAYSTAR_RETURN_IF_ERROR(stop_.Check());
      }
      if (const absl::Status status = FindTrip(i); !status.ok()) {
        return WithFieldPrefix(status, absl::StrCat(IndexedField("pairs", i), "."));
      }
    }
    const bool from_goals = CountDistinct(trips_, &Trip::goal) < CountDistinct(trips_, &Trip::start);
    const auto source = from_goals ? &Trip::goal : &Trip::start;
    const auto target = from_goals ? &Trip::start : &Trip::goal;
    std::sort(trips_.begin(), trips_.end(),
              [&](const Trip& a, const Trip& b) { return a.*source < b.*source; });
    for (auto begin = trips_.begin(); begin != trips_.end();) {
      const auto end = std::find_if(begin, trips_.end(),
                                    [&](const Trip& trip) { return trip.*source != (*begin).*source; });
      WAYSTAR_RETURN_IF_ERROR(Flood({&*begin, static_cast<std::size_t>(end - begin)}, source, target,
                                    from_goals ? GraphSense::kToSeeds : GraphSense::kFromSeeds));
      begin = end;
    }
    return std::move(reachable_);
  }

 private:
  absl::Status FindTrip(std::size_t index) {
    const GraphPair& pair = query_.pairs[index];
    WAYSTAR_RETURN_IF_ERROR(CheckPlace(pair.start, "start"));
    WAYSTAR_RETURN_IF_ERROR(CheckPlace(pair.goal, "goal"));
    if (SeeEachOther(graph_, pair.start, pair.goal, !query_.required_tags.empty())) {
      reachable_[index] = true;
      return absl::OkStatus();
    }
    WAYSTAR_ASSIGN_OR_RETURN(const GraphSeat start,
                             FindSeat(graph_, pair.start, query_.snap_radius, "start", &stop_));
    WAYSTAR_ASSIGN_OR_RETURN(const GraphSeat goal,
                             FindSeat(graph_, pair.goal, query_.snap_radius, "goal", &stop_));
    if (graph_.IsEnabled(start.node) && graph_.IsEnabled(goal.node)) {
      if (start.node == goal.node) {
        reachable_[index] = true;
      } else {
        trips_.push_back({.start = start.node, .goal = goal.node, .index = index});
      }
    }
    return absl::OkStatus();
  }

  // REQUIRES: the trips have the same source.
  absl::Status Flood(absl::Span<const Trip> trips, NodeNumber Trip::*source, NodeNumber Trip::*target,
                     GraphSense sense) {
    std::vector<NodeNumber> nodes;
    nodes.reserve(trips.size());
    for (const Trip& trip : trips) {
      nodes.push_back(trip.*target);
    }
    targets_.Assign(std::move(nodes));
    const GraphSeed seed{.node = trips.front().*source};
    const GraphFloodTask task{.seeds = {&seed, 1}, .sense = sense, .required_tags = required_tags_};
    std::size_t to_reach = targets_.size();
    const GraphFloodReport report = FloodGraph(graph_, task, left_, scratch_, [&](NodeNumber node, Cost) {
      to_reach -= targets_.Contains(node) ? 1 : 0;
      return to_reach > 0;
    });
    expanded_ += report.expanded;
    left_.max_expansions -= report.expanded;
    WAYSTAR_RETURN_IF_ERROR(StatusOfFlood(report.end, expanded_));
    for (const Trip& trip : trips) {
      reachable_[trip.index] = FindReached(scratch_, trip.*target) != nullptr;
    }
    return absl::OkStatus();
  }

  const WaypointGraph& graph_;
  const GraphReachabilityQuery& query_;
  Budget left_;
  const BudgetStop stop_;
  GraphScratch& scratch_;
  TagSet required_tags_ = 0;
  std::vector<bool> reachable_;
  std::vector<Trip> trips_;
  NodeSet targets_;
  std::uint64_t expanded_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<bool>> CheckGraphReachability(const WaypointGraph& graph,
                                                         const GraphReachabilityQuery& query,
                                                         const Budget& budget, GraphScratch& scratch) {
  return PairChecker(graph, query, budget, scratch).Check();
}

}  // namespace waystar::core
