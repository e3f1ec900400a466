#include "client/cli/completion/shell_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace waystar::cli {

std::vector<std::string> SubcommandPlaces(const std::vector<CommandNode>& commands) {
  std::vector<std::string> places;
  for (const CommandNode& command : commands) {
    for (const SubcommandNode& subcommand : command.subcommands) {
      places.push_back(Quote(absl::StrCat(command.path, " ", subcommand.name)));
    }
  }
  return places;
}

std::vector<std::string> ValuePlaces(const std::vector<CommandNode>& commands) {
  std::vector<std::string> places;
  for (const CommandNode& command : commands) {
    for (const OptionNode& option : command.options) {
      for (const std::string& name : option.names) {
        if (option.takes_value) {
          places.push_back(Quote(absl::StrCat(command.path, " ", name)));
        }
      }
    }
  }
  return places;
}

std::string CaseLine(const std::vector<std::string>& patterns, absl::string_view action) {
  if (patterns.empty()) {
    return "";
  }
  return absl::StrCat("    ", absl::StrJoin(patterns, "|"), ") ", action, " ;;\n");
}

std::string PositionalPattern(const CommandNode& command, size_t index) {
  if (command.positionals[index].repeats) {
    return Quote(command.path + " ") + "*";
  }
  return Quote(absl::StrCat(command.path, " ", index));
}

std::string Quote(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

}  // namespace waystar::cli
