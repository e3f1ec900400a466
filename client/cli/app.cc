#include "client/cli/app.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/connection_options.h"
#include "client/cli/help_formatter.h"
#include "client/cli/session.h"
#include "client/cli/usage_error.h"

namespace waystar::cli {
namespace {

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

std::unique_ptr<CLI::App> BuildApp(Session& session) {
  auto app = std::make_unique<CLI::App>("Finds paths on the maps of a Waystar server.", "waystar");
  app->formatter(std::make_shared<HelpFormatter>());
  app->set_help_flag("-h,--help", "Print this help");
  app->require_subcommand(1);
  app->fallthrough();
  AddGlobalOptions(*app, session);
  AddMapCommands(*app, session);
  AddFindCommand(*app, session);
  AddPathsCommand(*app, session);
  AddWatchPathCommand(*app, session);
  AddValidateCommand(*app, session);
  AddTraceCommand(*app, session);
  AddRenderCommand(*app, session);
  AddAnimateCommand(*app, session);
  AddReachCommand(*app, session);
  AddReachableCommand(*app, session);
  AddFlowCommand(*app, session);
  AddMatrixCommand(*app, session);
  AddRayCommand(*app, session);
  AddSampleCommand(*app, session);
  AddEditCommands(*app, session);
  AddObstacleCommands(*app, session);
  AddPortalCommands(*app, session);
  AddWatchCommand(*app, session);
  AddHealthCommand(*app, session);
  AddInfoCommand(*app, session);
  AddTopCommand(*app, session);
  AddLogLevelCommand(*app, session);
  AddTokenCommand(*app, session);
  AddBenchCommand(*app, session);
  AddInspectCommand(*app, session);
  AddRecordCommand(*app, session);
  AddReplayCommand(*app, session);
  AddCompletionCommand(*app, session);
  AddManCommand(*app, session);
  app->footer(absl::StrCat(
      "These options may stand before or after the command. `waystar COMMAND --help` tells more of each.\n\n"
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
