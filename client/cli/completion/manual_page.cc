#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/cli/completion/completion.h"

namespace waystar::cli {
namespace {

std::string Bold(absl::string_view text) { return absl::StrCat("\\fB", RoffText(text), "\\fR"); }
std::string Italic(absl::string_view text) { return absl::StrCat("\\fI", RoffText(text), "\\fR"); }

// "-o, --output FILE".
std::string OptionHeading(const CLI::Option& option) {
  const auto append = [](std::string* out, const std::string& name) { out->append(Bold(name)); };
  const std::string type = option.get_type_size() == 0 ? "" : option.get_type_name();
  return absl::StrCat(absl::StrJoin(OptionNames(option), ", ", append), type.empty() ? "" : " ",
                      type.empty() ? "" : Italic(type));
}

bool IsHelp(const CLI::Option& option) { return option.check_lname("help"); }

std::string OptionsText(const CLI::App& app, bool positional) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() != positional || IsHelp(*option)) {
      continue;
    }
    const std::string heading = positional ? Italic(option->get_name()) : OptionHeading(*option);
    absl::StrAppend(&text, ".TP\n", heading, "\n", RoffText(option->get_description()), "\n");
  }
  return text;
}

// "waystar map import FILE [OPTIONS]".
std::string Usage(const std::string& path, const CLI::App& command) {
  std::string usage = path;
  bool has_options = false;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) {
      const std::string name = option->get_name();
      const std::string shown = absl::StrCat(name, Repeats(*option) ? "..." : "");
      absl::StrAppend(&usage, " ", option->get_required() ? shown : absl::StrCat("[", shown, "]"));
    } else {
      has_options = has_options || !IsHelp(*option);
    }
  }
  return has_options ? usage + " [OPTIONS]" : usage;
}

void AppendCommands(const CLI::App& app, const std::string& path, std::string& text) {
  for (const CLI::App* command : app.get_subcommands({})) {
    const std::string name = absl::StrCat(path, " ", command->get_name());
    if (!command->get_subcommands({}).empty()) {
      AppendCommands(*command, name, text);
      continue;
    }
    absl::StrAppend(&text, ".SS ", RoffArgument(Usage(name, *command)), "\n",
                    RoffText(command->get_description()), ".\n", OptionsText(*command, /*positional=*/true),
                    OptionsText(*command, /*positional=*/false), ".PP\n", RoffLines(command->get_footer()));
  }
}

std::string EnvironmentText(const CLI::App& root) {
  std::string text;
  for (const CLI::Option* option : root.get_options()) {
    if (!option->get_envname().empty()) {
      absl::StrAppend(&text, ".TP\n", Bold(option->get_envname()), "\nStands for ",
                      Bold(absl::StrCat("--", option->get_lnames().front())), ".\n");
    }
  }
  return absl::StrCat(text, ".TP\n", Bold("NO_COLOR"), "\nIf it is set, nothing is drawn in colours.\n.TP\n",
                      Bold("COLUMNS"), "\nHow wide the terminal is taken to be.\n");
}

}  // namespace

std::vector<std::string> OptionNames(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  return names;
}

bool Repeats(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

std::string RoffText(absl::string_view text) {
  // As it is typed: minus signs, straight quotes, and no accents.
  const std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"},
                                                         {"-", "\\-"},
                                                         {"'", "\\(aq"},
                                                         {"^", "\\(ha"},
                                                         {"~", "\\(ti"},
                                                         {"`", "\\(ga"},
                                                         {"…", "..."}});
  return absl::StartsWith(escaped, ".") ? absl::StrCat("\\&", escaped) : escaped;
}

std::string RoffArgument(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(RoffText(text), {{"\"", "\\(dq"}}), "\"");
}

std::string RoffLines(absl::string_view text) {
  std::string roff = ".nf\n";
  for (const absl::string_view line : absl::StrSplit(absl::StripTrailingAsciiWhitespace(text), '\n')) {
    absl::StrAppend(&roff, RoffText(line), "\n");
  }
  return roff + ".fi\n";
}

std::string ManualPage(const CLI::App& root, const std::string& version, const std::string& ending) {
  const std::string& name = root.get_name();
  std::string text =
      absl::StrCat(".TH ", absl::AsciiStrToUpper(name), " 1 \"\" ",
                   RoffArgument(absl::StrCat(name, " ", version)), "\n.SH NAME\n", RoffText(name), " \\- ",
                   RoffText(root.get_description()), "\n.SH SYNOPSIS\n", Bold(name), " ", Italic("COMMAND"),
                   " [", Italic("OPTIONS"), "]\n.SH OPTIONS\nThese may stand before or after the command.\n",
                   OptionsText(root, /*positional=*/false), ".SH COMMANDS\n");
  AppendCommands(root, name, text);
  absl::StrAppend(&text, ".SH ENVIRONMENT\n", EnvironmentText(root));
  for (const absl::string_view paragraph : absl::StrSplit(ending, "\n\n")) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(paragraph, absl::MaxSplits(":\n", 1));
    absl::StrAppend(&text, ".SH ", RoffArgument(absl::AsciiStrToUpper(parts.first)), "\n",
                    RoffLines(parts.second));
  }
  return text;
}

}  // namespace waystar::cli
