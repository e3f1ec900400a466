#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/completion/command_tree.h"

namespace waystar::cli {
namespace {

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

std::string FishQuote(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string Offer(const Values& values) {
  switch (values.kind) {
    case Values::Kind::kWords:
      return " -a " + FishQuote(absl::StrJoin(values.words, " "));
    case Values::Kind::kMaps:
      return " -a '(__waystar_maps)'";
    case Values::Kind::kFiles:
      return " -F";
    case Values::Kind::kAnything:
      break;
  }
  return "";
}

std::string Complete(const std::string& place, absl::string_view what) {
  return absl::StrCat("complete -c waystar -n ", FishQuote(absl::StrCat("__waystar_at ", place)), what, "\n");
}

std::string OptionLine(const CommandNode& command, const OptionNode& option) {
  std::string what;
  for (const std::string& name : option.names) {
    const bool is_long = name.size() > 2;
    absl::StrAppend(&what, is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
  }
  if (option.takes_value) {
    const bool is_file = option.values.kind == Values::Kind::kFiles;
    absl::StrAppend(&what, is_file ? " -r" : " -x", Offer(option.values));
  }
  absl::StrAppend(&what, " -d ", FishQuote(option.summary));
  return Complete(FishQuote(command.path), what);
}

std::string CommandLines(const CommandNode& command) {
  std::string lines;
  for (const SubcommandNode& subcommand : command.subcommands) {
    lines += Complete(FishQuote(command.path),
                      absl::StrCat(" -a ", subcommand.name, " -d ", FishQuote(subcommand.summary)));
  }
  for (const OptionNode& option : command.options) {
    lines += OptionLine(command, option);
  }
  for (size_t i = 0; i < command.positionals.size(); ++i) {
    const PositionalNode& positional = command.positionals[i];
    if (const std::string offer = Offer(positional.values); !offer.empty()) {
      const std::string place = FishQuote(command.path);
      lines += Complete(positional.repeats ? place : absl::StrCat(place, " ", i), offer);
    }
  }
  return lines;
}

}  // namespace

std::string FishCompletion(const std::vector<CommandNode>& commands) {
  std::string script =
      absl::StrReplaceAll(kFishScript, {{"@SUBCOMMANDS@", absl::StrJoin(SubcommandPlaces(commands), " ")},
                                        {"@VALUE_OPTIONS@", absl::StrJoin(ValuePlaces(commands), " ")}});
  for (const CommandNode& command : commands) {
    script += CommandLines(command);
  }
  return script;
}

}  // namespace waystar::cli
