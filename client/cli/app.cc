#include "client/cli/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/completion.h"
#include "client/cli/session.h"
#include "client/cli/shape_argument.h"
#include "client/connection.h"

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

std::vector<std::string> LongNames(const std::vector<const CLI::App*>& commands) {
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

// Returns the options of the commands that a word is the beginning of; only the option, if it is whole.
std::vector<std::string> OptionsBegunBy(absl::string_view word,
                                        const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> begun;
  for (const std::string& name : LongNames(commands)) {
    if (name == word) {
      return {name};
    }
    if (absl::StartsWith(name, word) && std::ranges::find(begun, name) == begun.end()) {
      begun.push_back(name);
    }
  }
  return begun;
}

// An argument and its value, where "=" joins them.
std::pair<std::string, std::string> SplitOption(const std::string& argument) {
  const std::size_t end = std::min(argument.find('='), argument.size());
  return {argument.substr(0, end), argument.substr(end)};
}

// A command line whose options are written out.
struct WholeArguments {
  std::vector<std::string> words;
  // The command that they name, its group, and so on up to the root.
  std::vector<const CLI::App*> commands;
};

WholeArguments WriteOut(const CLI::App& root, const std::vector<std::string>& arguments) {
  WholeArguments whole{.commands = {&root}};
  for (const std::string& argument : arguments) {
    whole.words.push_back(argument);
    if (argument.size() > 2 && absl::StartsWith(argument, "--")) {
      const auto [word, value] = SplitOption(argument);
      const std::vector<std::string> begun = OptionsBegunBy(word, whole.commands);
      if (begun.size() == 1) {
        whole.words.back() = begun.front() + value;
      }
      continue;
    }
    for (const CLI::App* const command : whole.commands.front()->get_subcommands({})) {
      if (command->get_name() == argument) {
        whole.commands.insert(whole.commands.begin(), command);
        break;
      }
    }
  }
  return whole;
}

// Says of a number that is none what CLI11 says of it less plainly.
std::string NoNumber(absl::string_view error) {
  if (!absl::ConsumePrefix(&error, "Could not convert: ")) {
    return std::string(error);
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(error, absl::MaxSplits(" = ", 1));
  return absl::StrCat(parts.first, ": '", parts.second, "' is not a valid number");
}

std::string Sentence(const CLI::App& root, const CLI::ParseError& error,
                     const std::vector<const CLI::App*>& chosen) {
  const std::vector<std::string> leftover = root.remaining(/*recurse=*/true);
  const CLI::App& command = *chosen.front();
  const std::vector<std::string> names = CommandNames(command);
  if (leftover.empty()) {
    return names.empty() ? NoNumber(error.what()) : "which command? One of " + absl::StrJoin(names, ", ");
  }
  if (absl::StartsWith(leftover.front(), "-")) {
    const std::string word = SplitOption(leftover.front()).first;
    const std::vector<std::string> begun = OptionsBegunBy(word, chosen);
    return word.size() > 2 && begun.size() > 1
               ? absl::StrCat("'", word, "' may be any of ", absl::StrJoin(begun, ", "))
               : Unknown("option", word, LongNames(chosen));
  }
  if (!names.empty()) {
    return Unknown("command", leftover.front(), names);
  }
  return absl::StrCat("'", leftover.front(), "' is one argument too many");
}

// Says in a sentence what is wrong with the command line that `root` failed to parse with `error`, and where
// to read on.
std::string UsageErrorText(const CLI::App& root, const CLI::ParseError& error) {
  const auto chosen = ChosenCommands(root);
  std::string path;
  for (const CLI::App* command : chosen) {
    path = absl::StrCat(command->get_name(), path.empty() ? "" : " ", path);
  }
  return absl::StrCat(Sentence(root, error, chosen), "\n`", path, " --help` tells how to use it.");
}

// CLI11's help, without the types of positional arguments, whose names say enough.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kColumnWidth); }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional() || option->get_type_size() == 0) {
      return "";
    }
    const std::string variable = option->get_envname();
    return absl::StrCat(" ", option->get_type_name(),
                        variable.empty() ? "" : absl::StrCat(" ($", variable, ")"));
  }

 private:
  static constexpr size_t kColumnWidth = 40;
};

// Adds a text option that requires TLS.
void AddTlsText(CLI::App& app, client::Options& options, const std::string& name, std::string& text,
                const char* type, const std::string& description, const std::string& variable) {
  app.add_option_function<std::string>(
         name,
         [&options, &text](const std::string& value) {
           options.tls = true;
           text = value;
         },
         description)
      ->envname(variable)
      ->type_name(type)
      ->group(kConnectionGroup);
}

std::string ReadToken(const std::string& file) {
  std::string token;
  if (!std::getline(std::ifstream(file), token) || token.empty()) {
    throw CLI::ValidationError("--token-file", file + " cannot be read, or holds no token");
  }
  return token;
}

