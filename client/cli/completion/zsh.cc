#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/completion/completion.h"
#include "client/cli/completion/shell_text.h"

namespace waystar::cli {
namespace {

constexpr char kScript[] = R"zsh(#compdef waystar
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

std::string Offer(const Values& values) {
  switch (values.kind) {
    case Values::Kind::kWords:
      return absl::StrCat("compadd -- ", absl::StrJoin(values.words, " "));
    case Values::Kind::kMaps:
      return "_waystar_maps";
    case Values::Kind::kFiles:
      return "_files";
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
  std::vector<std::string> items;
  for (const OptionNode& option : command.options) {
    items.push_back(Quote(absl::StrCat(option.names.back(), ":", option.summary)));
  }
  return CaseLine({Quote(command.path)}, absl::StrCat("items=(", absl::StrJoin(items, " "), ")"));
}

std::string OfferPositionals(const CommandNode& command) {
  std::string lines;
  if (!command.subcommands.empty()) {
    std::vector<std::string> items;
    for (const SubcommandNode& subcommand : command.subcommands) {
      items.push_back(Quote(absl::StrCat(subcommand.name, ":", subcommand.summary)));
    }
    lines = CaseLine({Quote(command.path + " 0")},
                     absl::StrCat("items=(", absl::StrJoin(items, " "), "); _describe command items"));
  }
  for (size_t i = 0; i < command.positionals.size(); ++i) {
    if (const std::string offer = Offer(command.positionals[i].values); !offer.empty()) {
      lines += CaseLine({PositionalPattern(command, i)}, offer);
    }
  }
  return lines;
}

}  // namespace

std::string ZshCompletion(const std::vector<CommandNode>& commands) {
  std::string values;
  std::string options;
  std::string positionals;
  for (const CommandNode& command : commands) {
    values += OfferValues(command);
    options += OfferOptions(command);
    positionals += OfferPositionals(command);
  }
  return absl::StrReplaceAll(
      kScript, {{"@SUBCOMMANDS@", CaseLine(SubcommandPlaces(commands), "place+=\" $word\"; count=0")},
                {"@VALUE_OPTIONS@", CaseLine(ValuePlaces(commands), "((++i))")},
                {"@VALUES@", values},
                {"@OPTIONS@", options},
                {"@POSITIONALS@", positionals}});
}

}  // namespace waystar::cli
