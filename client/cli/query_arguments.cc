#include "client/cli/query_arguments.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/cli/completion/completion.h"
#include "client/cli/shape_argument.h"

namespace waystar::cli {

void AddQuery(CLI::App& command, v1::FindPathRequest& request, int most_goals) {
  AddMap(command, request);
  // The cell that has come first is a goal if a position stands in place of the argument START.
  const auto start = [&request]() -> v1::Location& {
    if (request.has_start()) {
      request.add_goals()->Swap(request.mutable_start());
    }
    return *request.mutable_start();
  };
  AddPlaces(command, "START", "--start-position", start,
            "Where to start from: the cell X,Y, a node of a waypoint graph, or a position X,Y,Z");
  AddField(command, "--goal-map", request, "goal_map",
           "The map that GOAL lies on, if it is another, to which portals lead", "MAP");
  AddPlaces(command, "GOAL", "--goal-position", PlaceIn(request, "goals"),
            absl::StrCat("Where to go to: the cell X,Y, a node of a waypoint graph, or a position X,Y,Z",
                         most_goals > 1 ? "; or several, to go to the one that is cheapest to reach" : ""),
            most_goals);
  command.parse_complete_callback([&request] { CheckEnds(request); });
  AddQuestion(command, request);
  AddField(
      command, "--algorithm", request, "algorithm",
      "How to search; all find paths of the same cost, but for lazy-theta, which goes at any angle [auto]",
      kAlgorithmWords);
  AddNearest(command, request);
  AddFields(
      command, request,
      {{"--max-expansions", "max_expansions", "Give up after looking around from so many cells [no limit]"},
       {"--tolerance", "tolerance",
        "Allow a path that costs up to 1 + T times the cheapest, if it is found sooner [0]", "T"},
       {"--max-cost", "max_cost", "Allow no path that costs more [no limit]", "C"},
       {"--clip-cost", "clip_cost", "End the path where it would cost more [no limit]", "C"},
       {"--clip-length", "clip_length", "End the path where it would be longer [no limit]", "L"},
       {"--turn-budget", "turn_budget",
        "Show where the turns of a game end that pay for so much each [no turns]", "C"}});
}

void CheckEnds(const v1::FindPathRequest& request) {
  CheckPlace(request.has_start(), "START");
  CheckPlace(!request.goals().empty(), "GOAL");
}

void AddPathForm(CLI::App& command, google::protobuf::Message& request) {
  AddField(command, "--form", request, "path_form",
           "How to list the path: every cell, the cells where it turns, the direction of each step, or the "
           "ends of straight lines between cells that see each other",
           "cells=EVERY_CELL|corners|directions|smoothed");
}

void AddQuestion(CLI::App& command, google::protobuf::Message& request) {
  AddField(command, "--profile", request, "agent.profile_name",
           "The agent moves as this profile of the map says: what terrains cost it, which it never enters, "
           "its size",
           "NAME");
  AddField(command, "--require-tag", request, "agent.profile.required_tags",
           "Only go along edges and through portals that carry all of these tags", "TAG")
      ->excludes("--profile");
  AddField(
      command, "--avoid", request, "agent.profile.forbidden_terrains",
      "Never enter this terrain: the name of one of a navigation mesh, or the symbol of one of a grid; may "
      "be repeated",
      "TERRAIN")
      ->allow_extra_args(false)
      ->excludes("--profile");
  AddField(command, "--cost", request, "agent.profile.terrain_costs",
           "What this terrain costs the agent, such as water=3, and on a grid ~=3; may be repeated",
           "TERRAIN=COST")
      ->allow_extra_args(false)
      ->excludes("--profile");
  AddFields(command, request,
            {{"--corner-rule", "agent.corner_rule",
              "When a diagonal step is allowed: if both cells beside it are walkable, if one of them is, or "
              "always [both-free]",
              "both-free=NO_CORNER_CUTTING|one-free=ONE_SIDE_FREE|always"},
             {"--footprint", "agent.footprint",
              "The agent covers N x N cells, its position being the top left one of them [1]"},
             {"--agent-radius", "agent.radius",
              "On a navigation mesh, the agent walks on the surface for agents as large [the smallest]"}});
  if (request.GetDescriptor()->FindFieldByName("snap") != nullptr) {
    AddField(command, "--snap", request, "snap.radius",
             "Move places where the agent cannot be to the nearest where it can, so far away at the most, in "
             "units of the game; positions on a waypoint graph to the nearest node that they see [nothing "
             "moves]",
             "RADIUS");
    AddField(command, "--snap-height", request, "snap.height",
             "With --snap, on a navigation mesh: how far up or down they may move [any height]", "HEIGHT")
        ->needs("--snap");
  }
  AddFields(
      command, request,
      {{"--block", "view.overlay.blocked",
        "Treat these cells as blocked, or on a waypoint graph or a navigation mesh what they cover, for "
        "this query alone"},
       {"--block-heights", "view.overlay.blocked_heights",
        "Block by --block only polygons of a mesh that have a point at these heights; either is optional",
        "LOW:HIGH"},
       {"--block-node", "view.overlay.blocked_nodes",
        "Treat this node of a waypoint graph as disabled; may be repeated", "NODE"},
       {"--block-edge", "view.overlay.blocked_edges",
        "Treat this edge of a waypoint graph as disabled, both ways, or with 'FROM>TO' that way alone; "
        "may be repeated",
        "FROM,TO"},
       {"--ignore-obstacle", "view.overlay.ignored_obstacles",
        "Treat these named obstacles as if they were not there", kObstacleType}});
  command.get_option("--block-node")->allow_extra_args(false);
  command.get_option("--block-edge")->allow_extra_args(false);
}

FillLocation PlaceIn(google::protobuf::Message& request, const std::string& path) {
  const google::protobuf::FieldDescriptor* const field = request.GetDescriptor()->FindFieldByName(path);
  return [&request, field]() -> v1::Location& {
    const google::protobuf::Reflection& reflection = *request.GetReflection();
    return static_cast<v1::Location&>(field->is_repeated() ? *reflection.AddMessage(&request, field)
                                                           : *reflection.MutableMessage(&request, field));
  };
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
