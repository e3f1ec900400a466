#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>

#include "client/cli/arguments.h"
#include "client/cli/query_arguments.h"
#include "client/cli/shape_argument.h"
#include "waystar/v1/fields.pb.h"

namespace waystar::cli {

// Adds MAP, and the options that say how the agents move and what they see. `request`, any request about
// fields, must outlive `command`.
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

// Adds --region.
template <typename Request>
void AddRegion(CLI::App& command, Request& request, const std::string& description) {
  AddParsed(
      command, "--region", &ParseRectangle,
      [&request](const v1::Rectangle& region) { *request.mutable_region() = region; }, description)
      ->type_name("X,Y..X,Y");
}

// Adds --max-cost.
template <typename Request>
void AddMaxCost(CLI::App& command, Request& request, const std::string& description) {
  command
      .add_option_function<double>(
          "--max-cost", [&request](double cost) { request.set_max_cost(cost); }, description)
      ->type_name("COST");
}

}  // namespace waystar::cli
