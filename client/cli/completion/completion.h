#pragma once

#include <string>
#include <vector>

#include "client/cli/completion/command_tree.h"

namespace waystar::cli {

// Write the scripts by which a shell completes commands, options, their values where they are one of a few
// words, files, and the names of maps, which the scripts ask `waystar map list --names` for.
std::string BashCompletion(const std::vector<CommandNode>& commands);
std::string ZshCompletion(const std::vector<CommandNode>& commands);
std::string FishCompletion(const std::vector<CommandNode>& commands);

}  // namespace waystar::cli
