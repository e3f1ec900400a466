#include "client/cli/query_arguments.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace waystar::cli {
namespace {

// The start, for what stands in place of the argument START. Then the cell that has come first is a goal.
FillLocation TheStart(v1::FindPathRequest& request) {
  return [&request]() -> v1::Location& {
    if (request.has_start()) {
      request.add_goals()->Swap(request.mutable_start());
    }
    return *request.mutable_start();
  };
}

FillLocation NextGoal(v1::FindPathRequest& request) {
  return [&request]() -> v1::Location& { return *request.add_goals(); };
}

void AddMapAndStart(CLI::App& command, v1::FindPathRequest& request) {
  AddMap(command, *request.mutable_map());
  AddPlaces(command, "START", "--start-position", TheStart(request),
            "Where to start from: the cell X,Y, a node of a waypoint graph, or a position X,Y,Z");
  command
      .add_option("--goal-map", *request.mutable_goal_map(),
                  "The map that GOAL lies on, if it is another, to which portals lead")
      ->type_name("MAP");
}

void AddSearchOptions(CLI::App& command, v1::FindPathRequest& request) {
  command.parse_complete_callback([&request] { CheckEnds(request); });
  AddQuestion(command, request);
  AddChoice<v1::Algorithm>(
      command, "--algorithm", [&request](v1::Algorithm algorithm) { request.set_algorithm(algorithm); },
      AlgorithmChoices(),
      "How to search; all find paths of the same cost, but for lazy-theta, which goes at any angle [auto]");
  AddNearest(command, request);
  AddField(command, "--max-expansions", request, &v1::FindPathRequest::set_max_expansions,
           "Give up after looking around from so many cells [no limit]");
  AddField(command, "--tolerance", request, &v1::FindPathRequest::set_tolerance,
           "Allow a path that costs up to 1 + T times the cheapest, if it is found sooner [0]", "T");
  AddField(command, "--max-cost", request, &v1::FindPathRequest::set_max_cost,
           "Allow no path that costs more [no limit]", "C");
  AddField(command, "--clip-cost", request, &v1::FindPathRequest::set_clip_cost,
           "End the path where it would cost more [no limit]", "C");
  AddField(command, "--clip-length", request, &v1::FindPathRequest::set_clip_length,
           "End the path where it would be longer [no limit]", "L");
  AddField(command, "--turn-budget", request, &v1::FindPathRequest::set_turn_budget,
           "Show where the turns of a game end that pay for so much each [no turns]", "C");
}

}  // namespace

absl::StatusOr<v1::HeightRange> ParseHeights(absl::string_view text) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, ':');
  v1::HeightRange heights;
  double low = 0.0;
  double high = 0.0;
  if (ends.size() != 2 || (!ends[0].empty() && !absl::SimpleAtod(ends[0], &low)) ||
      (!ends[1].empty() && !absl::SimpleAtod(ends[1], &high))) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" are not heights such as 3:5, 3: or :5"));
  }
  if (!ends[0].empty()) {
    heights.set_low(low);
  }
  if (!ends[1].empty()) {
    heights.set_high(high);
  }
  return heights;
}

Choices<v1::Algorithm> AlgorithmChoices() {
  return {{"auto", v1::ALGORITHM_AUTO},
          {"astar", v1::ALGORITHM_ASTAR},
          {"dijkstra", v1::ALGORITHM_DIJKSTRA},
          {"jump-point", v1::ALGORITHM_JUMP_POINT_SEARCH},
          {"lazy-theta", v1::ALGORITHM_LAZY_THETA_STAR},
          {"hierarchy", v1::ALGORITHM_SUBGOAL_HIERARCHY},
          {"polyanya", v1::ALGORITHM_POLYANYA}};
}

void AddQuery(CLI::App& command, v1::FindPathRequest& request) {
  AddMapAndStart(command, request);
  AddPlaces(command, "GOAL", "--goal-position", NextGoal(request),
            "Where to go to: the cell X,Y, a node of a waypoint graph, or a position X,Y,Z");
  AddSearchOptions(command, request);
}

void AddQueryOfGoals(CLI::App& command, v1::FindPathRequest& request) {
  AddMapAndStart(command, request);
  AddPlaces(
      command, "GOAL", "--goal-position", NextGoal(request),
      "Where to go to: the cell X,Y, a node of a waypoint graph, or a position X,Y,Z; or several, to go "
      "to the one that is cheapest to reach",
      kAnyNumber);
  AddSearchOptions(command, request);
}

void CheckEnds(const v1::FindPathRequest& request) {
  CheckPlace(request.has_start(), "START");
  CheckPlace(!request.goals().empty(), "GOAL");
}

void TakeMapForStart(v1::FindPathRequest& request) {
  const absl::StatusOr<v1::Location> start = ParsePlace(request.map());
  if (!start.ok()) {
    throw CLI::ValidationError("START", std::string(start.status().message()));
  }
  request.clear_map();
  const auto goals = request.goals();
  request.clear_goals();
  if (request.has_start()) {
    *request.add_goals() = request.start();
  }
  request.mutable_goals()->MergeFrom(goals);
  *request.mutable_start() = *start;
}

bool HasEnds(const v1::FindPathRequest& request) { return request.has_start() || !request.goals().empty(); }

