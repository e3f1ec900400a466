#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "client/cli/arguments.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// The words for algorithms.
Choices<v1::Algorithm> AlgorithmChoices();

// MAP, START and GOAL, which may be positions, and the options that say how to search. `request` must outlive
// `command`.
void AddQuery(CLI::App& command, v1::FindPathRequest& request);
// The same with any number of goals, of which the nearest is gone to.
void AddQueryOfGoals(CLI::App& command, v1::FindPathRequest& request);

// The same, START and GOAL being left out together, if at all.
void AddOptionalQuery(CLI::App& command, v1::FindPathRequest& request);
// Whether a start or a goal was given.
bool HasEnds(const v1::FindPathRequest& request);

// --start-node, --goal-node and --require-tag: what only paths on waypoint graphs, and those through portals,
// have.
void AddGraphOptions(CLI::App& command, v1::FindPathRequest& request);

// --nearest.
void AddNearest(CLI::App& command, v1::FindPathRequest& request);

// --form.
void AddPathForm(CLI::App& command, v1::FindPathRequest& request);

// Those of them that say how an agent walks.
void AddCornerRule(CLI::App& command, const std::function<void(v1::CornerRule)>& accept);
void AddFootprint(CLI::App& command, const std::function<void(int32_t)>& accept);
void AddProfile(CLI::App& command, const std::function<void(const std::string&)>& accept);

// --positions and --summary: what to tell of the path.
void AddExtras(CLI::App& command, v1::FindPathRequest& request);

// --block and --ignore-obstacle. `overlay` gives the message to fill, when there is something to fill in.
void AddOverlay(CLI::App& command, const std::function<v1::Overlay&()>& overlay);

}  // namespace waystar::cli
