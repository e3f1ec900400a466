#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::cli {

// The type names that say for completions what an argument is. An argument that is one of a few words has
// them as its type name: "red|blue".
inline constexpr char kMapType[] = "MAP";
inline constexpr char kObstacleType[] = "OBSTACLE";
inline constexpr char kPortalType[] = "PORTAL";
inline constexpr char kContextType[] = "CONTEXT";
inline constexpr char kFileType[] = "FILE";

// The group of the options that say where the server is and how to reach it.
inline constexpr char kConnectionGroup[] = "Connection";

// Returns the names of an option with their dashes: "-o", "--output".
std::vector<std::string> OptionNames(const CLI::Option& option);

// Returns true if an argument takes all the following words.
bool Repeats(const CLI::Option& option);

// Scripts by which a shell completes command lines. They ask `waystar __complete WORD...`, which prints
// Completions.
extern const char kBashCompletion[];
extern const char kZshCompletion[];
extern const char kFishCompletion[];

// Runs a command of the program and returns what it prints.
using RunCommand = std::function<std::string(const std::vector<std::string>& words)>;

// Returns what the last of the words of a command line may be, where it has begun: commands, options, one of
// a few words, and the names of maps, contexts, and the obstacles and portals of the map on the line, which
// the likes of `waystar map list --names` print. Each stands in a line, and its description behind a tab. For
// a file there is a line ":files".
std::string Completions(const CLI::App& root, const std::vector<std::string>& words, const RunCommand& run);

// Writes the manual page of a program, section 1, in roff: its commands with their options and examples as
// the program's own help has them, what all of them take, the environment, and `ending`, whose paragraphs
// each begin with a heading and a colon, such as "Exit codes:".
std::string ManualPage(const CLI::App& root, const std::string& version, const std::string& ending);

// A line of text, with whatever means something in roff taken literally.
std::string RoffText(absl::string_view text);

// As an argument of a macro, in quotes.
std::string RoffArgument(absl::string_view text);

// Lines of text that keep their shape.
std::string RoffLines(absl::string_view text);

}  // namespace waystar::cli
