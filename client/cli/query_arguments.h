#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "client/cli/arguments.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// The words for algorithms.
inline constexpr char kAlgorithmWords[] =
    "auto|astar|dijkstra|jump-point=JUMP_POINT_SEARCH|lazy-theta=LAZY_THETA_STAR|"
    "hierarchy=SUBGOAL_HIERARCHY|polyanya";

constexpr int kAnyNumber = CLI::detail::expected_max_vector_size;

// Adds MAP, START and so many GOAL, of which the path leads to the cheapest, and the options that say how to
// search. They may be positions. `request` must outlive `command`.
void AddQuery(CLI::App& command, v1::FindPathRequest& request, int most_goals = 1);

// Throws the usage error that the start or the goal is missing, if it is.
void CheckEnds(const v1::FindPathRequest& request);

// Adds --nearest.
template <typename Request>
void AddNearest(CLI::App& command, Request& request) {
  command.add_flag_callback(
      "--nearest", [&request] { request.set_unreachable_policy(v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE); },
      "If the goal cannot be reached, go to the nearest cell that can");
}

// Adds --form, for the field path_form.
void AddPathForm(CLI::App& command, google::protobuf::Message& request);

// Returns the location to fill, when there is something to fill in.
using FillLocation = std::function<v1::Location&()>;

// Returns the field of that name, or adds a location to it if it is repeated. `request` must outlive the
// result.
FillLocation PlaceIn(google::protobuf::Message& request, const std::string& path);

// Adds the argument `cells`, which takes cells and names of nodes, and the option `position`, which takes
// positions in place of them: `most` of each. A location is filled for each that is given, first for the
// cells.
void AddPlaces(CLI::App& command, const std::string& cells, const std::string& position,
               const FillLocation& location, const std::string& description, int most = 1);
// Throws the usage error that the place is missing, unless it is given.
void CheckPlace(bool is_given, const std::string& name);

// Adds what says how the agents move, what they see, and, where the request has a snap, what their places may
// move to. `request`, any request about paths and fields, must outlive `command`.
void AddQuestion(CLI::App& command, google::protobuf::Message& request);

}  // namespace waystar::cli
