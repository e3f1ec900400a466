#include "client/cli/completion/completion.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace waystar::cli {

const char kBashCompletion[] = R"bash(# Completion of waystar for bash: source <(waystar completion bash)

_waystar() {
  local line=${COMP_LINE:0:COMP_POINT} words kept
  read -ra words <<< "$line"
  [[ $line == *' ' ]] && words+=('')
  mapfile -t COMPREPLY < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
  if [[ ${COMPREPLY[0]-} == :files ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$2"))
    return
  fi
  # Bash replaces what stands behind a colon alone.
  kept=${words[-1]%"$2"}
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
  COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}

complete -F _waystar waystar
)bash";

const char kZshCompletion[] = R"zsh(#compdef waystar
# Completion of waystar for zsh: put this in a file _waystar in a folder of $fpath, or
#   source <(waystar completion zsh)

_waystar() {
  local -a lines
  lines=("${(@f)$("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $lines[1] == :files ]]; then
    _files
    return
  fi
  [[ -n $lines[1] ]] || return 1
  lines=("${(@)lines//:/\\:}")
  lines=("${(@)lines/$'\t'/:}")
  _describe argument lines
}

if [[ ${funcstack[1]} == _waystar ]]; then
  _waystar "$@"
else
  compdef _waystar waystar
fi
)zsh";

const char kFishCompletion[] = R"fish(# Completion of waystar for fish: waystar completion fish | source

function __waystar_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    if test "$lines[1]" = :files
        __fish_complete_path "$current"
    else if test -n "$lines[1]"
        printf '%s\n' $lines
    end
end

complete -c waystar -f -a '(__waystar_complete)'
)fish";

namespace {

// A command line, up to its last word.
struct CommandLine {
  // The root, and so on to the command that was chosen.
  std::vector<const CLI::App*> commands;
  std::vector<std::string> arguments;
  // Options that say where the server is.
  std::vector<std::string> connection;
  // The option whose value comes next, if one does.
  const CLI::Option* option = nullptr;
};

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

bool IsAboutConnection(const CLI::Option& option) { return option.get_group() == kConnectionGroup; }

void TakeOption(const std::string& word, CommandLine& line) {
  const std::size_t end = word.find('=');
  for (const CLI::App* const command : line.commands) {
    const CLI::Option* const option = command->get_option_no_throw(word.substr(0, end));
    if (option == nullptr) {
      continue;
    }
    if (IsAboutConnection(*option)) {
      line.connection.push_back(word);
    }
    line.option = TakesValue(*option) && end == std::string::npos ? option : nullptr;
  }
}

void Take(const std::string& word, CommandLine& line) {
  if (line.option != nullptr) {
    if (IsAboutConnection(*line.option)) {
      line.connection.push_back(word);
    }
    line.option = nullptr;
    return;
  }
  if (absl::StartsWith(word, "-")) {
    TakeOption(word, line);
    return;
  }
  for (const CLI::App* const command : line.commands.back()->get_subcommands({})) {
    if (command->get_name() == word) {
      line.commands.push_back(command);
      return;
    }
  }
  line.arguments.push_back(word);
}

// A word and its description.
using Candidates = std::vector<std::pair<std::string, std::string>>;

Candidates OptionsOf(const CommandLine& line) {
  Candidates options;
  for (const CLI::App* const command : line.commands) {
    for (const CLI::Option* const option : command->get_options()) {
      // Each command has a help of its own.
      const bool is_of_another = option->check_lname("help") && command != line.commands.back();
      if (!option->get_positional() && !is_of_another) {
        options.emplace_back(OptionNames(*option).back(), option->get_description());
      }
    }
  }
  return options;
}

// Returns what an option or argument may be: nothing if that is not known.
Candidates ValuesOf(const CLI::Option& option, const CommandLine& line, const RunCommand& run) {
  const std::string type = option.get_type_name();
  Candidates values;
  const bool is_on_map = type == kObstacleType || type == kPortalType;
  if (type == kFileType) {
    values.emplace_back(":files", "");
  } else if (type == kMapType || type == kContextType || (is_on_map && !line.arguments.empty())) {
    std::vector<std::string> command = {absl::AsciiStrToLower(type), "list", "--names", "--timeout", "2s"};
    command.insert(command.end(), line.connection.begin(), line.connection.end());
    if (is_on_map) {
      command.push_back(line.arguments.front());
    }
    const std::string names = run(command);
    for (const absl::string_view name : absl::StrSplit(names, '\n', absl::SkipEmpty())) {
      values.emplace_back(name, "");
    }
  } else if (absl::StrContains(type, '|')) {
    for (const absl::string_view word : absl::StrSplit(type, '|')) {
      values.emplace_back(word, "");
    }
  }
  return values;
}

Candidates ArgumentsOf(const CommandLine& line, const RunCommand& run) {
  Candidates commands;
  for (const CLI::App* const command : line.commands.back()->get_subcommands({})) {
    commands.emplace_back(command->get_name(), command->get_description());
  }
  const std::vector<const CLI::Option*> positionals =
      line.commands.back()->get_options([](const CLI::Option* option) { return option->get_positional(); });
  if (positionals.empty()) {
    return commands;
  }
  const std::size_t at = std::min(line.arguments.size(), positionals.size() - 1);
  return at == line.arguments.size() || Repeats(*positionals[at]) ? ValuesOf(*positionals[at], line, run)
                                                                  : Candidates();
}

}  // namespace

std::string Completions(const CLI::App& root, const std::vector<std::string>& words, const RunCommand& run) {
  CommandLine line{.commands = {&root}};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    Take(words[i], line);
  }
  const std::string current = words.empty() ? "" : words.back();
  const Candidates candidates = line.option != nullptr           ? ValuesOf(*line.option, line, run)
                                : absl::StartsWith(current, "-") ? OptionsOf(line)
                                                                 : ArgumentsOf(line, run);
  std::string text;
  for (const auto& [word, description] : candidates) {
    if (absl::StartsWith(word, current) || word == ":files") {
      absl::StrAppend(&text, word, description.empty() ? "" : "\t", description, "\n");
    }
  }
  return text;
}

}  // namespace waystar::cli
