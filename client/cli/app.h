#pragma once

#include <string>
#include <vector>

#include "client/cli/exit_code.h"
#include "client/cli/io.h"

namespace waystar::cli {

// Runs the `waystar` command that `arguments` (without the program's name) ask for, and returns how it went.
ExitCode Run(const std::vector<std::string>& arguments, Io& io);

}  // namespace waystar::cli
