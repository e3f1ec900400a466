#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/arguments.h"
#include "client/cli/shape_argument.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Returns the words for algorithms.
Choices<v1::Algorithm> AlgorithmChoices();

// Adds MAP, START and GOAL, which may be positions, and the options that say how to search. `request` must
// outlive `command`.
void AddQuery(CLI::App& command, v1::FindPathRequest& request);
// Adds the same with any number of goals, of which the path leads to the cheapest.
void AddQueryOfGoals(CLI::App& command, v1::FindPathRequest& request);

// Like AddQueryOfGoals, where START and GOAL may be omitted together.
void AddOptionalQuery(CLI::App& command, v1::FindPathRequest& request);
// Throws the usage error that the start or the goal is missing, if it is.
void CheckEnds(const v1::FindPathRequest& request);
// Shifts the positionals: takes MAP as START, START as the first GOAL, and so on. Throws a usage error if an
// argument is not a place.
void TakeMapForStart(v1::FindPathRequest& request);
// Returns true if a start or a goal was given.
bool HasEnds(const v1::FindPathRequest& request);

// Adds --nearest.
template <typename Request>
void AddNearest(CLI::App& command, Request& request) {
  command.add_flag_callback(
      "--nearest", [&request] { request.set_unreachable_policy(v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE); },
      "If the goal cannot be reached, go to the nearest cell that can");
}

// Adds --form.
template <typename Request>
void AddPathForm(CLI::App& command, Request& request) {
  AddChoice<v1::PathForm>(
      command, "--form", [&request](v1::PathForm form) { request.set_path_form(form); },
      {{"cells", v1::PATH_FORM_EVERY_CELL},
       {"corners", v1::PATH_FORM_CORNERS},
       {"directions", v1::PATH_FORM_DIRECTIONS},
       {"smoothed", v1::PATH_FORM_SMOOTHED}},
      "How to list the path: every cell, the cells where it turns, the direction of each step, or the ends "
      "of straight lines between cells that see each other");
}

// Adds --positions, --summary, --corridor, --surface and --polygons, which add output about the path.
void AddExtras(CLI::App& command, v1::FindPathRequest& request);

// Return the message or the location to fill, when there is something to fill in.
using FillAgent = std::function<v1::Agent&()>;
using FillView = std::function<v1::View&()>;
using FillSnap = std::function<v1::Snap&()>;
using FillLocation = std::function<v1::Location&()>;

// Adds --profile, --require-tag, --corner-rule and --footprint.
void AddAgent(CLI::App& command, const FillAgent& agent);
// Reads "3:5", "3:" or ":5".
absl::StatusOr<v1::HeightRange> ParseHeights(absl::string_view text);

// Adds --block, --block-heights, --block-node, --block-edge and --ignore-obstacle.
void AddView(CLI::App& command, const FillView& view);
// Adds --snap.
void AddSnap(CLI::App& command, const FillSnap& snap);

constexpr int kAnyNumber = CLI::detail::expected_max_vector_size;

// Adds the argument `cells`, which takes cells and names of nodes, and the option `position`, which takes
// positions in place of them: `most` of each. A location is filled for each that is given, first for the
// cells.
void AddPlaces(CLI::App& command, const std::string& cells, const std::string& position,
               const FillLocation& location, const std::string& description, int most = 1);
// Throws the usage error that the place is missing, unless it is given.
void CheckPlace(bool is_given, const std::string& name);

// Adds what says how the agents move, what they see, and, where the request has a snap, what their places may
// move to. `request`, any request about paths and fields, must outlive `command`.
template <typename Request>
void AddQuestion(CLI::App& command, Request& request) {
  AddAgent(command, [&request]() -> v1::Agent& { return *request.mutable_agent(); });
  if constexpr (requires { request.mutable_snap(); }) {
    AddSnap(command, [&request]() -> v1::Snap& { return *request.mutable_snap(); });
  }
  AddView(command, [&request]() -> v1::View& { return *request.mutable_view(); });
}

// --region.
template <typename Request>
void AddRegion(CLI::App& command, Request& request, const std::string& description,
               const std::string& type = "X,Y..X,Y") {
  AddParsed(
      command, "--region", &ParseRectangle,
      [&request](const v1::Rectangle& region) { *request.mutable_region() = region; }, description)
      ->type_name(type);
}

// --max-cost.
template <typename Request>
void AddMaxCost(CLI::App& command, Request& request, const std::string& description) {
  AddField(command, "--max-cost", request, &Request::set_max_cost, description, "COST");
}

}  // namespace waystar::cli