void AddConnectionOptions(CLI::App& app, client::Options& options) {
  app.add_option("--server", options.target,
                 "Where the server listens [localhost:7450]; several take turns: IP:PORT,IP:PORT or "
                 "dns:///NAME:PORT")
      ->envname("WAYSTAR_SERVER")
      ->type_name("HOST:PORT")
      ->group(kConnectionGroup);
  // ContextOptions reads it.
  app.add_option_function<std::string>(
         "--context", [](const std::string& /*name*/) {},
         "Connect as this context says [the current one of `waystar context`]")
      ->type_name(kContextType)
      ->group(kConnectionGroup);
  app.add_flag("--tls", options.tls, "Encrypt, and accept only a server that proves its name")
      ->envname("WAYSTAR_TLS")
      ->group(kConnectionGroup);
  AddTlsText(app, options, "--ca", options.ca_file, kFileType,
             "Who vouches for the server, as PEM; implies --tls [whom this machine trusts]", "WAYSTAR_CA");
  AddTlsText(app, options, "--cert", options.cert_file, kFileType,
             "The certificate to show to the server, as PEM; implies --tls", "WAYSTAR_CERT");
  AddTlsText(app, options, "--key", options.key_file, kFileType, "Its key, as PEM; implies --tls",
             "WAYSTAR_KEY");
  AddTlsText(app, options, "--server-name", options.server_name, "NAME",
             "The name that the server must prove; implies --tls [the one in --server]",
             "WAYSTAR_SERVER_NAME");
  const CLI::Option* token =
      app.add_option("--token", options.token,
                     "Tells the server who you are; not seen by other users where the environment says it")
          ->envname("WAYSTAR_TOKEN")
          ->type_name("TOKEN")
          ->group(kConnectionGroup);
  app.add_option_function<std::string>(
         "--token-file",
         [&options, token](const std::string& file) {
           if (token->count() == 0) {
             options.token = ReadToken(file);
           }
         },
         "A file whose first line is the token; --token goes before it")
      ->type_name(kFileType)
      ->envname("WAYSTAR_TOKEN_FILE")
      ->group(kConnectionGroup);
  app.add_flag("--wait-for-ready", options.wait_for_ready,
               "Wait for a server that cannot be reached yet, as long as for an answer")
      ->group(kConnectionGroup);
}

void AddGlobalOptions(CLI::App& app, Session& session) {
  GlobalOptions& options = session.options();
  AddConnectionOptions(app, options.connection);
  AddParsed(
      app, "--timeout", &ParseTimeout, [&options](absl::Duration timeout) { options.timeout = timeout; },
      "How long to wait for an answer [5s; 60s for whole maps; for ever with watch]")
      ->type_name("TIME");
  app.add_flag("--json", options.json, "Print the server's answer, or its error, as JSON");
  AddChoice<ColorChoice>(
      app, "--color", [&options](ColorChoice choice) { options.color = choice; },
      {{"auto", ColorChoice::kAuto}, {"always", ColorChoice::kAlways}, {"never", ColorChoice::kNever}},
      "Draw in colours [auto: on a terminal, unless NO_COLOR is set]");
  app.set_version_flag("--version", "waystar " WAYSTAR_VERSION, "Print the version");
}

ExitCode PrintScript(const std::string& script, Session& session) {
  session.io().out << script;
  return ExitCode::kOk;
}

void AddCompletionCommand(CLI::App& parent, Session& session) {
  const auto [command, script] = AddCommand(
      parent, session, "completion", "Prints a script that completes commands in a shell", &PrintScript,
      "Examples:\n"
      "  source <(waystar completion bash)\n"
      "  waystar completion zsh > ~/.zfunc/_waystar\n"
      "  waystar completion fish > ~/.config/fish/completions/waystar.fish\n");
  AddChoice<std::string>(
      command, "SHELL", [&script = script](const std::string& chosen) { script = chosen; },
      {{"bash", kBashCompletion}, {"zsh", kZshCompletion}, {"fish", kFishCompletion}}, "bash, zsh or fish")
      ->required();
}

ExitCode Complete(const CLI::App& root, std::vector<std::string> words, Io& io) {
  words.erase(words.begin());
  io.out << Completions(root, words, [](const std::vector<std::string>& command) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    Io own{in, out, err};
    Run(command, own);
    return out.str();
  });
  return ExitCode::kOk;
}

void AddManCommand(CLI::App& parent, Session& session) {
  CLI::App& command = *parent.add_subcommand("man", "Prints the manual page");
  command.footer(
      "Examples:\n"
      "  waystar man | man -l -\n"
      "  waystar man > /usr/local/share/man/man1/waystar.1\n");
  command.callback(
      [&parent, &session] { session.io().out << ManualPage(parent, WAYSTAR_VERSION, kExitCodeHelp); });
}

