#include "client/cli/find_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/cli/cell_argument.h"
#include "client/cli/draw/path_cells.h"

namespace waystar::cli {
namespace {

std::string Because(v1::Reason reason) {
  switch (reason) {
    case v1::REASON_NO_ROUTE:
      return "walls part it from the start";
    case v1::REASON_GOAL_BLOCKED:
      return "it is blocked";
    case v1::REASON_EXPANSION_LIMIT:
      return "the expansion limit was reached";
    case v1::REASON_SCRATCH_LIMIT:
      return "it takes more memory than the server gives one search";
    default:
      return "the server gives a reason that this tool does not know";
  }
}

bool HasStraightLines(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  return request.path_form() == v1::PATH_FORM_SMOOTHED ||
         answer.statistics().algorithm() == v1::ALGORITHM_LAZY_THETA_STAR;
}

// On a waypoint graph.
bool IsOverNodes(const v1::FindPathResponse& answer) { return answer.positions_size() > 0; }

std::string EndText(const v1::FindPathResponse& answer) {
  if (!IsOverNodes(answer)) {
    return absl::StrCat(FormatCell(answer.end()), ", the nearest cell");
  }
  return absl::StrCat(answer.nodes_size() > 0 ? answer.nodes(answer.nodes_size() - 1) : "the start",
                      ", the nearest node");
}

std::string Length(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  if (IsOverNodes(answer)) {
    return absl::StrFormat("%d %s at cost %.10g", answer.nodes_size(),
                           answer.nodes_size() == 1 ? "node" : "nodes", answer.cost());
  }
  if (HasStraightLines(request, answer)) {
    const int lines = std::max(answer.points_size() - 1, 0);
    return absl::StrFormat("%d straight %s at cost %.10g", lines, lines == 1 ? "line" : "lines",
                           answer.cost());
  }
  const size_t cells = PathCells(request.start(), answer).size();
  const size_t steps = cells == 0 ? 0 : cells - 1;
  return absl::StrFormat("%d %s at cost %.10g", steps, steps == 1 ? "step" : "steps", answer.cost());
}

std::string Outcome(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  switch (answer.outcome()) {
    case v1::OUTCOME_FOUND:
      return absl::StrCat("Path found: ", Length(request, answer));
    case v1::OUTCOME_PARTIAL:
      return absl::StrCat("No path to the goal: ", Because(answer.reason()), "; ", Length(request, answer),
                          " to ", EndText(answer), " that can be reached");
    case v1::OUTCOME_UNREACHABLE:
      return absl::StrCat("No path to the goal: ", Because(answer.reason()));
    case v1::OUTCOME_BUDGET_EXHAUSTED:
      return absl::StrCat("Search ended early: ", Because(answer.reason()), "; ", Length(request, answer),
                          " to ", EndText(answer), " it came to");
    default:
      return "The server gave an outcome that this tool does not know";
  }
}

std::string AlgorithmName(v1::Algorithm algorithm) {
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
      return "subgoal hierarchy";
    default:
      return "another algorithm";
  }
}

std::string DirectionName(int direction) {
  static constexpr const char* kNames[] = {"?", "N", "NE", "E", "SE", "S", "SW", "W", "NW"};
  return v1::Direction_IsValid(direction) ? kNames[direction] : kNames[0];
}

}  // namespace

std::string FindText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  const v1::SearchStatistics& statistics = answer.statistics();
  return absl::StrCat(Outcome(request, answer), " (revision ", answer.revision(), "; ", statistics.expanded(),
                      IsOverNodes(answer) ? " node" : " cell", statistics.expanded() == 1 ? "" : "s",
                      " expanded in ", absl::FormatDuration(absl::Nanoseconds(statistics.search_nanos())),
                      " by ", AlgorithmName(statistics.algorithm()), ")");
}

std::string PathText(const v1::FindPathResponse& answer) {
  if (answer.directions_size() > 0) {
    return absl::StrJoin(answer.directions(), " ", [](std::string* out, int direction) {
      absl::StrAppend(out, DirectionName(direction));
    });
  }
  return absl::StrJoin(answer.points(), " ", [](std::string* out, const v1::Cell& cell) {
    absl::StrAppend(out, FormatCell(cell));
  });
}

}  // namespace waystar::cli
