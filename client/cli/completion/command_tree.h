#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace waystar::cli {

// The type names that tell WalkCommands() what an argument is. An argument that is one of a few words has
// them as its type name: "red|blue".
inline constexpr char kMapType[] = "MAP";
inline constexpr char kFileType[] = "FILE";

// What a shell can offer for an argument.
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
  // Whether it takes all the words that follow.
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

}  // namespace waystar::cli
