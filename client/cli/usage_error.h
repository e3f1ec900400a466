#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace waystar::cli {

// What is wrong with the command line that `root` failed to parse with `error`: a sentence, and where to read
// on.
std::string UsageErrorText(const CLI::App& root, const CLI::ParseError& error);

}  // namespace waystar::cli
