#include "client/cli/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/completion.h"
#include "client/cli/session.h"
#include "client/cli/shape_argument.h"
#include "client/connection.h"

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

// Returns the candidate most similar to `word`: the first with the smallest edit distance (insertions,
// deletions and replacements). Empty if no distance is less than three.
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
    return Unknown("option", word, LongNames(chosen));
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

constexpr char kGroup[] = "Connection";

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
      ->group(kGroup);
}

std::string ReadToken(const std::string& file) {
  std::string token;
  if (!std::getline(std::ifstream(file), token) || token.empty()) {
    throw CLI::ValidationError("--token-file", file + " cannot be read, or holds no token");
  }
  return token;
}

// Where the server is and how to reach it: --server, and a group of options of its own.
void AddConnectionOptions(CLI::App& app, client::Options& options) {
  app.add_option("--server", options.target,
                 "Where the server listens [localhost:7450]; several take turns: IP:PORT,IP:PORT or "
                 "dns:///NAME:PORT")
      ->envname("WAYSTAR_SERVER")
      ->type_name("HOST:PORT");
  app.add_flag("--tls", options.tls, "Encrypt, and accept only a server that proves its name")
      ->envname("WAYSTAR_TLS")
      ->group(kGroup);
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
          ->group(kGroup);
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
      ->group(kGroup);
  app.add_flag("--wait-for-ready", options.wait_for_ready,
               "Wait for a server that cannot be reached yet, as long as for an answer")
      ->group(kGroup);
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

using Generator = std::string (*)(const CLI::App&);

void AddCompletionCommand(CLI::App& parent, Session& session) {
  const auto generate = std::make_shared<Generator>(nullptr);
  CLI::App& command =
      *parent.add_subcommand("completion", "Prints a script that completes commands in a shell");
  AddChoice<Generator>(
      command, "SHELL", [generate](Generator chosen) { *generate = chosen; },
      {{"bash", &BashCompletion}, {"zsh", &ZshCompletion}, {"fish", &FishCompletion}}, "bash, zsh or fish")
      ->required();
  command.footer(
      "Examples:\n"
      "  source <(waystar completion bash)\n"
      "  waystar completion zsh > ~/.zfunc/_waystar\n"
      "  waystar completion fish > ~/.config/fish/completions/waystar.fish\n");
  command.callback([generate, &parent, &session] { session.io().out << (*generate)(parent); });
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

std::unique_ptr<CLI::App> BuildApp(Session& session) {
  auto app = std::make_unique<CLI::App>("Finds paths on the maps of a Waystar server.", "waystar");
  app->formatter(std::make_shared<HelpFormatter>());
  app->set_help_flag("-h,--help", "Print this help");
  app->require_subcommand(1);
  app->fallthrough();
  AddGlobalOptions(*app, session);
  for (AddCommands* const add :
       {&AddMapCommands,      &AddFindCommand,    &AddPathsCommand,    &AddWalkCommand,   &AddValidateCommand,
        &AddTraceCommand,     &AddRenderCommand,  &AddAnimateCommand,  &AddFieldCommands, &AddEditCommands,
        &AddObstacleCommands, &AddPortalCommands, &AddWatchCommand,    &AddHealthCommand, &AddInfoCommand,
        &AddTopCommand,       &AddClusterCommand, &AddLogLevelCommand, &AddTokenCommand,  &AddBenchCommand,
        &AddBackupCommands}) {
    add(*app, session);
  }
  AddCompletionCommand(*app, session);
  AddManCommand(*app, session);
  AddHelpCommand(*app, session);
  app->footer(absl::StrCat(
      "These options may stand before or after the command. `waystar help COMMAND` tells more of each.\n\n"
      "Examples:\n"
      "  waystar map import arena.txt\n"
      "  waystar find arena 1,1 60,40\n"
      "  waystar block arena 10,3..10,12\n\n",
      kExitCodeHelp));
  return app;
}

}  // namespace

ExitCode Run(const std::vector<std::string>& arguments, Io& io) {
  Session session(io);
  const auto app = BuildApp(session);
  try {
    // CLI11 takes them last one first.
    app->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
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
