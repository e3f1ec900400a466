#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "client/cli/arguments.h"
#include "client/cli/shape_argument.h"
#include "waystar/v1/fields.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// Returns the words for algorithms.
Choices<v1::Algorithm> AlgorithmChoices();

// Adds MAP, START and GOAL, which may be positions, and the options that say how to search. `request` must
// outlive `command`.
void AddQuery(CLI::App& command, v1::FindPathRequest& request);
// Adds the same with any number of goals, of which the path leads to the cheapest.
void AddQueryOfGoals(CLI::App& command, v1::FindPathRequest& request);

// Adds the same, where START and GOAL may be left out together.
void AddOptionalQuery(CLI::App& command, v1::FindPathRequest& request);
// Whether a start or a goal was given.
bool HasEnds(const v1::FindPathRequest& request);

// Adds --start-node, --goal-node and --require-tag, which only paths on waypoint graphs and through portals
// have.
void AddGraphOptions(CLI::App& command, v1::FindPathRequest& request);

// Adds --nearest.
void AddNearest(CLI::App& command, v1::FindPathRequest& request);

// Adds --form.
void AddPathForm(CLI::App& command, v1::FindPathRequest& request);

// Add the options that say how an agent walks.
void AddCornerRule(CLI::App& command, const std::function<void(v1::CornerRule)>& accept);
void AddFootprint(CLI::App& command, const std::function<void(int32_t)>& accept);
void AddProfile(CLI::App& command, const std::function<void(const std::string&)>& accept);

// Adds --positions and --summary, which say what to tell of the path.
void AddExtras(CLI::App& command, v1::FindPathRequest& request);

// Adds --block and --ignore-obstacle. `overlay` returns the message to fill, when there is something to fill
// in.
void AddOverlay(CLI::App& command, const std::function<v1::Overlay&()>& overlay);

// MAP, and the options that say how the agents move and what they see. `request`, any request about fields,
// must outlive `command`.
template <typename Request>
void AddFieldQuestion(CLI::App& command, Request& request) {
  AddMap(command, *request.mutable_map());
  AddProfile(command, [&request](const std::string& name) { request.set_profile_name(name); });
  AddCornerRule(command,
                [&request](v1::CornerRule rule) { request.mutable_profile()->set_corner_rule(rule); });
  AddFootprint(command, [&request](int32_t cells) { request.mutable_profile()->set_footprint(cells); });
  // A request has the name of a profile or says itself how the agents move.
  command.get_option("--profile")
      ->excludes(command.get_option("--corner-rule"))
      ->excludes(command.get_option("--footprint"));
  AddOverlay(command, [&request]() -> v1::Overlay& { return *request.mutable_overlay(); });
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
