#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace waystar::cli {

// The manual page of a program, section 1, in roff: its commands with their options and examples as the
// program's own help has them, what all of them take, the environment, and `ending`, paragraphs of which each
// begins with its heading and a colon, such as "Exit codes:".
std::string ManualPage(const CLI::App& root, const std::string& version, const std::string& ending);

}  // namespace waystar::cli