void AddOptionalQuery(CLI::App& command, v1::FindPathRequest& request) {
  AddQueryOfGoals(command, request);
  command.parse_complete_callback([&request] {
    if (HasEnds(request)) {
      CheckEnds(request);
    }
  });
}

void AddExtras(CLI::App& command, v1::FindPathRequest& request) {
  AddField(command, "--positions", request, &v1::FindPathRequest::set_with_positions,
           "List the path by the centres of its cells, in units of the game");
  AddField(command, "--summary", request, &v1::FindPathRequest::set_with_summary,
           "Tell how long the path is, how often it turns, and on a grid which terrains it crosses");
  AddField(command, "--corridor", request, &v1::FindPathRequest::set_with_corridor,
           "List the polygons of a navigation mesh that the path leads through");
  AddField(command, "--surface", request, &v1::FindPathRequest::set_with_surface,
           "List where the path crosses the edges of these polygons, with their heights");
  AddField(command, "--polygons", request, &v1::FindPathRequest::set_with_polygons,
           "List these polygons with their corners, and where obstacles cut them, the pieces passed");
}

void AddAgent(CLI::App& command, const FillAgent& agent) {
  AddValue<std::string>(
      command, "--profile", [agent](const std::string& name) { agent().set_profile_name(name); },
      "The agent moves as this profile of the map says: what terrains cost it, which it never enters, its "
      "size",
      "NAME");
  AddTexts(
      command, "--require-tag",
      [agent](const std::string& tag) { agent().mutable_profile()->add_required_tags(tag); },
      "Only go along edges and through portals that carry all of these tags")
      ->type_name("TAG")
      ->excludes("--profile");
  AddChoice<v1::CornerRule>(
      command, "--corner-rule", [agent](v1::CornerRule rule) { agent().set_corner_rule(rule); },
      {{"both-free", v1::CORNER_RULE_NO_CORNER_CUTTING},
       {"one-free", v1::CORNER_RULE_ONE_SIDE_FREE},
       {"always", v1::CORNER_RULE_ALWAYS}},
      "When a diagonal step is allowed: if both cells beside it are walkable, if one of them is, or always "
      "[both-free]");
  AddValue<int32_t>(
      command, "--footprint", [agent](int32_t cells) { agent().set_footprint(cells); },
      "The agent covers N x N cells, its position being the top left one of them [1]", "N");
}

void AddView(CLI::App& command, const FillView& view) {
  AddParsedList(
      command, "--block", &ParseShape,
      [view](const v1::Shape& part) { view().mutable_overlay()->mutable_blocked()->MergeFrom(part); },
      "Treat these cells as blocked, or on a waypoint graph or a navigation mesh what they cover, for this "
      "query alone");
  AddParsed(
      command, "--block-heights", &ParseHeights,
      [view](const v1::HeightRange& heights) {
        *view().mutable_overlay()->mutable_blocked_heights() = heights;
      },
      "Block by --block only polygons of a mesh that have a point at these heights; either is optional")
      ->type_name("LOW:HIGH");
  AddTexts(
      command, "--block-node",
      [view](const std::string& id) { view().mutable_overlay()->add_blocked_nodes(id); },
      "Treat this node of a waypoint graph as disabled; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NODE");
  AddParsedList(
      command, "--block-edge", &ParseEdge,
      [view](const v1::EdgeName& edge) { *view().mutable_overlay()->add_blocked_edges() = edge; },
      "Treat this edge of a waypoint graph as disabled, both ways, or with 'FROM>TO' that way alone; may be "
      "repeated")
      ->allow_extra_args(false)
      ->type_name("FROM,TO");
  AddTexts(
      command, "--ignore-obstacle",
      [view](const std::string& id) { view().mutable_overlay()->add_ignored_obstacles(id); },
      "Treat these named obstacles as if they were not there")
      ->type_name("ID");
}

void AddSnap(CLI::App& command, const FillSnap& snap) {
  AddValue<double>(
      command, "--snap", [snap](double radius) { snap().set_radius(radius); },
      "Move places where the agent cannot be to the nearest where it can, so far away at the most, in units "
      "of the game; positions on a waypoint graph to the nearest node that they see [nothing moves]",
      "RADIUS");
  AddValue<double>(
      command, "--snap-height", [snap](double height) { snap().set_height(height); },
      "With --snap, on a navigation mesh: how far up or down they may move [any height]", "HEIGHT")
      ->needs("--snap");
}

void AddPlaces(CLI::App& command, const std::string& cells, const std::string& position,
               const FillLocation& location, const std::string& description, int most) {
  AddParsedList(
      command, cells, &ParsePlace, [location](const v1::Location& given) { location() = given; }, description)
      ->expected(1, most)
      ->allow_extra_args(most > 1);
  AddParsedList(
      command, position, &ParsePosition,
      [location](const v1::Position& given) { *location().mutable_position() = given; },
      absl::StrCat("Instead of ", cells, ", a place in units of the game: X,Y or X,Y,Z",
                   most > 1 ? "; may be repeated" : ""))
      ->expected(1, most)
      ->allow_extra_args(false)
      ->type_name("X,Y");
}

void CheckPlace(bool is_given, const std::string& name) {
  if (!is_given) {
    throw CLI::RequiredError(name);
  }
}

}  // namespace waystar::cli
