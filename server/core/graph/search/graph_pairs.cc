#include "server/core/graph/search/graph_pairs.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

constexpr Cost kNone = -1;
// Floods from one node after another, which share a budget.
class TargetFloods {
 public:
  TargetFloods(const WaypointGraph& graph, const Budget& budget, GraphScratch& scratch)
      : graph_(graph), left_(budget), scratch_(scratch) {}

  // Floods until all targets are reached; calls reach(target, cost) for each.
  template <typename Reach>
  absl::Status Run(NodeNumber source, GraphSense sense, TagSet required_tags, const NodeSet& targets,
                   const Reach& reach) {
    const GraphSeed seed{.node = source};
    const GraphFloodTask task{.seeds = {&seed, 1}, .sense = sense, .required_tags = required_tags};
    std::size_t to_reach = targets.size();
    const GraphFloodReport report =
        FloodGraph(graph_, task, left_, scratch_, [&](NodeNumber node, Cost cost) {
          if (targets.Contains(node)) {
            reach(node, cost);
            --to_reach;
          }
          return to_reach > 0;
        });
    expanded_ += report.expanded;
    left_.max_expansions -= report.expanded;
    return StatusOfFlood(report.end, expanded_);
  }

  std::uint64_t expanded() const { return expanded_; }

 private:
  const WaypointGraph& graph_;
  Budget left_;
  GraphScratch& scratch_;
  std::uint64_t expanded_ = 0;
};

// The starts or the goals.
struct Side {
  absl::Span<const GraphPlace> places;
  absl::string_view list;
  // Seat of each place. Its node is kNoNodeNumber if the place needs none or is disabled.
  std::vector<GraphSeat> seats;
  NodeSet nodes;

  bool HasNode(std::size_t i) const { return seats[i].node != kNoNodeNumber; }
  std::size_t NodeIndexOf(std::size_t i) const { return nodes.IndexOf(seats[i].node); }
};

class MatrixMaker {
 public:
  MatrixMaker(const WaypointGraph& graph, const GraphMatrixQuery& query, const Budget& budget,
              GraphScratch& scratch)
      : graph_(graph),
        query_(query),
        stop_(budget),
        floods_(graph, budget, scratch),
        starts_{
            .places = query.starts, .list = "starts", .seats = {}, .nodes = NodeSet(graph.number_limit())},
        goals_{.places = query.goals, .list = "goals", .seats = {}, .nodes = NodeSet(graph.number_limit())} {}

  absl::StatusOr<GraphMatrix> Make() {
    WAYSTAR_ASSIGN_OR_RETURN(required_tags_, FindRequiredTags(graph_, query_.required_tags));
    WAYSTAR_RETURN_IF_ERROR(MeasureLines());
    const auto sees = [&](std::size_t start, std::size_t goal) { return LineOf(start, goal) != kNone; };
    WAYSTAR_RETURN_IF_ERROR(FindNodes(starts_, columns(), sees));
    WAYSTAR_RETURN_IF_ERROR(
        FindNodes(goals_, starts_.places.size(),
                  [&](std::size_t goal, std::size_t start) { return sees(start, goal); }));
    const bool from_goals = goals_.nodes.size() < starts_.nodes.size();
    WAYSTAR_RETURN_IF_ERROR(from_goals ? Flood(goals_.nodes, starts_.nodes, GraphSense::kToSeeds)
                                       : Flood(starts_.nodes, goals_.nodes, GraphSense::kFromSeeds));
    return Write(from_goals);
  }

 private:
  std::size_t columns() const { return goals_.places.size(); }
  Cost LineOf(std::size_t start, std::size_t goal) const { return lines_[start * columns() + goal]; }

  absl::Status MeasureLines() {
    for (const Side* side : {&starts_, &goals_}) {
      for (std::size_t i = 0; i < side->places.size(); ++i) {
        WAYSTAR_RETURN_IF_ERROR_AT(IndexedField(side->list, i), CheckPlace(side->places[i], ""));
      }
    }
    lines_.assign(starts_.places.size() * columns(), kNone);
    auto line = lines_.begin();
    for (const GraphPlace& start : starts_.places) {
      for (const GraphPlace& goal : goals_.places) {
        if ((line - lines_.begin()) % kPlacesPerPoll == 0) {
          WAYSTAR_RETURN_IF_ERROR(stop_.Check());
        }
        if (SeeEachOther(graph_, start, goal, !query_.required_tags.empty())) {
          *line = LineCost(start, goal);
        }
        ++line;
      }
    }
    return absl::OkStatus();
  }

  // Finds the nodes of the places that do not see all places of the other side.
  template <typename Sees>
  absl::Status FindNodes(Side& side, std::size_t other_places, const Sees& sees) {
    side.seats.resize(side.places.size());
    std::vector<NodeNumber> nodes;
    for (std::size_t i = 0; i < side.places.size(); ++i) {
      if (i % kPlacesPerPoll == 0) {
        WAYSTAR_RETURN_IF_ERROR(stop_.Check());
      }
      std::size_t seen = 0;
      while (seen < other_places && sees(i, seen)) {
        ++seen;
      }
      if (seen == other_places) {
        continue;
      }
      absl::StatusOr<GraphSeat> seat = FindSeat(graph_, side.places[i], query_.snap_radius, "", &stop_);
      WAYSTAR_RETURN_IF_ERROR_AT(IndexedField(side.list, i), seat.status());
      if (graph_.IsEnabled(seat->node)) {
        side.seats[i] = *seat;
        nodes.push_back(seat->node);
      }
    }
    side.nodes.Assign(std::move(nodes));
    return absl::OkStatus();
  }

