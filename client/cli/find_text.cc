#include "client/cli/find_text.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/cli/cell_argument.h"
#include "client/cli/draw/path_cells.h"
#include "client/cli/table.h"

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

std::string Length(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  if (HasStraightLines(request, answer)) {
    const int lines = std::max(answer.points_size() - 1, 0);
    return absl::StrFormat("%d straight %s at cost %.10g", lines, lines == 1 ? "line" : "lines",
                           answer.cost());
  }
  const size_t cells = PathCells(StartOf(request, answer), answer).size();
  const size_t steps = cells == 0 ? 0 : cells - 1;
  return absl::StrFormat("%d %s at cost %.10g", steps, steps == 1 ? "step" : "steps", answer.cost());
}

std::string Outcome(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  switch (answer.outcome()) {
    case v1::OUTCOME_FOUND:
      return absl::StrCat("Path found: ", Length(request, answer));
    case v1::OUTCOME_PARTIAL:
      return absl::StrCat("No path to the goal: ", Because(answer.reason()), "; ", Length(request, answer),
                          " to ", FormatCell(answer.end()), ", the nearest cell that can be reached");
    case v1::OUTCOME_UNREACHABLE:
      return absl::StrCat("No path to the goal: ", Because(answer.reason()));
    case v1::OUTCOME_BUDGET_EXHAUSTED:
      return absl::StrCat("Search ended early: ", Because(answer.reason()), "; ", Length(request, answer),
                          " to ", FormatCell(answer.end()), ", the nearest cell it came to");
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
                      statistics.expanded() == 1 ? " cell" : " cells", " expanded in ",
                      absl::FormatDuration(absl::Nanoseconds(statistics.search_nanos())), " by ",
                      AlgorithmName(statistics.algorithm()), ")");
}

std::string PathText(const v1::FindPathResponse& answer) {
  if (answer.directions_size() > 0) {
    return absl::StrJoin(answer.directions(), " ", [](std::string* out, int direction) {
      absl::StrAppend(out, DirectionName(direction));
    });
  }
  if (answer.positions_size() > 0) {
    return absl::StrJoin(answer.positions(), " ", [](std::string* out, const v1::Position& position) {
      absl::StrAppend(out, position.x(), ",", position.y());
    });
  }
  return absl::StrJoin(answer.points(), " ", [](std::string* out, const v1::Cell& cell) {
    absl::StrAppend(out, FormatCell(cell));
  });
}

std::string SummaryText(const v1::PathSummary& summary) {
  std::vector<TableRow> rows;
  for (const v1::PathSummary::Leg& leg : summary.legs()) {
    rows.push_back({absl::StrCat("  ", leg.terrain()), absl::StrCat(leg.cells(), " cells"),
                    absl::StrFormat("length %.6g", leg.length()), absl::StrFormat("cost %.6g", leg.cost())});
  }
  return absl::StrCat(absl::StrFormat("Length %.6g, %d %s\n", summary.length(), summary.turns(),
                                      summary.turns() == 1 ? "turn" : "turns"),
                      FormatTable(rows));
}

const v1::Cell& StartOf(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  return answer.has_start() ? answer.start() : request.start();
}

}  // namespace waystar::cli
