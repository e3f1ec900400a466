#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "client/cli/session.h"

namespace waystar::cli {

// Adds a command that is run by `run`, with the arguments that its options have filled in by then.
template <typename Arguments>
CLI::App& AddCommand(CLI::App& parent, Session& session, const std::string& name, const std::string& summary,
                     const std::shared_ptr<Arguments>& arguments,
                     ExitCode (*run)(const Arguments&, Session&)) {
  CLI::App& command = *parent.add_subcommand(name, summary);
  command.callback([arguments, run, &session] { session.exit_code = run(*arguments, session); });
  return command;
}

// Each adds one subcommand, or a group of them, to `parent`. Once the command line is parsed, the one that
// was chosen runs and leaves its result in session.exit_code. `session` must outlive `parent`.
void AddMapCommands(CLI::App& parent, Session& session);
void AddImportCommand(CLI::App& parent, Session& session);
void AddShowCommand(CLI::App& parent, Session& session);
void AddExportCommand(CLI::App& parent, Session& session);
void AddFindCommand(CLI::App& parent, Session& session);
void AddPathsCommand(CLI::App& parent, Session& session);
void AddWatchPathCommand(CLI::App& parent, Session& session);
void AddValidateCommand(CLI::App& parent, Session& session);
void AddTraceCommand(CLI::App& parent, Session& session);
void AddRenderCommand(CLI::App& parent, Session& session);
void AddAnimateCommand(CLI::App& parent, Session& session);
void AddFieldCommands(CLI::App& parent, Session& session);
void AddEditCommands(CLI::App& parent, Session& session);
void AddObstacleCommands(CLI::App& parent, Session& session);
void AddPortalCommands(CLI::App& parent, Session& session);
void AddWatchCommand(CLI::App& parent, Session& session);
void AddHealthCommand(CLI::App& parent, Session& session);
void AddInfoCommand(CLI::App& parent, Session& session);
void AddTopCommand(CLI::App& parent, Session& session);
void AddClusterCommand(CLI::App& parent, Session& session);
void AddBackupCommands(CLI::App& parent, Session& session);
void AddLogLevelCommand(CLI::App& parent, Session& session);
void AddTokenCommand(CLI::App& parent, Session& session);
void AddBenchCommand(CLI::App& parent, Session& session);

}  // namespace waystar::cli
