#include "server/core/graph/search/graph_matrix.h"

#include <cstddef>
#include <utility>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/node_set.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

constexpr Cost kNone = -1;
// Finding the node of a position may take as long as checking many obstacles.
constexpr std::size_t kSeatsPerPoll = 16;

// The starts or the goals.
struct Side {
  absl::Span<const GraphPlace> places;
  absl::string_view list;
  // One per place. The node is kNoNodeNumber for a place that needs none or is disabled.
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
        budget_(budget),
        stop_(budget),
        scratch_(scratch),
        starts_{
            .places = query.starts, .list = "starts", .seats = {}, .nodes = NodeSet(graph.number_limit())},
        goals_{.places = query.goals, .list = "goals", .seats = {}, .nodes = NodeSet(graph.number_limit())} {}

  absl::StatusOr<GraphMatrix> Make() {
    WAYSTAR_ASSIGN_OR_RETURN(required_tags_, FindRequiredTags(graph_, query_.required_tags));
    WAYSTAR_RETURN_IF_ERROR(MeasureLines());
    WAYSTAR_RETURN_IF_ERROR(FindNodes(starts_, SeeingAll(starts_.places.size(), columns(), columns(), 1)));
    WAYSTAR_RETURN_IF_ERROR(FindNodes(goals_, SeeingAll(columns(), starts_.places.size(), 1, columns())));
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
        if (!CheckPlace(side->places[i], "").ok()) {
          return CheckPlace(side->places[i], IndexedField(side->list, i));
        }
      }
    }
    lines_.assign(starts_.places.size() * columns(), kNone);
    auto line = lines_.begin();
    for (const GraphPlace& start : starts_.places) {
      for (const GraphPlace& goal : goals_.places) {
        if ((line - lines_.begin()) % kSeatsPerPoll == 0) {
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

  // Returns, for each place of a side, whether it sees all places of the other side. `step` is the distance
  // in lines_ between consecutive places.
  std::vector<bool> SeeingAll(std::size_t places, std::size_t others, std::size_t step,
                              std::size_t other_step) const {
    std::vector<bool> seeing(places, true);
    for (std::size_t place = 0; place < places; ++place) {
      for (std::size_t other = 0; other < others && seeing[place]; ++other) {
        seeing[place] = lines_[place * step + other * other_step] != kNone;
      }
    }
    return seeing;
  }

  absl::Status FindNodes(Side& side, const std::vector<bool>& sees_all) {
    side.seats.resize(side.places.size());
    std::vector<NodeNumber> nodes;
    for (std::size_t i = 0; i < side.places.size(); ++i) {
      if (i % kSeatsPerPoll == 0) {
        WAYSTAR_RETURN_IF_ERROR(stop_.Check());
      }
      if (sees_all[i]) {
        continue;
      }
      absl::StatusOr<GraphSeat> seat = FindSeat(graph_, side.places[i], query_.snap_radius, "", &stop_);
      if (!seat.ok()) {
        return WithFieldPrefix(seat.status(), IndexedField(side.list, i));
      }
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
    Budget left = budget_;
    for (std::size_t source = 0; source < sources.size() && targets.size() > 0; ++source) {
      const GraphSeed seed{.node = sources.nodes()[source]};
      const GraphFloodTask task{.seeds = {&seed, 1}, .sense = sense, .required_tags = required_tags_};
      Cost* const row = between_.data() + source * targets.size();
      std::size_t to_reach = targets.size();
      const GraphFloodReport report =
          FloodGraph(graph_, task, left, scratch_, [&](NodeNumber node, Cost cost) {
            if (targets.Contains(node)) {
              row[targets.IndexOf(node)] = cost;
              --to_reach;
            }
            return to_reach > 0;
          });
      expanded_ += report.expanded;
      left.max_expansions -= report.expanded;
      WAYSTAR_RETURN_IF_ERROR(StatusOfFlood(report.end, expanded_));
    }
    return absl::OkStatus();
  }

  GraphMatrix Write(bool from_goals) const {
    GraphMatrix matrix{.costs = std::vector<double>(lines_.size(), GraphMatrix::kUnreachable),
                       .expanded = expanded_};
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
  const Budget& budget_;
  const BudgetStop stop_;
  GraphScratch& scratch_;
  TagSet required_tags_ = 0;
  Side starts_;
  Side goals_;
  // Cost of the straight line by start and goal; kNone if they do not see each other.
  std::vector<Cost> lines_;
  // Cost by source node of the floods and node of the other side.
  std::vector<Cost> between_;
  std::uint64_t expanded_ = 0;
};

}  // namespace

absl::StatusOr<GraphMatrix> ComputeGraphMatrix(const WaypointGraph& graph, const GraphMatrixQuery& query,
                                               const Budget& budget, GraphScratch& scratch) {
  return MatrixMaker(graph, query, budget, scratch).Make();
}

}  // namespace waystar::core
