// Contexts: named connections of the user, which `waystar context` keeps. Each is a file of options, one a
// line.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/completion.h"
#include "client/cli/files.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

namespace fs = std::filesystem;

// Returns an environment variable; empty if it is not set.
std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the folder of all that the tool keeps.
fs::path OwnFolder() {
  const fs::path config = Variable("XDG_CONFIG_HOME");
  return (config.is_absolute() ? config : fs::path(Variable("HOME")) / ".config") / "waystar";
}

fs::path PathOf(const std::string& context) { return OwnFolder() / "contexts" / context; }

// Returns the file that names the current context.
fs::path CurrentFile() { return OwnFolder() / "current"; }

// A name has no dot, as the files have that are about to be renamed.
absl::StatusOr<std::string> ParseName(absl::string_view text) {
  static const std::regex kName("[A-Za-z0-9_-]{1,63}");
  if (std::regex_match(text.begin(), text.end(), kName)) {
    return std::string(text);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not 1 to 63 of the characters A-Z, a-z, 0-9, '_' and '-'"));
}

// Reads a file that nobody else can read or write.
absl::StatusOr<std::string> ReadOwn(const fs::path& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) {
    return absl::NotFoundError(absl::StrCat("there is no file ", path.string()));
  }
  if (facts.st_uid != geteuid() || (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("others can read or write ", path.string(),
                     ", so it is not used\nIf it is as you made it, `chmod 600 ", path.string(),
                     "` makes it yours alone."));
  }
  return ReadInput(path.string(), std::cin);
}

absl::Status WriteOwn(const fs::path& path, const std::string& text) {
  const mode_t before = umask(S_IRWXG | S_IRWXO);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const absl::Status written = WriteDurably(path.string(), text);
  umask(before);
  return written;
}

// Returns an empty name if there is none.
absl::StatusOr<std::string> Current() {
  const absl::StatusOr<std::string> text = ReadOwn(CurrentFile());
  if (absl::IsNotFound(text.status())) {
    return std::string();
  }
  return text.ok() ? absl::StatusOr<std::string>(std::string(absl::StripSuffix(*text, "\n"))) : text.status();
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(PathOf(""), error)) {
    if (const auto name = ParseName(entry.path().filename().string()); name.ok()) {
      names.push_back(*name);
    }
  }
  absl::c_sort(names);
  return names;
}

absl::Status NoContext(const std::string& name) {
  const std::string meant = Suggest(name, Names());
  return absl::NotFoundError(absl::StrCat("there is no context '", name, "'",
                                          meant.empty() ? "" : absl::StrCat("; did you mean '", meant, "'?"),
                                          "\n`waystar context list` shows the contexts there are."));
}

// Returns the value of an option; nothing if the command line does not have it.
std::optional<std::string> TypedValue(const std::vector<std::string>& words, absl::string_view option) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    absl::string_view rest = words[i];
    if (!absl::ConsumePrefix(&rest, option)) {
      continue;
    }
    if (rest.empty()) {
      return i + 1 < words.size() ? words[i + 1] : "";
    }
    if (absl::ConsumePrefix(&rest, "=")) {
      return std::string(rest);
    }
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<std::string>> OptionsOf(const std::string& name) {
  if (const auto parsed = ParseName(name); !parsed.ok()) {
    return parsed.status();
  }
  const absl::StatusOr<std::string> text = ReadOwn(PathOf(name));
  if (!text.ok()) {
    return absl::IsNotFound(text.status()) ? NoContext(name) : text.status();
  }
  std::vector<std::string> options = absl::StrSplit(*text, '\n', absl::SkipEmpty());
  // A token without its server would go to another one.
  const bool are_options =
      absl::c_all_of(options, [](const std::string& line) { return absl::StartsWith(line, "--"); });
  if (!are_options || !TypedValue(options, "--server")) {
    return absl::InvalidArgumentError(
        absl::StrCat(PathOf(name).string(), " does not hold options, a line each, with --server among them"));
  }
  return options;
}

struct ContextArguments {
  std::string name;
  // The command that has the options of connections.
  const CLI::App* root = nullptr;
};

// Returns the lines of a context: the options of the connection that were given, with whole paths of files.
std::string LinesOf(const CLI::App& root) {
  std::string lines;
  for (const CLI::Option* option : root.get_options()) {
    if (option->get_group() == kConnectionGroup && option->count() > 0 && !option->check_lname("context")) {
      const std::string& value = option->results().front();
      absl::StrAppend(&lines, "--", option->get_lnames().front(), "=",
                      option->get_type_name() == kFileType ? fs::absolute(value).string() : value, "\n");
    }
  }
  return lines;
}

