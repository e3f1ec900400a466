#include "client/cli/draw/half_blocks.h"

#include <optional>

#include "absl/strings/str_format.h"

namespace waystar::cli {
namespace {

// 38 for the character, 48 for what lies behind it.
std::string Escape(int what, picture::Color color) {
  return absl::StrFormat("\x1b[%d;2;%d;%d;%dm", what, color.r, color.g, color.b);
}

}  // namespace

std::string HalfBlocks(const picture::Canvas& canvas) {
  constexpr char kUpperHalf[] = "\xe2\x96\x80";
  constexpr char kReset[] = "\x1b[0m";
  std::string text;
  for (int y = 0; y < canvas.height(); y += 2) {
    std::optional<picture::Color> above;
    std::optional<picture::Color> below;
    for (int x = 0; x < canvas.width(); ++x) {
      if (above != canvas.At(x, y)) {
        above = canvas.At(x, y);
        text += Escape(38, *above);
      }
      if (y + 1 < canvas.height() && below != canvas.At(x, y + 1)) {
        below = canvas.At(x, y + 1);
        text += Escape(48, *below);
      }
      text += kUpperHalf;
    }
    text += kReset;
    text += '\n';
  }
  return text;
}

}  // namespace waystar::cli
