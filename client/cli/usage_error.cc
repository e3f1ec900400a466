#include "client/cli/usage_error.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace waystar::cli {
namespace {

// The Levenshtein distance, by the rows of its table.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

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
    return UnknownCommandText(command, leftover.front());
  }
  return absl::StrCat("'", leftover.front(), "' is one argument too many");
}

}  // namespace

std::string Suggest(absl::string_view word, const std::vector<std::string>& candidates) {
  size_t smallest = 3;
  std::string best;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < std::min(smallest, candidate.size())) {
      smallest = distance;
      best = candidate;
    }
  }
  return best;
}

std::string UnknownCommandText(const CLI::App& command, absl::string_view name) {
  return Unknown("command", name, CommandNames(command));
}

std::string UsageErrorText(const CLI::App& root, const CLI::ParseError& error) {
  const auto chosen = ChosenCommands(root);
  std::string path;
  for (const CLI::App* command : chosen) {
    path = absl::StrCat(command->get_name(), path.empty() ? "" : " ", path);
  }
  return absl::StrCat(Sentence(root, error, chosen), "\n`", path, " --help` tells how to use it.");
}

}  // namespace waystar::cli
