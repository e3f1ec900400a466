#include "client/cli/find_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

std::string Because(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  switch (answer.reason()) {
    case v1::OUTCOME_REASON_NO_ROUTE:
      return IsOnGraph(request, answer) ? "no edges lead there from the start"
             : IsOnMesh(answer)         ? "no polygons lead there from the start"
                                        : "walls part it from the start";
    case v1::OUTCOME_REASON_GOAL_BLOCKED:
      return IsOnMesh(answer) ? "it is not on the mesh" : "it is blocked";
    case v1::OUTCOME_REASON_EXPANSION_LIMIT:
      return "the expansion limit was reached";
    case v1::OUTCOME_REASON_SCRATCH_LIMIT:
      return "it takes more memory than the server gives one search";
    default:
      return "the server gives a reason that this tool does not know";
  }
}

bool HasStraightLines(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  return request.path_form() == v1::PATH_FORM_SMOOTHED ||
         answer.info().statistics().algorithm() == v1::ALGORITHM_LAZY_THETA_STAR;
}

std::string EndText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  const v1::Path& path = answer.path();
  if (IsOnMesh(answer)) {
    return absl::StrCat(FormatPosition(path.positions(path.positions_size() - 1)), ", the nearest point");
  }
  if (!IsOnGraph(request, answer)) {
    return absl::StrCat(FormatCell(path.end().cell()), ", the nearest cell");
  }
  return absl::StrCat(path.nodes_size() > 0 ? path.nodes(path.nodes_size() - 1) : "the start",
                      ", the nearest node");
}

std::string Portals(const v1::FindPathResponse& answer) {
  const int crossed = answer.path().crossings_size();
  return crossed == 0 ? "" : absl::StrCat(" and ", Counted(crossed, "portal"));
}

// "2 straight lines and 1 portal at cost 7.5". `points` are those of the path.
std::string LinesText(int points, const char* measure, const v1::FindPathResponse& answer) {
  const int lines = std::max(points - 1 - answer.path().crossings_size(), 0);
  return absl::StrFormat("%s%s %s %.10g", Counted(lines, "straight line"), Portals(answer), measure,
                         answer.cost());
}

// Steps lead from each point to the next, except through portals.
std::int64_t StepsOf(const v1::Path& path) {
  std::int64_t steps = path.directions_size();
  int crossed = 0;
  for (int i = 1; i < path.points_size(); ++i) {
    while (crossed < path.crossings_size() && path.crossings(crossed).index() < i) {
      ++crossed;
    }
    if (crossed < path.crossings_size() && path.crossings(crossed).index() == i) {
      continue;
    }
    const v1::Cell& from = path.points(i - 1);
    const v1::Cell& to = path.points(i);
    steps += std::max(std::abs(to.x() - from.x()), std::abs(to.y() - from.y()));
  }
  return steps;
}

std::string Length(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  if (IsOnMesh(answer)) {
    return LinesText(answer.path().positions_size(),
                     answer.path().crossings().empty() ? "of length" : "at cost", answer);
  }
  if (IsOnGraph(request, answer)) {
    return absl::StrFormat("%s at cost %.10g", Counted(answer.path().nodes_size(), "node"), answer.cost());
  }
  if (HasStraightLines(request, answer)) {
    return LinesText(answer.path().points_size(), "at cost", answer);
  }
  return absl::StrFormat("%s%s at cost %.10g", Counted(StepsOf(answer.path()), "step"), Portals(answer),
                         answer.cost());
}

// ", at most 1.25 times the cheapest" if the path may not be the cheapest. Rounded up.
std::string Bound(const v1::AnswerInfo& info) {
  return info.bound() <= 1.0 ? ""
                             : absl::StrFormat(", at most %.10g times the cheapest",
                                               std::ceil(info.bound() * 1000.0) / 1000.0);
}

// "; the rest costs 3 and is 4 long", for a path that was clipped.
std::string Rest(const v1::FindPathResponse& answer) {
  return answer.has_rest() ? absl::StrFormat("; the rest costs %.10g and is %.10g long", answer.rest().cost(),
                                             answer.rest().length())
                           : "";
}

// A line of its own, if the query asked for turns.
std::string Turns(const v1::FindPathResponse& answer) {
  const auto add = [](std::string* out, const v1::TurnEnd& turn) {
    absl::StrAppendFormat(out, "%s (cost %.10g)", FormatLocation(turn.place()), turn.cost());
  };
  return answer.turn_ends().empty()
             ? ""
             : absl::StrCat("\nTurns end at ", absl::StrJoin(answer.turn_ends(), ", ", add));
}

std::string Outcome(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  switch (answer.outcome()) {
    case v1::OUTCOME_FOUND:
      return absl::StrCat(answer.has_rest() ? "Path found and clipped: " : "Path found: ",
                          Length(request, answer), Bound(answer.info()), Rest(answer));
    case v1::OUTCOME_PARTIAL:
      return absl::StrCat("No path to the goal: ", Because(request, answer), "; ", Length(request, answer),
                          " to ", EndText(request, answer), " that can be reached", Rest(answer));
    case v1::OUTCOME_UNREACHABLE:
      return absl::StrCat("No path to the goal: ", Because(request, answer));
    case v1::OUTCOME_BUDGET_EXHAUSTED:
      if (IsOnMesh(answer)) {
        return absl::StrCat("Search ended early: ", Because(request, answer));
      }
      return absl::StrCat("Search ended early: ", Because(request, answer), "; ", Length(request, answer),
                          " to ", EndText(request, answer), " it came to");
    case v1::OUTCOME_TOO_COSTLY:
      return absl::StrFormat("The path is too costly: it costs at least %.10g", answer.least_cost());
    default:
      return "The server gave an outcome that this tool does not know";
  }
}

