#pragma once

#include <istream>
#include <ostream>

#include "client/cli/draw/view.h"

namespace waystar::cli {

// The streams that a command reads and writes, and what is known of the place that it writes to.
struct Io {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  // Whether `out` is a terminal.
  bool is_terminal = false;
  // Whether the user has asked all programs for plain text: https://no-color.org
  bool no_color = false;
  Window window = {100, 60};
  // Whether `err` is a terminal that can write a line over itself.
  bool shows_progress = false;
};

}  // namespace waystar::cli
