#include "client/cli/completion/completion.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace waystar::cli {
namespace {

constexpr char kBashScript[] = R"bash(# Completion of waystar for bash: source <(waystar completion bash)

_waystar() {
  local program=$1 current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local place=waystar count=0 word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case "$place $word" in
@SUBCOMMANDS@@VALUE_OPTIONS@    *' -'*) ;;
    *) count=$((count + 1)) ;;
    esac
  done
  case "$place $previous" in
@VALUES@  esac
  if [[ $current == -* ]]; then
    case "$place" in
@OPTIONS@    esac
    return
  fi
  case "$place $count" in
@POSITIONALS@  esac
}

_waystar_words() {
  COMPREPLY=($(compgen -W "$1" -- "$current"))
}

_waystar_maps() {
  _waystar_words "$("$program" map list --names --timeout 1s 2>/dev/null)"
}

_waystar_files() {
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$current"))
}

complete -F _waystar waystar
)bash";

constexpr char kZshScript[] = R"zsh(#compdef waystar
# Completion of waystar for zsh: put this in a file _waystar in a folder of $fpath, or
#   source <(waystar completion zsh)

_waystar() {
  local place=waystar word
  local -i count=0 i
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    word=${(Q)words[i]}
    case "$place $word" in
@SUBCOMMANDS@@VALUE_OPTIONS@    *' -'*) ;;
    *) ((++count)) ;;
    esac
  done
  case "$place ${words[CURRENT-1]}" in
@VALUES@  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    case "$place" in
@OPTIONS@    esac
    _describe option items
    return
  fi
  case "$place $count" in
@POSITIONALS@  esac
}

_waystar_maps() {
  compadd -- ${(f)"$(${(Q)words[1]} map list --names --timeout 1s 2>/dev/null)"}
}

if [[ ${funcstack[1]} == _waystar ]]; then
  _waystar "$@"
else
  compdef _waystar waystar
fi
)zsh";

constexpr char kFishScript[] = R"fish(# Completion of waystar for fish: waystar completion fish | source

# True at the command $argv[1], and behind $argv[2] positional arguments if that is given.
function __waystar_at
    set -l place waystar
    set -l count 0
    set -l is_value 0
    for word in (commandline -opc)[2..-1]
        if test $is_value -eq 1
            set is_value 0
            continue
        end
        switch "$place $word"
            case @SUBCOMMANDS@
                set place "$place $word"
                set count 0
            case @VALUE_OPTIONS@
                set is_value 1
            case '* -*'
            case '*'
                set count (math $count + 1)
        end
    end
    test "$place" = "$argv[1]"; or return 1
    test (count $argv) -eq 1; or test $count -eq $argv[2]
end

function __waystar_maps
    waystar map list --names --timeout 1s 2>/dev/null
end

complete -c waystar -f
)fish";

// One command with everything that may stand behind it. A place on the command line is the command's path and
// one more word, such as "waystar find --form".
struct CommandNode {
  // The path from the root: "waystar map import".
  std::string path;
  std::vector<const CLI::App*> subcommands;
  // Options include those of the commands above.
  std::vector<const CLI::Option*> options;
  std::vector<const CLI::Option*> positionals;
};

void Walk(const CLI::App& app, CommandNode node, std::vector<CommandNode>& commands) {
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? node.positionals : node.options).push_back(option);
  }
  node.subcommands = app.get_subcommands({});
  commands.push_back(node);
  for (const CLI::App* subcommand : node.subcommands) {
    CommandNode child{.path = absl::StrCat(node.path, " ", subcommand->get_name()), .options = node.options};
    // Each command has a help of its own.
    std::erase_if(child.options, [](const CLI::Option* option) { return option->check_lname("help"); });
    Walk(*subcommand, std::move(child), commands);
  }
}

// Returns all the commands of an app, the root first.
std::vector<CommandNode> CommandsOf(const CLI::App& root) {
  std::vector<CommandNode> commands;
  Walk(root, {.path = root.get_name()}, commands);
  return commands;
}

