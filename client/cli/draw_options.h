#pragma once

#include <CLI/CLI.hpp>

#include "client/cli/draw/view.h"
#include "client/cli/io.h"

namespace waystar::cli {

// What the user wants of a picture.
struct DrawOptions {
  bool picture = true;
  // Every cell of the map, however large.
  bool full = false;
};

// --no-picture and --full.
void AddDrawOptions(CLI::App& command, DrawOptions& options);

// The characters there are for a map, next to its rulers and the lines below it.
Window WindowFor(const DrawOptions& options, const Io& io);

}  // namespace waystar::cli
