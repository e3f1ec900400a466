#pragma once

#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "client/cli/exit_code.h"

namespace waystar::cli {

// A size in characters.
struct Window {
  int columns = 0;
  int rows = 0;
};

// The streams that a command reads and writes, and what is known of the place that it writes to.
struct Io {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  // True if `out` is a terminal.
  bool is_terminal = false;
  // True if the user has requested plain text from all programs: https://no-color.org
  bool no_color = false;
  Window window = {100, 60};
  // True if `err` is a terminal that can overwrite a line.
  bool shows_progress = false;
};

// Runs the `waystar` command that `arguments` (without the program's name) ask for, and returns how it went.
ExitCode Run(const std::vector<std::string>& arguments, Io& io);

}  // namespace waystar::cli
