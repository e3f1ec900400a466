#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"

namespace waystar::cli {
namespace {

ExitCode SetLogLevel(const v1::SetLogLevelRequest& request, Session& session) {
  const auto response = session.client().SetLogLevel(request);
  if (!response.ok()) {
    return session.Fail(response.status());
  }
  if (session.options().json) {
    session.PrintJson(*response);
  } else {
    const auto word = [](v1::LogLevel level) {
      const std::string name = v1::LogLevel_Name(level);
      return absl::AsciiStrToLower(absl::StripPrefix(name, "LOG_LEVEL_"));
    };
    session.io().out << "The log level is " << word(request.level()) << " now; it was "
                     << word(response->previous()) << ".\n";
  }
  return ExitCode::kOk;
}

}  // namespace

void AddLogLevelCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::SetLogLevelRequest>();
  CLI::App& command = *parent.add_subcommand("log-level", "Sets which lines the server logs, while it runs");
  AddChoice<v1::LogLevel>(
      command, "LEVEL", [request](v1::LogLevel level) { request->set_level(level); },
      {{"debug", v1::LOG_LEVEL_DEBUG},
       {"info", v1::LOG_LEVEL_INFO},
       {"warning", v1::LOG_LEVEL_WARNING},
       {"error", v1::LOG_LEVEL_ERROR}},
      "Lines of this level and of more serious ones")
      ->required();
  command.footer("Examples:\n  waystar log-level debug\n  waystar log-level warning --server game-7:7450\n");
  command.callback([request, &session] { session.exit_code = SetLogLevel(*request, session); });
}

}  // namespace waystar::cli
