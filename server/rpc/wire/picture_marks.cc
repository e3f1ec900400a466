#include "server/rpc/wire/picture_marks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/portal/path_legs.h"
#include "server/rpc/wire/convert.h"

namespace waystar::rpc {
namespace {

struct Crossing {
  std::size_t index = 0;
};

// The cells that directions lead through.
std::vector<core::Cell> Walk(core::Cell at, absl::Span<const int> directions) {
  std::vector<core::Cell> cells = {at};
  for (const int direction : directions) {
    at = core::Step(at, static_cast<core::Direction>(direction - 1));
    cells.push_back(at);
  }
  return cells;
}

std::optional<core::WorldPoint> LaneOf(const core::WaypointGraph& graph, const std::string& node,
                                       const v1::Position* position) {
  if (position != nullptr) {
    return core::WorldPoint{position->x(), position->y(), position->z()};
  }
  const core::NodeNumber number = graph.FindNode(node);
  if (number == core::kNoNodeNumber) {
    return std::nullopt;
  }
  return graph.PositionOf(number);
}

const char* AlgorithmName(v1::Algorithm algorithm) {
  switch (algorithm) {
    case v1::ALGORITHM_ASTAR:
      return "A*";
    case v1::ALGORITHM_DIJKSTRA:
      return "Dijkstra";
    case v1::ALGORITHM_JUMP_POINT_SEARCH:
      return "jump point search";
    case v1::ALGORITHM_LAZY_THETA_STAR:
      return "Lazy Theta*";
    case v1::ALGORITHM_SUBGOAL_HIERARCHY:
      return "the subgoal hierarchy";
    default:
      return "no search";
  }
}

}  // namespace

core::QueryMarks ToQueryMarks(const std::string& map, const v1::FindPathRequest& query,
                              const v1::FindPathResponse& answer) {
  core::QueryMarks marks;
  marks.start = ToCell(answer.start());
  marks.any_angle = answer.statistics().algorithm() == v1::ALGORITHM_LAZY_THETA_STAR;
  const bool ends_here = query.goal_map().empty() || query.goal_map() == map;
  if (ends_here && query.has_goal()) {
    marks.goals.push_back(ToCell(query.goal()));
  } else if (ends_here && !query.goals().empty()) {
    for (const v1::Cell& goal : query.goals()) {
      marks.goals.push_back(ToCell(goal));
    }
  } else if (ends_here && answer.outcome() == v1::OUTCOME_FOUND) {
    marks.goals.push_back(ToCell(answer.end()));
  }
  std::vector<core::Cell> points;
  for (const v1::Cell& point : answer.points()) {
    points.push_back(ToCell(point));
  }
  const std::vector<int> directions(answer.directions().begin(), answer.directions().end());
  std::vector<Crossing> crossings;
  for (const v1::PortalCrossing& crossing : answer.crossings()) {
    crossings.push_back({static_cast<std::size_t>(crossing.index())});
  }
  bool is_here = true;
  core::Cell begin = *marks.start;
  for (std::size_t i = 0; i <= crossings.size(); ++i) {
    const auto span = [&](const auto& path) {
      return core::LegOf(absl::MakeConstSpan(path), absl::MakeConstSpan(crossings), i);
    };
    const absl::Span<const core::Cell> part = span(points);
    std::vector<core::Cell> leg = directions.empty() ? std::vector<core::Cell>(part.begin(), part.end())
                                                     : Walk(begin, span(directions));
    const std::optional<core::Cell> end =
        leg.empty() ? std::optional<core::Cell>() : std::optional(leg.back());
    if (is_here && !leg.empty()) {
      marks.legs.push_back(std::move(leg));
    }
    if (i == crossings.size()) {
      break;
    }
    const v1::PortalCrossing& crossing = answer.crossings(static_cast<int>(i));
    const bool was_here = is_here;
    is_here = crossing.map().empty() ? was_here : crossing.map() == map;
    begin = ToCell(crossing.arrival());
    if (was_here && is_here && end.has_value()) {
      marks.jumps.emplace_back(*end, begin);
    }
  }
  return marks;
}

core::GraphQueryMarks ToGraphQueryMarks(const core::WaypointGraph& graph, const v1::FindPathRequest& query,
                                        const v1::FindPathResponse& answer) {
  core::GraphQueryMarks marks;
  marks.start =
      LaneOf(graph, query.start_node(), query.has_start_position() ? &query.start_position() : nullptr);
  marks.goal = LaneOf(graph, query.goal_node(), query.has_goal_position() ? &query.goal_position() : nullptr);
  for (const v1::Position& position : answer.positions()) {
    marks.way.push_back({position.x(), position.y(), position.z()});
  }
  return marks;
}

std::string CaptionOf(const v1::FindPathResponse& answer) {
  const std::string search = absl::StrFormat("%d expanded by %s", answer.statistics().expanded(),
                                             AlgorithmName(answer.statistics().algorithm()));
  switch (answer.outcome()) {
    case v1::OUTCOME_FOUND:
      return absl::StrFormat("path found, cost %.9g; %s", answer.cost(), search);
    case v1::OUTCOME_PARTIAL:
      return absl::StrFormat("no path to the goal; as near as can be, cost %.9g; %s", answer.cost(), search);
    case v1::OUTCOME_BUDGET_EXHAUSTED:
      return absl::StrCat("out of budget before the goal was reached; ", search);
    default:
      return absl::StrCat("no path to the goal; ", search);
  }
}

}  // namespace waystar::rpc
