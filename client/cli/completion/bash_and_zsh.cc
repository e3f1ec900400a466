#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/completion/command_tree.h"

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

// Syntax that differs between the two shells.
struct Dialect {
  std::string (*offer_words)(const std::vector<std::string>& words);
  const char* offer_files;
  std::string (*offer_options)(const std::vector<OptionNode>& options);
  std::string (*offer_subcommands)(const std::vector<SubcommandNode>& subcommands);
  const char* enter_subcommand;
  const char* skip_value;
};

std::string BashWords(const std::vector<std::string>& words) {
  return absl::StrCat("_waystar_words ", Quote(absl::StrJoin(words, " ")));
}

std::string BashOptions(const std::vector<OptionNode>& options) {
  const auto append = [](std::string* out, const OptionNode& option) { out->append(option.names.back()); };
  return BashWords({absl::StrJoin(options, " ", append)});
}

std::string BashSubcommands(const std::vector<SubcommandNode>& subcommands) {
  const auto append = [](std::string* out, const SubcommandNode& command) { out->append(command.name); };
  return BashWords({absl::StrJoin(subcommands, " ", append)});
}

std::string ZshWords(const std::vector<std::string>& words) {
  return absl::StrCat("compadd -- ", absl::StrJoin(words, " "));
}

std::string ZshOptions(const std::vector<OptionNode>& options) {
  const auto append = [](std::string* out, const OptionNode& option) {
    absl::StrAppend(out, Quote(absl::StrCat(option.names.back(), ":", option.summary)));
  };
  return absl::StrCat("items=(", absl::StrJoin(options, " ", append), ")");
}

std::string ZshSubcommands(const std::vector<SubcommandNode>& subcommands) {
  const auto append = [](std::string* out, const SubcommandNode& subcommand) {
    absl::StrAppend(out, Quote(absl::StrCat(subcommand.name, ":", subcommand.summary)));
  };
  return absl::StrCat("items=(", absl::StrJoin(subcommands, " ", append), "); _describe command items");
}

constexpr Dialect kBash = {
    &BashWords,    "_waystar_files", &BashOptions, &BashSubcommands, "place+=\" $word\" count=0",
    "i=$((i + 1))"};
constexpr Dialect kZsh = {&ZshWords, "_files", &ZshOptions, &ZshSubcommands, "place+=\" $word\"; count=0",
                          "((++i))"};

// One line of a `case`: "    'a'|'b') action ;;\n". Empty if there are no patterns.
std::string CaseLine(const std::vector<std::string>& patterns, absl::string_view action) {
  if (patterns.empty()) {
    return "";
  }
  return absl::StrCat("    ", absl::StrJoin(patterns, "|"), ") ", action, " ;;\n");
}

std::string OfferAny(const Values& values, const Dialect& dialect) {
  switch (values.kind) {
    case Values::Kind::kWords:
      return dialect.offer_words(values.words);
    case Values::Kind::kMaps:
      return "_waystar_maps";
    case Values::Kind::kFiles:
      return dialect.offer_files;
    case Values::Kind::kAnything:
      break;
  }
  return "";
}

std::string OfferValues(const CommandNode& command, const Dialect& dialect) {
  std::string lines;
  for (const OptionNode& option : command.options) {
    if (!option.takes_value) {
      continue;
    }
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      patterns.push_back(Quote(absl::StrCat(command.path, " ", name)));
    }
    const std::string offer = OfferAny(option.values, dialect);
    lines += CaseLine(patterns, absl::StrCat(offer, offer.empty() ? "" : "; ", "return"));
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
    const PositionalNode& positional = command.positionals[i];
    if (const std::string offer = OfferAny(positional.values, dialect); !offer.empty()) {
      lines += CaseLine(
          {positional.repeats ? Quote(command.path + " ") + "*" : Quote(absl::StrCat(command.path, " ", i))},
          offer);
    }
  }
  return lines;
}

std::string FillScript(absl::string_view script, const Dialect& dialect,
                       const std::vector<CommandNode>& commands) {
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

}  // namespace

std::string BashCompletion(const std::vector<CommandNode>& commands) {
  return FillScript(kBashScript, kBash, commands);
}

std::string ZshCompletion(const std::vector<CommandNode>& commands) {
  return FillScript(kZshScript, kZsh, commands);
}

}  // namespace waystar::cli
