#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/string_view.h"

namespace waystar::cli {

// Writes the manual page of a program, section 1, in roff: its commands with their options and examples as
// the program's own help has them, what all of them take, the environment, and `ending`, whose paragraphs
// each begin with a heading and a colon, such as "Exit codes:".
std::string ManualPage(const CLI::App& root, const std::string& version, const std::string& ending);

// A line of text, with whatever means something in roff taken literally.
std::string RoffText(absl::string_view text);

// As an argument of a macro, in quotes.
std::string RoffArgument(absl::string_view text);

// Paragraphs that empty lines part. Lines of one that begin with spaces, and a line that ends with a colon in
// front of them, keep their shape; others flow together.
std::string RoffParagraphs(absl::string_view text);

}  // namespace waystar::cli