ExitCode Add(const ContextArguments& arguments, Session& session) {
  if (arguments.root->get_option("--server")->count() == 0) {
    return session.FailUsage("a context needs a server: --server HOST:PORT");
  }
  if (const absl::Status& status = session.client().status(); !status.ok()) {
    return session.FailUsage(status);
  }
  if (std::error_code error; fs::exists(PathOf(arguments.name), error)) {
    return session.FailUsage(absl::StrCat("there is a context ", arguments.name,
                                          " already: `waystar context remove ", arguments.name,
                                          "` makes room"));
  }
  if (const absl::Status status = WriteOwn(PathOf(arguments.name), LinesOf(*arguments.root)); !status.ok()) {
    return session.FailUsage(status);
  }
  session.io().out << "Added " << arguments.name << ". `waystar context use " << arguments.name
                   << "` makes it the current one.\n";
  return ExitCode::kOk;
}

ExitCode List(const bool& names_only, Session& session) {
  const absl::StatusOr<std::string> current = Current();
  std::vector<TableRow> rows = {{"CONTEXT", "SERVER", ""}};
  for (const std::string& name : Names()) {
    const absl::StatusOr<std::vector<std::string>> options = OptionsOf(name);
    rows.push_back({name, options.ok() ? TypedValue(*options, "--server").value_or("") : "not yours alone",
                    current.ok() && *current == name ? "current" : ""});
  }
  session.PrintTable(rows, names_only);
  return ExitCode::kOk;
}

ExitCode Use(const std::string& name, Session& session) {
  absl::Status status = OptionsOf(name).status();
  if (status.ok()) {
    status = WriteOwn(CurrentFile(), name + "\n");
  }
  if (!status.ok()) {
    return session.FailUsage(status);
  }
  session.io().out << name << " is the current context.\n";
  return ExitCode::kOk;
}

ExitCode Remove(const std::string& name, Session& session) {
  std::error_code error;
  const absl::StatusOr<std::string> current = Current();
  if (current.ok() && *current == name) {
    fs::remove(CurrentFile(), error);
  }
  if (!fs::remove(PathOf(name), error)) {
    return session.FailUsage(NoContext(name));
  }
  session.io().out << "Removed " << name << ".\n";
  return ExitCode::kOk;
}

CLI::Option* AddName(CLI::App& command, std::string& name) {
  return AddParsed(
             command, "NAME", &ParseName, [&name](const std::string& given) { name = given; },
             "The context's name")
      ->required()
      ->type_name("");
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ContextOptions(const std::vector<std::string>& words) {
  std::optional<std::string> name = TypedValue(words, "--context");
  const bool has_server = TypedValue(words, "--server").has_value();
  if (name && has_server) {
    return absl::InvalidArgumentError("--context and --server both name a server: give one of them");
  }
  if (!name && !has_server && Variable("WAYSTAR_SERVER").empty()) {
    const absl::StatusOr<std::string> current = Current();
    if (!current.ok()) {
      return current.status();
    }
    name = *current;
  }
  if (!name || name->empty()) {
    return std::vector<std::string>();
  }
  absl::StatusOr<std::vector<std::string>> options = OptionsOf(*name);
  if (options.ok()) {
    std::erase_if(*options, [&](const std::string& option) {
      const std::string given = option.substr(0, option.find('='));
      return TypedValue(words, given) || (given == "--token" && TypedValue(words, "--token-file"));
    });
  }
  return options;
}

void AddContextCommands(CLI::App& parent, Session& session) {
  CLI::App& group = AddGroup(parent, "context", "Keeps connections under names",
                             "The current context is used where neither --server nor WAYSTAR_SERVER names a "
                             "server, --context\npicks one for a single command, and with either no variable "
                             "of the environment counts.\n\n"
                             "Examples:\n"
                             "  waystar context add prod --server game-7:7450 --tls --token-file prod.token\n"
                             "  waystar context use prod\n"
                             "  waystar map list --context test\n");
  const auto add =
      AddCommand(group, session, "add", "Adds a context with the options of this command line", &Add,
                 "It keeps the options of the group Connection in a file that you "
                 "alone can read.\n\n"
                 "Examples:\n"
                 "  waystar context add prod --server game-7:7450 --tls --token-file prod.token\n");
  add.arguments.root = &parent;
  AddName(add.app, add.arguments.name);
  const auto list =
      AddCommand(group, session, "list", "Lists the contexts", &List, "Examples:\n  waystar context list\n");
  list.app.add_flag("--names", list.arguments, "Only their names, one per line");
  const auto use = AddCommand(group, session, "use", "Makes a context the current one", &Use,
                              "Examples:\n  waystar context use prod\n");
  AddName(use.app, use.arguments)->type_name(kContextType);
  const auto remove = AddCommand(group, session, "remove", "Removes a context", &Remove,
                                 "Examples:\n  waystar context remove prod\n");
  AddName(remove.app, remove.arguments)->type_name(kContextType);
}

}  // namespace waystar::cli
