#include "client/cli/usage_error.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/suggestion.h"

namespace waystar::cli {
namespace {

// The command that the user got to, its group, and so on up to the root.
std::vector<const CLI::App*> ChosenCommands(const CLI::App& root) {
  std::vector<const CLI::App*> chosen = {&root};
  while (!chosen.front()->get_subcommands().empty()) {
    chosen.insert(chosen.begin(), chosen.front()->get_subcommands().front());
  }
  return chosen;
}

std::vector<std::string> OptionNames(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
    }
  }
  return names;
}

std::vector<std::string> CommandNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : command.get_subcommands({})) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

std::string Unknown(absl::string_view kind, absl::string_view word,
                    const std::vector<std::string>& candidates) {
  const std::string meant = Suggest(word, candidates);
  return absl::StrCat("there is no ", kind, " '", word, "'",
                      meant.empty() ? "" : absl::StrCat("; did you mean '", meant, "'?"));
}

std::string Sentence(const CLI::App& root, const CLI::ParseError& error,
                     const std::vector<const CLI::App*>& chosen) {
  const std::vector<std::string> leftover = root.remaining(/*recurse=*/true);
  const CLI::App& command = *chosen.front();
  const std::vector<std::string> names = CommandNames(command);
  if (leftover.empty()) {
    return names.empty() ? error.what() : "which command? One of " + absl::StrJoin(names, ", ");
  }
  if (absl::StartsWith(leftover.front(), "-")) {
    const std::string word = leftover.front().substr(0, leftover.front().find('='));
    return Unknown("option", word, OptionNames(chosen));
  }
  if (!names.empty()) {
    return Unknown("command", leftover.front(), names);
  }
  return absl::StrCat("'", leftover.front(), "' is one argument too many");
}

}  // namespace

std::string UsageErrorText(const CLI::App& root, const CLI::ParseError& error) {
  const auto chosen = ChosenCommands(root);
  std::string path;
  for (const CLI::App* command : chosen) {
    path = absl::StrCat(command->get_name(), path.empty() ? "" : " ", path);
  }
  return absl::StrCat(Sentence(root, error, chosen), "\n`", path, " --help` tells how to use it.");
}

}  // namespace waystar::cli
