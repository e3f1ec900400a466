#pragma once

#include <CLI/CLI.hpp>

#include "client/cli/draw/view.h"
#include "client/cli/io.h"

namespace waystar::cli {

// The options of a picture that the user may choose.
struct DrawOptions {
  bool picture = true;
  // Whether to draw every cell of the map, however large it is.
  bool full = false;
};

// Adds --no-picture and --full.
void AddDrawOptions(CLI::App& command, DrawOptions& options);

// Returns the window that is left for a map next to its rulers and the lines below it.
Window WindowFor(const DrawOptions& options, const Io& io);

}  // namespace waystar::cli
