#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/manual/manual_page.h"

namespace waystar::cli {

void AddManCommand(CLI::App& parent, Session& session) {
  CLI::App& command = *parent.add_subcommand("man", "Prints the manual page");
  command.footer(
      "Examples:\n"
      "  waystar man | man -l -\n"
      "  waystar man > /usr/local/share/man/man1/waystar.1\n");
  command.callback(
      [&parent, &session] { session.io().out << ManualPage(parent, WAYSTAR_VERSION, kExitCodeHelp); });
}

}  // namespace waystar::cli
