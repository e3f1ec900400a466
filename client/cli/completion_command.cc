#include <memory>
#include <string>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/completion/completion.h"

namespace waystar::cli {
namespace {

using Generator = std::string (*)(const std::vector<CommandNode>&);

}  // namespace

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
  command.callback([generate, &parent, &session] { session.io().out << (*generate)(WalkCommands(parent)); });
}

}  // namespace waystar::cli