absl::string_view UnitOfSearch(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  if (IsOnMesh(answer)) {
    return "interval";
  }
  return IsOnGraph(request, answer) ? "node" : "cell";
}

std::string DirectionName(int direction) {
  static constexpr const char* kNames[] = {"?", "N", "NE", "E", "SE", "S", "SW", "W", "NW"};
  return v1::Direction_IsValid(direction) ? kNames[direction] : kNames[0];
}

// Ids of nodes, and a start or goal that is a position.
std::string GraphPathText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  const v1::Path& path = answer.path();
  std::vector<std::string> places(path.nodes().begin(), path.nodes().end());
  if (request.start().has_position() && path.positions_size() > 0) {
    places.insert(places.begin(), FormatPosition(path.positions(0)));
  }
  if (static_cast<size_t>(path.positions_size()) > places.size()) {
    places.push_back(FormatPosition(path.positions(path.positions_size() - 1)));
  }
  return absl::StrJoin(places, " ");
}

}  // namespace

std::string AlgorithmName(v1::Algorithm algorithm) {
  for (const auto& [named, name] : {std::pair(v1::ALGORITHM_ASTAR, "A*"),
                                    {v1::ALGORITHM_DIJKSTRA, "Dijkstra"},
                                    {v1::ALGORITHM_JUMP_POINT_SEARCH, "jump point search"},
                                    {v1::ALGORITHM_LAZY_THETA_STAR, "Lazy Theta*"},
                                    {v1::ALGORITHM_SUBGOAL_HIERARCHY, "subgoal hierarchy"},
                                    {v1::ALGORITHM_POLYANYA, "Polyanya"}}) {
    if (named == algorithm) {
      return name;
    }
  }
  return "another algorithm";
}

std::string FindText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  const v1::SearchStatistics& statistics = answer.info().statistics();
  // A map that the query brought along has none.
  const std::string revision =
      request.has_inline_map() ? "" : absl::StrCat("revision ", answer.info().version().revision(), "; ");
  return absl::StrCat(
      Outcome(request, answer), " (", revision,
      Counted(static_cast<std::int64_t>(statistics.expanded()), UnitOfSearch(request, answer)),
      " expanded in ", absl::FormatDuration(DurationOf(statistics.search_time())), " by ",
      AlgorithmName(statistics.algorithm()), ")", Turns(answer));
}

bool HasPath(const v1::FindPathResponse& answer) {
  return answer.path().has_end() || answer.path().positions_size() > 0;
}

std::string PathText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  if (IsOnGraph(request, answer)) {
    return GraphPathText(request, answer);
  }
  const v1::Path& path = answer.path();
  const bool has_positions = path.positions_size() > 0;
  const bool has_points = has_positions || path.points_size() > 0;
  const int count = has_positions ? path.positions_size()
                    : has_points  ? path.points_size()
                                  : path.directions_size();
  std::vector<std::string> words;
  int crossed = 0;
  for (int i = 0; i <= count; ++i) {
    for (; crossed < path.crossings_size() && path.crossings(crossed).index() == i; ++crossed) {
      const v1::PortalCrossing& crossing = path.crossings(crossed);
      const std::string map = crossing.map().empty() ? "" : absl::StrCat(" of ", crossing.map());
      words.push_back(absl::StrCat("-", crossing.portal(), map, "->"));
      if (!has_points) {
        words.push_back(FormatCell(crossing.arrival()));
      }
    }
    if (i < count) {
      words.push_back(has_positions ? FormatPosition(path.positions(i))
                      : has_points  ? FormatCell(path.points(i))
                                    : DirectionName(path.directions(i)));
    }
  }
  return absl::StrJoin(words, " ");
}

std::string FactsText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  std::string text = FindText(request, answer) + "\n";
  if (HasPath(answer)) {
    absl::StrAppend(&text, PathText(request, answer), "\n");
  }
  return text;
}

std::string SummaryText(const v1::PathSummary& summary, std::size_t width) {
  std::vector<TableRow> rows;
  for (const v1::PathSummary::Leg& leg : summary.legs()) {
    rows.push_back({absl::StrCat("  ", leg.terrain()), absl::StrCat(leg.cells(), " cells"),
                    absl::StrFormat("length %.6g", leg.length()), absl::StrFormat("cost %.6g", leg.cost())});
  }
  return absl::StrCat(
      absl::StrFormat("Length %.6g, %s\n", summary.length(), Counted(summary.turns(), "turn")),
      FormatTable(rows, width));
}

bool IsOnMesh(const v1::FindPathResponse& answer) {
  return answer.info().statistics().algorithm() == v1::ALGORITHM_POLYANYA;
}

bool IsOnGraph(const v1::FindPathRequest& request, const v1::FindPathResponse& answer) {
  if (IsOnMesh(answer)) {
    return false;
  }
  const auto may_be = [](const v1::Location& location) {
    return location.has_node() || location.has_position();
  };
  // Each answer on a grid says which cell was started from.
  return answer.path().nodes_size() > 0 || (!answer.path().start().has_cell() && may_be(request.start()) &&
                                            absl::c_all_of(request.goals(), may_be));
}

}  // namespace waystar::cli
