#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::cli {

// The type names that tell WalkCommands() what an argument is. An argument that is one of a few words has
// them as its type name: "red|blue".
inline constexpr char kMapType[] = "MAP";
inline constexpr char kFileType[] = "FILE";

// Completions for an argument.
struct Values {
  enum class Kind { kAnything, kWords, kMaps, kFiles };

  Kind kind = Kind::kAnything;
  // The words of kWords.
  std::vector<std::string> words;
};

struct OptionNode {
  // The names with their dashes: "-o", "--output".
  std::vector<std::string> names;
  std::string summary;
  bool takes_value = false;
  Values values;
};

struct PositionalNode {
  Values values;
  // True if it takes all the following words.
  bool repeats = false;
};

struct SubcommandNode {
  std::string name;
  std::string summary;
};

// Node of the tree of commands: one command with everything that may stand behind it.
struct CommandNode {
  // The path from the root: "waystar map import".
  std::string path;
  std::vector<SubcommandNode> subcommands;
  // The options, those of the commands above included.
  std::vector<OptionNode> options;
  std::vector<PositionalNode> positionals;
};

// Returns all the commands of an app, the root first.
std::vector<CommandNode> WalkCommands(const CLI::App& root);

// Shared by the scripts of all shells. A place on the command line is a command's path and one more word,
// such as "waystar find --form". These functions return the places where ...

// ... a subcommand begins.
std::vector<std::string> SubcommandPlaces(const std::vector<CommandNode>& commands);
// ... an option is followed by a value.
std::vector<std::string> ValuePlaces(const std::vector<CommandNode>& commands);

// In single quotes, for bash and zsh.
std::string Quote(absl::string_view text);

// Scripts by which a shell completes commands, options, their values where they are one of a few words,
// files, and the names of maps, which they ask `waystar map list --names` for.
std::string BashCompletion(const std::vector<CommandNode>& commands);
std::string ZshCompletion(const std::vector<CommandNode>& commands);
std::string FishCompletion(const std::vector<CommandNode>& commands);

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
