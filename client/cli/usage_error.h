#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace waystar::cli {

// Says in a sentence what is wrong with the command line that `root` failed to parse with `error`, and where
// to read on.
std::string UsageErrorText(const CLI::App& root, const CLI::ParseError& error);

}  // namespace waystar::cli
