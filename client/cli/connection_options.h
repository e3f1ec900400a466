#pragma once

#include <CLI/CLI.hpp>

#include "client/options.h"

namespace waystar::cli {

// Adds the options that say where the server is and how to reach it: --server, and a group of options of its
// own.
void AddConnectionOptions(CLI::App& app, client::Options& options);

}  // namespace waystar::cli
