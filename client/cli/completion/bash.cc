#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/completion/completion.h"
#include "client/cli/completion/shell_text.h"

namespace waystar::cli {
namespace {

constexpr char kScript[] = R"bash(# Completion of waystar for bash: source <(waystar completion bash)

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

std::string Offer(const Values& values) {
  switch (values.kind) {
    case Values::Kind::kWords:
      return absl::StrCat("_waystar_words ", Quote(absl::StrJoin(values.words, " ")));
    case Values::Kind::kMaps:
      return "_waystar_maps";
    case Values::Kind::kFiles:
      return "_waystar_files";
    case Values::Kind::kAnything:
      break;
  }
  return "";
}

std::string OfferValues(const CommandNode& command) {
  std::string lines;
  for (const OptionNode& option : command.options) {
    if (!option.takes_value) {
      continue;
    }
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      patterns.push_back(Quote(absl::StrCat(command.path, " ", name)));
    }
    const std::string offer = Offer(option.values);
    lines += CaseLine(patterns, absl::StrCat(offer, offer.empty() ? "" : "; ", "return"));
  }
  return lines;
}

std::string OfferOptions(const CommandNode& command) {
  std::vector<std::string> names;
  for (const OptionNode& option : command.options) {
    names.push_back(option.names.back());
  }
  return CaseLine({Quote(command.path)}, Offer({Values::Kind::kWords, names}));
}

std::string OfferPositionals(const CommandNode& command) {
  std::string lines;
  if (!command.subcommands.empty()) {
    Values names{Values::Kind::kWords, {}};
    for (const SubcommandNode& subcommand : command.subcommands) {
      names.words.push_back(subcommand.name);
    }
    lines = CaseLine({Quote(command.path + " 0")}, Offer(names));
  }
  for (size_t i = 0; i < command.positionals.size(); ++i) {
    if (const std::string offer = Offer(command.positionals[i].values); !offer.empty()) {
      lines += CaseLine({PositionalPattern(command, i)}, offer);
    }
  }
  return lines;
}

}  // namespace

std::string BashCompletion(const std::vector<CommandNode>& commands) {
  std::string values;
  std::string options;
  std::string positionals;
  for (const CommandNode& command : commands) {
    values += OfferValues(command);
    options += OfferOptions(command);
    positionals += OfferPositionals(command);
  }
  return absl::StrReplaceAll(
      kScript, {{"@SUBCOMMANDS@", CaseLine(SubcommandPlaces(commands), "place+=\" $word\" count=0")},
                {"@VALUE_OPTIONS@", CaseLine(ValuePlaces(commands), "i=$((i + 1))")},
                {"@VALUES@", values},
                {"@OPTIONS@", options},
                {"@POSITIONALS@", positionals}});
}

}  // namespace waystar::cli
