#pragma once

#include <CLI/CLI.hpp>

#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// MAP, START and GOAL, and the options that say how to search. `request` must outlive `command`.
void AddQuery(CLI::App& command, v1::FindPathRequest& request);

}  // namespace waystar::cli