  absl::Status Flood(const NodeSet& sources, const NodeSet& targets, GraphSense sense) {
    between_.assign(sources.size() * targets.size(), kNone);
    for (std::size_t source = 0; source < sources.size() && targets.size() > 0; ++source) {
      Cost* const row = between_.data() + source * targets.size();
      WAYSTAR_RETURN_IF_ERROR(
          floods_.Run(sources.nodes()[source], sense, required_tags_, targets,
                      [&](NodeNumber node, Cost cost) { row[targets.IndexOf(node)] = cost; }));
    }
    return absl::OkStatus();
  }

  GraphMatrix Write(bool from_goals) const {
    GraphMatrix matrix{.costs = std::vector<double>(lines_.size(), GraphMatrix::kUnreachable),
                       .expanded = floods_.expanded()};
    for (std::size_t start = 0; start < starts_.places.size(); ++start) {
      for (std::size_t goal = 0; goal < columns(); ++goal) {
        const Cost cost = CostOf(start, goal, from_goals);
        if (cost != kNone) {
          matrix.costs[start * columns() + goal] = CostToDouble(cost);
        }
      }
    }
    return matrix;
  }

  Cost CostOf(std::size_t start, std::size_t goal, bool from_goals) const {
    if (const Cost line = LineOf(start, goal);
        line != kNone || !starts_.HasNode(start) || !goals_.HasNode(goal)) {
      return line;
    }
    const std::size_t from = starts_.NodeIndexOf(start);
    const std::size_t to = goals_.NodeIndexOf(goal);
    const Cost between =
        from_goals ? between_[to * starts_.nodes.size() + from] : between_[from * goals_.nodes.size() + to];
    return between == kNone ? kNone : starts_.seats[start].cost + between + goals_.seats[goal].cost;
  }

  const WaypointGraph& graph_;
  const GraphMatrixQuery& query_;
  const BudgetStop stop_;
  TargetFloods floods_;
  TagSet required_tags_ = 0;
  Side starts_;
  Side goals_;
  // Cost of the straight line for each start and goal; kNone if they do not see each other.
  std::vector<Cost> lines_;
  // Cost for each source node of the floods and each node of the other side.
  std::vector<Cost> between_;
};

// A pair whose nodes are enabled and differ.
struct Trip {
  NodeNumber start = 0;
  NodeNumber goal = 0;
  std::size_t index = 0;
};

std::vector<NodeNumber> NodesOf(absl::Span<const Trip> trips, NodeNumber Trip::*end) {
  std::vector<NodeNumber> nodes;
  nodes.reserve(trips.size());
  for (const Trip& trip : trips) {
    nodes.push_back(trip.*end);
  }
  return nodes;
}

class PairChecker {
 public:
  PairChecker(const WaypointGraph& graph, const GraphReachabilityQuery& query, const Budget& budget,
              GraphScratch& scratch)
      : graph_(graph),
        query_(query),
        stop_(budget),
        scratch_(scratch),
        floods_(graph, budget, scratch),
        reachable_(query.pairs.size(), false),
        targets_(graph.number_limit()) {}

  absl::StatusOr<std::vector<bool>> Check() {
    WAYSTAR_ASSIGN_OR_RETURN(required_tags_, FindRequiredTags(graph_, query_.required_tags));
    for (std::size_t i = 0; i < query_.pairs.size(); ++i) {
      if (i % kPlacesPerPoll == 0) {
        WAYSTAR_RETURN_IF_ERROR(stop_.Check());
      }
      WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat(IndexedField("pairs", i), "."), FindTrip(i));
    }
    const auto count = [&](NodeNumber Trip::*end) {
      targets_.Assign(NodesOf(trips_, end));
      return targets_.size();
    };
    const bool from_goals = count(&Trip::goal) < count(&Trip::start);
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
    targets_.Assign(NodesOf(trips, target));
    WAYSTAR_RETURN_IF_ERROR(floods_.Run(trips.front().*source, sense, required_tags_, targets_,
                                        [](NodeNumber /*node*/, Cost /*cost*/) {}));
    for (const Trip& trip : trips) {
      reachable_[trip.index] = FindReached(scratch_, trip.*target) != nullptr;
    }
    return absl::OkStatus();
  }

  const WaypointGraph& graph_;
  const GraphReachabilityQuery& query_;
  const BudgetStop stop_;
  GraphScratch& scratch_;
  TargetFloods floods_;
  TagSet required_tags_ = 0;
  std::vector<bool> reachable_;
  std::vector<Trip> trips_;
  NodeSet targets_;
};

}  // namespace

absl::StatusOr<GraphMatrix> ComputeGraphMatrix(const WaypointGraph& graph, const GraphMatrixQuery& query,
                                               const Budget& budget, GraphScratch& scratch) {
  return MatrixMaker(graph, query, budget, scratch).Make();
}

absl::StatusOr<std::vector<bool>> CheckGraphReachability(const WaypointGraph& graph,
                                                         const GraphReachabilityQuery& query,
                                                         const Budget& budget, GraphScratch& scratch) {
  return PairChecker(graph, query, budget, scratch).Check();
}

}  // namespace waystar::core
