#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/cli/completion/command_tree.h"

namespace waystar::cli {

// The parts that the scripts for the shells share. Each names a place on the command line by a command's path
// and one more word, such as "waystar find --form".

// Returns the places where a subcommand begins.
std::vector<std::string> SubcommandPlaces(const std::vector<CommandNode>& commands);
// Returns the places where an option is followed by a value.
std::vector<std::string> ValuePlaces(const std::vector<CommandNode>& commands);

// Writes one line of a `case` in bash and zsh: "    'a'|'b') action ;;\n". It is empty if there are no
// patterns.
std::string CaseLine(const std::vector<std::string>& patterns, absl::string_view action);

// Writes the pattern, for such a line, of the place where a command's positional argument with this index
// goes: the command's path and the number of positional arguments so far.
std::string PositionalPattern(const CommandNode& command, size_t index);

// Writes a text in single quotes, for bash and zsh.
std::string Quote(absl::string_view text);

}  // namespace waystar::cli