// In single quotes, for bash and zsh.
std::string Quote(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// Returns the places where the option stands.
std::vector<std::string> PlacesOf(const CommandNode& command, const CLI::Option& option) {
  std::vector<std::string> places;
  for (const std::string& name : OptionNames(option)) {
    places.push_back(Quote(absl::StrCat(command.path, " ", name)));
  }
  return places;
}

// Returns the places where a subcommand begins.
std::vector<std::string> SubcommandPlaces(const std::vector<CommandNode>& commands) {
  std::vector<std::string> places;
  for (const CommandNode& command : commands) {
    for (const CLI::App* subcommand : command.subcommands) {
      places.push_back(Quote(absl::StrCat(command.path, " ", subcommand->get_name())));
    }
  }
  return places;
}

// Returns the places where an option is followed by a value.
std::vector<std::string> ValuePlaces(const std::vector<CommandNode>& commands) {
  std::vector<std::string> places;
  for (const CommandNode& command : commands) {
    for (const CLI::Option* option : command.options) {
      if (TakesValue(*option)) {
        const std::vector<std::string> more = PlacesOf(command, *option);
        places.insert(places.end(), more.begin(), more.end());
      }
    }
  }
  return places;
}

// The text with which a script offers values.
struct Offers {
  std::string (*words)(const std::vector<std::string>& words);
  const char* maps;
  const char* files;
};

// Returns what offers the values of an option; empty if they may be anything.
std::string OfferOf(const CLI::Option& option, const Offers& offers) {
  const std::string type = option.get_type_name();
  if (type == kMapType) {
    return offers.maps;
  }
  if (type == kFileType) {
    return offers.files;
  }
  return absl::StrContains(type, '|') ? offers.words(absl::StrSplit(type, '|')) : "";
}

// Syntax that differs between bash and zsh.
struct Dialect {
  Offers offers;
  std::string (*offer_options)(const std::vector<const CLI::Option*>& options);
  std::string (*offer_subcommands)(const std::vector<const CLI::App*>& subcommands);
  const char* enter_subcommand;
  const char* skip_value;
};

std::string BashWords(const std::vector<std::string>& words) {
  return absl::StrCat("_waystar_words ", Quote(absl::StrJoin(words, " ")));
}

std::string BashOptions(const std::vector<const CLI::Option*>& options) {
  const auto append = [](std::string* out, const auto* option) { out->append(OptionNames(*option).back()); };
  return BashWords({absl::StrJoin(options, " ", append)});
}

std::string BashSubcommands(const std::vector<const CLI::App*>& subcommands) {
  const auto append = [](std::string* out, const CLI::App* command) { out->append(command->get_name()); };
  return BashWords({absl::StrJoin(subcommands, " ", append)});
}

std::string ZshWords(const std::vector<std::string>& words) {
  return absl::StrCat("compadd -- ", absl::StrJoin(words, " "));
}

std::string ZshOptions(const std::vector<const CLI::Option*>& options) {
  const auto append = [](std::string* out, const CLI::Option* option) {
    absl::StrAppend(out, Quote(absl::StrCat(OptionNames(*option).back(), ":", option->get_description())));
  };
  return absl::StrCat("items=(", absl::StrJoin(options, " ", append), ")");
}

std::string ZshSubcommands(const std::vector<const CLI::App*>& subcommands) {
  const auto append = [](std::string* out, const CLI::App* command) {
    absl::StrAppend(out, Quote(absl::StrCat(command->get_name(), ":", command->get_description())));
  };
  return absl::StrCat("items=(", absl::StrJoin(subcommands, " ", append), "); _describe command items");
}

constexpr Dialect kBash = {{&BashWords, "_waystar_maps", "_waystar_files"},
                           &BashOptions,
                           &BashSubcommands,
                           "place+=\" $word\" count=0",
                           "i=$((i + 1))"};
constexpr Dialect kZsh = {{&ZshWords, "_waystar_maps", "_files"},
                          &ZshOptions,
                          &ZshSubcommands,
                          "place+=\" $word\"; count=0",
                          "((++i))"};

// One line of a `case`: "    'a'|'b') action ;;\n". Empty if there are no patterns.
std::string CaseLine(const std::vector<std::string>& patterns, absl::string_view action) {
  if (patterns.empty()) {
    return "";
  }
  return absl::StrCat("    ", absl::StrJoin(patterns, "|"), ") ", action, " ;;\n");
}

std::string OfferValues(const CommandNode& command, const Dialect& dialect) {
  std::string lines;
  for (const CLI::Option* option : command.options) {
    if (TakesValue(*option)) {
      const std::string offer = OfferOf(*option, dialect.offers);
      lines += CaseLine(PlacesOf(command, *option), absl::StrCat(offer, offer.empty() ? "" : "; ", "return"));
    }
  }
  return lines;
}

// Completions by the command's path and the number of positional arguments so far.
std::string OfferPositionals(const CommandNode& command, const Dialect& dialect) {
  std::string lines;
  if (!command.subcommands.empty()) {
    lines = CaseLine({Quote(command.path + " 0")}, dialect.offer_subcommands(command.subcommands));
  }
  for (size_t i = 0; i < command.positionals.size(); ++i) {
    if (const std::string offer = OfferOf(*command.positionals[i], dialect.offers); !offer.empty()) {
      lines += CaseLine({Repeats(*command.positionals[i]) ? Quote(command.path + " ") + "*"
                                                          : Quote(absl::StrCat(command.path, " ", i))},
                        offer);
    }
  }
  return lines;
}

std::string FillScript(absl::string_view script, const Dialect& dialect, const CLI::App& root) {
  const std::vector<CommandNode> commands = CommandsOf(root);
  std::string values;
  std::string options;
  std::string positionals;
  for (const CommandNode& command : commands) {
    values += OfferValues(command, dialect);
    options += CaseLine({Quote(command.path)}, dialect.offer_options(command.options));
    positionals += OfferPositionals(command, dialect);
  }
  return absl::StrReplaceAll(
      script, {{"@SUBCOMMANDS@", CaseLine(SubcommandPlaces(commands), dialect.enter_subcommand)},
               {"@VALUE_OPTIONS@", CaseLine(ValuePlaces(commands), dialect.skip_value)},
               {"@VALUES@", values},
               {"@OPTIONS@", options},
               {"@POSITIONALS@", positionals}});
}

std::string FishQuote(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string FishWords(const std::vector<std::string>& words) {
  return " -a " + FishQuote(absl::StrJoin(words, " "));
}

constexpr Offers kFishOffers = {&FishWords, " -a '(__waystar_maps)'", " -F"};

std::string Complete(const std::string& place, absl::string_view what) {
  return absl::StrCat("complete -c waystar -n ", FishQuote(absl::StrCat("__waystar_at ", place)), what, "\n");
}

std::string OptionLine(const std::string& place, const CLI::Option& option) {
  std::string what;
  for (const std::string& name : OptionNames(option)) {
    const bool is_long = name.size() > 2;
    absl::StrAppend(&what, is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
  }
  if (TakesValue(option)) {
    absl::StrAppend(&what, option.get_type_name() == kFileType ? " -r" : " -x", OfferOf(option, kFishOffers));
  }
  return Complete(place, absl::StrCat(what, " -d ", FishQuote(option.get_description())));
}

std::string CommandLines(const CommandNode& command) {
  const std::string place = FishQuote(command.path);
  std::string lines;
  for (const CLI::App* subcommand : command.subcommands) {
    lines += Complete(place, absl::StrCat(" -a ", subcommand->get_name(), " -d ",
                                          FishQuote(subcommand->get_description())));
  }
  for (const CLI::Option* option : command.options) {
    lines += OptionLine(place, *option);
  }
  for (size_t i = 0; i < command.positionals.size(); ++i) {
    const CLI::Option& positional = *command.positionals[i];
    if (const std::string offer = OfferOf(positional, kFishOffers); !offer.empty()) {
      lines += Complete(Repeats(positional) ? place : absl::StrCat(place, " ", i), offer);
    }
  }
  return lines;
}

}  // namespace

std::string BashCompletion(const CLI::App& root) { return FillScript(kBashScript, kBash, root); }

std::string ZshCompletion(const CLI::App& root) { return FillScript(kZshScript, kZsh, root); }

std::string FishCompletion(const CLI::App& root) {
  const std::vector<CommandNode> commands = CommandsOf(root);
  std::string script =
      absl::StrReplaceAll(kFishScript, {{"@SUBCOMMANDS@", absl::StrJoin(SubcommandPlaces(commands), " ")},
                                        {"@VALUE_OPTIONS@", absl::StrJoin(ValuePlaces(commands), " ")}});
  for (const CommandNode& command : commands) {
    script += CommandLines(command);
  }
  return script;
}

}  // namespace waystar::cli
