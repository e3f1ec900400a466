#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::cli {

// Says in a sentence what is wrong with the command line that `root` failed to parse with `error`, and where
// to read on.
std::string UsageErrorText(const CLI::App& root, const CLI::ParseError& error);

// Says that `command` has no command of that name, and which was probably meant.
std::string UnknownCommandText(const CLI::App& command, absl::string_view name);

// Returns the candidate most similar to `word`: the first with the smallest edit distance (insertions,
// deletions and replacements). Empty if no distance is less than three.
std::string Suggest(absl::string_view word, const std::vector<std::string>& candidates);

}  // namespace waystar::cli
