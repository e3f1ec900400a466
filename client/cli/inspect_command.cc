#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/held_signals.h"
#include "client/inspect/inspector.h"
#include "client/target.h"

namespace waystar::cli {
namespace {

struct InspectArguments {
  inspect::InspectorOptions options;
  std::string map;
};

void Announce(const InspectArguments& arguments, const std::string& address, Session& session) {
  const inspect::InspectorOptions& options = arguments.options;
  const std::string page = arguments.map.empty() ? address : absl::StrCat(address, "#map=", arguments.map);
  session.io().out << "Open " << page << " to look at the maps of " << session.options().connection.target
                   << "; Ctrl-C ends it.\n"
                   << std::flush;
  if (!client::IsOnThisMachine(options.listen)) {
    session.io().err << "waystar: whoever reaches " << options.listen << " can "
                     << (options.is_read_only ? "read" : "read and change")
                     << " all maps that you may, without a token and unencrypted\n";
  }
}

ExitCode Inspect(const InspectArguments& arguments, Session& session) {
  auto signals = std::make_unique<HeldSignals>();
  const auto inspector = inspect::Inspector::Start(arguments.options, session.ClientOptions());
  if (absl::IsInvalidArgument(inspector.status())) {
    return session.FailUsage(std::string(inspector.status().message()));
  }
  if (!inspector.ok()) {
    session.io().err << "waystar: " << inspector.status().message() << "\n";
    return ExitCode::kFailure;
  }
  Announce(arguments, (*inspector)->address(), session);
  while (!signals->Wait(absl::Hours(1))) {
  }
  // A second one ends the process.
  signals.reset();
  return ExitCode::kOk;
}

}  // namespace

void AddInspectCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<InspectArguments>();
  CLI::App& command = AddCommand(parent, session, "inspect",
                                 "Serves a web page to look at maps, find paths on them and paint obstacles",
                                 arguments, &Inspect);
  command.add_option("MAP", arguments->map, "The map to begin with [the first one]")->type_name(kMapType);
  command
      .add_option("--listen", arguments->options.listen,
                  "Where browsers reach it [127.0.0.1:7451: only from this machine]")
      ->type_name("HOST:PORT");
  command.add_flag("--read-only", arguments->options.is_read_only, "Refuse whatever changes a map");
  command.footer(
      "The page needs nothing from the network but this program, which makes its calls with the "
      "connection's\n"
      "options: browsers need no token, so keep it to yourself. It goes on until Ctrl-C.\n\n"
      "Examples:\n"
      "  waystar inspect\n"
      "  waystar inspect arena\n"
      "  waystar inspect --server game-7:7450 --ca ca.pem --read-only\n");
}

}  // namespace waystar::cli