ExitCode PrintHelp(CLI::App& root, const std::vector<std::string>& names, Session& session) {
  CLI::App* command = &root;
  std::string path = root.get_name();
  for (const std::string& name : names) {
    const auto found =
        command->get_subcommands([&name](const CLI::App* each) { return each->get_name() == name; });
    if (found.empty()) {
      return session.FailUsage(Unknown("command", name, CommandNames(*command)));
    }
    command = found.front();
    absl::StrAppend(&path, " ", name);
  }
  session.io().out << command->get_formatter()->make_help(command, path, CLI::AppFormatMode::Normal);
  return ExitCode::kOk;
}

// Added last, for it offers the commands that there are by then.
void AddHelpCommand(CLI::App& parent, Session& session) {
  const auto names = std::make_shared<std::vector<std::string>>();
  CLI::App& command = *parent.add_subcommand("help", "Prints the help of a command, or this");
  command.add_option("COMMAND", *names, "The command, such as find or map import")
      ->type_name(absl::StrJoin(CommandNames(parent), "|"));
  command.footer(
      "Examples:\n"
      "  waystar help map import\n");
  command.callback([names, &parent, &session] { session.exit_code = PrintHelp(parent, *names, session); });
}

// The group of the commands that call no server.
constexpr char kOwnCommands[] = "This tool";

std::unique_ptr<CLI::App> BuildApp(Session& session) {
  auto app = std::make_unique<CLI::App>("Finds paths on the maps of a Waystar server.", "waystar");
  app->formatter(std::make_shared<HelpFormatter>());
  app->set_help_flag("-h,--help", "Print this help");
  app->require_subcommand(1);
  app->fallthrough();
  AddGlobalOptions(*app, session);
  struct Group {
    const char* title;
    std::vector<AddCommands*> commands;
  };
  const Group groups[] = {
      {"Paths",
       {&AddFindCommand, &AddPathsCommand, &AddWalkCommand, &AddAgentsCommand, &AddValidateCommand,
        &AddTraceCommand, &AddFieldCommands}},
      {"Maps",
       {&AddMapCommands, &AddRenderCommand, &AddAnimateCommand, &AddWatchCommand, &AddBackupCommands}},
      {"Edits", {&AddEditCommands, &AddObstacleCommands, &AddPortalCommands, &AddGroundCommands}},
      {"Server",
       {&AddHealthCommand, &AddInfoCommand, &AddTopCommand, &AddClusterCommand, &AddLogLevelCommand,
        &AddTokenCommand, &AddBenchCommand}},
      {kOwnCommands, {&AddContextCommands, &AddCompletionCommand, &AddManCommand, &AddHelpCommand}}};
  for (const Group& group : groups) {
    const std::size_t before = app->get_subcommands({}).size();
    for (AddCommands* const add : group.commands) {
      add(*app, session);
    }
    const std::vector<CLI::App*> commands = app->get_subcommands({});
    for (std::size_t i = before; i < commands.size(); ++i) {
      commands[i]->group(group.title);
    }
  }
  app->footer(absl::StrCat(
      "These options may stand before or after the command. `waystar help COMMAND` describes each.\n\n"
      "Examples:\n"
      "  waystar map import arena.txt\n"
      "  waystar find arena 1,1 60,40\n"
      "  waystar block arena 10,3..10,12\n\n",
      kExitCodeHelp));
  return app;
}

// Has a command that calls a server take the options of its context, if there is one. These, and what a
// context is added with, come from nowhere else.
absl::Status TakeContext(CLI::App& root, WholeArguments& whole) {
  if (whole.commands.size() < 2) {
    return absl::OkStatus();
  }
  const CLI::App& command = **(whole.commands.rbegin() + 1);
  absl::StatusOr<std::vector<std::string>> options = std::vector<std::string>();
  if (command.get_group() != kOwnCommands) {
    options = ContextOptions(whole.words);
  }
  if (options.ok() && (!options->empty() || command.get_name() == "context")) {
    for (CLI::Option* const option : root.get_options()) {
      option->envname("");
    }
    whole.words.insert(whole.words.begin(), options->begin(), options->end());
  }
  return options.status();
}

}  // namespace

ExitCode Run(const std::vector<std::string>& arguments, Io& io) {
  Session session(io);
  const auto app = BuildApp(session);
  if (!arguments.empty() && arguments.front() == "__complete") {
    return Complete(*app, arguments, io);
  }
  session.words = arguments;
  WholeArguments whole = WriteOut(*app, arguments);
  if (const absl::Status status = TakeContext(*app, whole); !status.ok()) {
    return session.FailUsage(status);
  }
  try {
    // CLI11 takes them last one first.
    app->parse(std::vector<std::string>(whole.words.rbegin(), whole.words.rend()));
  } catch (const CLI::Success& help_or_version) {
    app->exit(help_or_version, io.out, io.err);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    return session.FailUsage(UsageErrorText(*app, error));
  }
  io.out.flush();
  if (!io.out) {
    io.err << "waystar: cannot write all of the output\n";
    return ExitCode::kFailure;
  }
  return session.exit_code;
}

}  // namespace waystar::cli
