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

// Adds one subcommand, or a group of them, to `parent`. Once the command line is parsed, the one that was
// chosen runs and leaves its result in session.exit_code. `session` must outlive `parent`.
using AddCommands = void(CLI::App& parent, Session& session);

AddCommands AddMapCommands, AddFindCommand, AddPathsCommand, AddWatchPathCommand, AddValidateCommand,
    AddTraceCommand, AddRenderCommand, AddAnimateCommand, AddFieldCommands, AddEditCommands,
    AddObstacleCommands, AddPortalCommands, AddWatchCommand, AddHealthCommand, AddInfoCommand, AddTopCommand,
    AddClusterCommand, AddLogLevelCommand, AddTokenCommand, AddBenchCommand, AddBackupCommands;

// All commands in the order of the help.
inline constexpr AddCommands* kAllCommands[] = {
    &AddMapCommands,      &AddFindCommand,    &AddPathsCommand,    &AddWatchPathCommand, &AddValidateCommand,
    &AddTraceCommand,     &AddRenderCommand,  &AddAnimateCommand,  &AddFieldCommands,    &AddEditCommands,
    &AddObstacleCommands, &AddPortalCommands, &AddWatchCommand,    &AddHealthCommand,    &AddInfoCommand,
    &AddTopCommand,       &AddClusterCommand, &AddLogLevelCommand, &AddTokenCommand,     &AddBenchCommand,
    &AddBackupCommands};

// The parts of AddMapCommands about files.
AddCommands AddImportCommand, AddExportCommand;

}  // namespace waystar::cli
