#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::cli {

// The type names that say for completions what an argument is. An argument that is one of a few words has
// them as its type name: "red|blue".
inline constexpr char kMapType[] = "MAP";
inline constexpr char kFileType[] = "FILE";

// Returns the names of an option with their dashes: "-o", "--output".
std::vector<std::string> OptionNames(const CLI::Option& option);

// Returns true if an argument takes all the following words.
bool Repeats(const CLI::Option& option);

// Scripts by which a shell completes commands, options, their values where they are one of a few words,
// files, and the names of maps, which they ask `waystar map list --names` for.
std::string BashCompletion(const CLI::App& root);
std::string ZshCompletion(const CLI::App& root);
std::string FishCompletion(const CLI::App& root);

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
