#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace waystar::cli {

// Writes the manual page of a program, section 1, in roff: its commands with their options and examples as
// the program's own help has them, what all of them take, the environment, and `ending`, whose paragraphs
// each begin with a heading and a colon, such as "Exit codes:".
std::string ManualPage(const CLI::App& root, const std::string& version, const std::string& ending);

}  // namespace waystar::cli
