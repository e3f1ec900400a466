#include "client/cli/draw_options.h"

#include <algorithm>
#include <limits>

#include "client/cli/draw/paint.h"

namespace waystar::cli {
namespace {

// Ruler, legend, caption, facts and the next prompt.
constexpr int kOtherRows = 6;

}  // namespace

void AddDrawOptions(CLI::App& command, DrawOptions& options) {
  command.add_flag_callback(
      "--no-picture", [&options] { options.picture = false; }, "Do not draw the map");
  command.add_flag("--full", options.full, "Draw every cell of the map, however large it is");
}

Window WindowFor(const DrawOptions& options, const Io& io) {
  if (options.full) {
    return {std::numeric_limits<int>::max(), std::numeric_limits<int>::max()};
  }
  return {std::max(io.window.columns - kGutterColumns, 20), std::max(io.window.rows - kOtherRows, 8)};
}

}  // namespace waystar::cli
