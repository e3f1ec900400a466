#include "client/cli/query_arguments.h"

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/shape_argument.h"

namespace waystar::cli {
namespace {

bool HasGoal(const v1::FindPathRequest& request) {
  return request.has_goal() || !request.goals().empty() || request.has_goal_position() ||
         !request.goal_positions().empty();
}

bool HasStart(const v1::FindPathRequest& request) {
  return request.has_start() || request.has_start_position() || !request.start_node().empty();
}

// A cell that stands alone beside --start-position is the goal.
void CheckEnds(v1::FindPathRequest& request) {
  if (request.has_start_position() && request.has_start() && !HasGoal(request)) {
    *request.mutable_goal() = request.start();
    request.clear_start();
  }
  if (!HasStart(request)) {
    throw CLI::RequiredError("START");
  }
  if (!HasGoal(request) && request.goal_node().empty()) {
    throw CLI::RequiredError("GOAL");
  }
}

void AddMapAndStart(CLI::App& command, v1::FindPathRequest& request) {
  AddMap(command, *request.mutable_map());
  AddParsed(
      command, "START", &ParseCell, [&request](const v1::Cell& cell) { *request.mutable_start() = cell; },
      "The cell to start from: X,Y");
  command
      .add_option("--goal-map", *request.mutable_goal_map(),
                  "The map that GOAL lies on, if it is another, to which portals lead")
      ->type_name("MAP");
  AddParsed(
      command, "--start-position", &ParsePosition,
      [&request](const v1::Position& position) { *request.mutable_start_position() = position; },
      "Instead of START, a place in units of the game: X,Y, or X,Y,Z on a waypoint graph")
      ->type_name("X,Y");
}

void AddSearchOptions(CLI::App& command, v1::FindPathRequest& request) {
  AddField(command, "--snap", request, &v1::FindPathRequest::set_snap_radius,
           "A blocked start or goal becomes the nearest cell that is free, so far away at the most, in units "
           "of the game [0]; on a waypoint graph, how far a position may be from the node that stands in for "
           "it [no limit]",
           "RADIUS");
  command.parse_complete_callback([&request] { CheckEnds(request); });
  AddProfile(command, [&request](const std::string& name) { request.set_profile_name(name); });
  AddCornerRule(command, [&request](v1::CornerRule rule) { request.set_corner_rule(rule); });
  AddChoice<v1::Algorithm>(
      command, "--algorithm", [&request](v1::Algorithm algorithm) { request.set_algorithm(algorithm); },
      AlgorithmChoices(),
      "How to search; all find paths of the same cost, but for lazy-theta, which goes at any angle [auto]");
  AddFootprint(command, [&request](int32_t cells) { request.set_footprint(cells); });
  AddNearest(command, request);
  AddField(command, "--max-expansions", request, &v1::FindPathRequest::set_max_expansions,
           "Give up after looking around from so many cells [no limit]");
  AddOverlay(command, [&request]() -> v1::Overlay& { return *request.mutable_overlay(); });
}

}  // namespace

Choices<v1::Algorithm> AlgorithmChoices() {
  return {{"auto", v1::ALGORITHM_AUTO},
          {"astar", v1::ALGORITHM_ASTAR},
          {"dijkstra", v1::ALGORITHM_DIJKSTRA},
          {"jump-point", v1::ALGORITHM_JUMP_POINT_SEARCH},
          {"lazy-theta", v1::ALGORITHM_LAZY_THETA_STAR},
          {"hierarchy", v1::ALGORITHM_SUBGOAL_HIERARCHY}};
}

void AddQuery(CLI::App& command, v1::FindPathRequest& request) {
  AddMapAndStart(command, request);
  AddParsed(
      command, "GOAL", &ParseCell, [&request](const v1::Cell& cell) { *request.mutable_goal() = cell; },
      "The cell to go to: X,Y");
  AddParsed(
      command, "--goal-position", &ParsePosition,
      [&request](const v1::Position& position) { *request.mutable_goal_position() = position; },
      "Instead of GOAL, likewise")
      ->type_name("X,Y");
  AddSearchOptions(command, request);
}

void AddQueryOfGoals(CLI::App& command, v1::FindPathRequest& request) {
  AddMapAndStart(command, request);
  AddParsedList(
      command, "GOAL", &ParseCell,
      [&request](const v1::Cell& cell) {
        // The first is the only one until there is a second.
        if (request.has_goal()) {
          *request.add_goals() = request.goal();
          request.clear_goal();
        }
        *(request.goals().empty() ? request.mutable_goal() : request.add_goals()) = cell;
      },
      "The cell to go to: X,Y; or several, to go to the one that is cheapest to reach");
  AddHexLayout(
      command, "--coordinates", [&request](v1::HexLayout layout) { request.set_coordinates(layout); },
      "On a map of hexagons, what cells are counted by: columns and rows of such a board [cells of the "
      "plane]");
  AddParsedList(
      command, "--goal-position", &ParsePosition,
      [&request](const v1::Position& position) {
        if (request.has_goal_position()) {
          *request.add_goal_positions() = request.goal_position();
          request.clear_goal_position();
        }
        *(request.goal_positions().empty() ? request.mutable_goal_position() : request.add_goal_positions()) =
            position;
      },
      "Instead of GOAL, likewise; may be repeated, as GOAL may")
      ->allow_extra_args(false)
      ->type_name("X,Y");
  AddSearchOptions(command, request);
}

void AddGraphOptions(CLI::App& command, v1::FindPathRequest& request) {
  const auto add_node = [&](const char* name, const char* text, std::string* id) {
    command.add_option(name, *id, text)->type_name("NODE");
  };
  add_node("--start-node", "Instead of START, on a waypoint graph: the node to start from",
           request.mutable_start_node());
  add_node("--goal-node", "Instead of GOAL, likewise", request.mutable_goal_node());
  AddTexts(
      command, "--require-tag",
      [&request](const std::string& tag) { request.mutable_profile()->add_required_tags(tag); },
      "Only go along edges and through portals that carry all of these tags")
      ->type_name("TAG")
      ->excludes("--profile");
}

bool HasEnds(const v1::FindPathRequest& request) {
  return HasStart(request) || HasGoal(request) || !request.goal_node().empty();
}

void AddOptionalQuery(CLI::App& command, v1::FindPathRequest& request) {
  AddQueryOfGoals(command, request);
  command.parse_complete_callback([&request] {
    if (HasEnds(request)) {
      CheckEnds(request);
    }
  });
}

void AddNearest(CLI::App& command, v1::FindPathRequest& request) {
  command.add_flag_callback(
      "--nearest", [&request] { request.set_unreachable_policy(v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE); },
      "If the goal cannot be reached, go to the nearest cell that can");
}

void AddPathForm(CLI::App& command, v1::FindPathRequest& request) {
  AddChoice<v1::PathForm>(
      command, "--form", [&request](v1::PathForm form) { request.set_path_form(form); },
      {{"cells", v1::PATH_FORM_EVERY_CELL},
       {"corners", v1::PATH_FORM_CORNERS},
       {"directions", v1::PATH_FORM_DIRECTIONS},
       {"smoothed", v1::PATH_FORM_SMOOTHED}},
      "How to list the path: every cell, the cells where it turns, the direction of each step, or the ends "
      "of "
      "straight lines between cells that see each other");
}

void AddCornerRule(CLI::App& command, const std::function<void(v1::CornerRule)>& accept) {
  AddChoice<v1::CornerRule>(
      command, "--corner-rule", accept,
      {{"both-free", v1::CORNER_RULE_NO_CORNER_CUTTING},
       {"one-free", v1::CORNER_RULE_ONE_SIDE_FREE},
       {"always", v1::CORNER_RULE_ALWAYS}},
      "When a diagonal step is allowed: if both cells beside it are walkable, if one of them is, or always "
      "[both-free]");
}

void AddFootprint(CLI::App& command, const std::function<void(int32_t)>& accept) {
  command
      .add_option_function<int32_t>(
          "--footprint", accept,
          "The agent covers N x N cells, its position being the top left one of them [1]")
      ->type_name("N");
}

void AddProfile(CLI::App& command, const std::function<void(const std::string&)>& accept) {
  command
      .add_option_function<std::string>("--profile", accept,
                                        "The agent moves as this profile of the map says: what terrains cost "
                                        "it, which it never enters, its "
                                        "size")
      ->type_name("NAME");
}

void AddExtras(CLI::App& command, v1::FindPathRequest& request) {
  AddField(command, "--positions", request, &v1::FindPathRequest::set_with_positions,
           "List the path by the centres of its cells, in units of the game");
  AddField(command, "--summary", request, &v1::FindPathRequest::set_with_summary,
           "Tell how long the path is, how often it turns, and which terrains it crosses");
}

void AddOverlay(CLI::App& command, const std::function<v1::Overlay&()>& overlay) {
  AddParsedList(
      command, "--block", &ParseShape,
      [overlay](const v1::Shape& part) { overlay().mutable_blocked()->MergeFrom(part); },
      "Treat these cells as blocked, for this query alone");
  AddTexts(
      command, "--ignore-obstacle", [overlay](const std::string& id) { overlay().add_ignored_obstacles(id); },
      "Treat these named obstacles as if they were not there")
      ->type_name("ID");
}

}  // namespace waystar::cli
