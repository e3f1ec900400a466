#pragma once

#include <CLI/CLI.hpp>

#include "client/cli/session.h"

namespace waystar::cli {

// Each adds one subcommand, or a group of them, to `parent`. Once the command line is parsed, the one that
// was chosen runs and leaves its result in session.exit_code. `session` must outlive `parent`.
void AddMapCommands(CLI::App& parent, Session& session);
void AddImportCommand(CLI::App& parent, Session& session);
void AddCreateCommand(CLI::App& parent, Session& session);
void AddShowCommand(CLI::App& parent, Session& session);
void AddExportCommand(CLI::App& parent, Session& session);
void AddFindCommand(CLI::App& parent, Session& session);
void AddPathsCommand(CLI::App& parent, Session& session);
void AddWatchPathCommand(CLI::App& parent, Session& session);
void AddValidateCommand(CLI::App& parent, Session& session);
void AddTraceCommand(CLI::App& parent, Session& session);
void AddRenderCommand(CLI::App& parent, Session& session);
void AddAnimateCommand(CLI::App& parent, Session& session);
void AddReachCommand(CLI::App& parent, Session& session);
void AddReachableCommand(CLI::App& parent, Session& session);
void AddFlowCommand(CLI::App& parent, Session& session);
void AddMatrixCommand(CLI::App& parent, Session& session);
void AddRayCommand(CLI::App& parent, Session& session);
void AddSampleCommand(CLI::App& parent, Session& session);
void AddEditCommands(CLI::App& parent, Session& session);
void AddObstacleCommands(CLI::App& parent, Session& session);
void AddPortalCommands(CLI::App& parent, Session& session);
void AddWatchCommand(CLI::App& parent, Session& session);
void AddHealthCommand(CLI::App& parent, Session& session);
void AddInfoCommand(CLI::App& parent, Session& session);
void AddTopCommand(CLI::App& parent, Session& session);
void AddRecordCommand(CLI::App& parent, Session& session);
void AddReplayCommand(CLI::App& parent, Session& session);
void AddManCommand(CLI::App& parent, Session& session);
void AddLogLevelCommand(CLI::App& parent, Session& session);
void AddTokenCommand(CLI::App& parent, Session& session);
void AddBenchCommand(CLI::App& parent, Session& session);
void AddInspectCommand(CLI::App& parent, Session& session);
void AddCompletionCommand(CLI::App& parent, Session& session);

}  // namespace waystar::cli
