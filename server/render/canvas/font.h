// Built-in stroke font, so that pictures need no font file and are the same on every machine.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "server/render/canvas/geometry.h"

namespace waystar::picture {

// Descent of letters and distance between lines, as multiples of the text size.
inline constexpr double kDescent = 0.35;
inline constexpr double kLineHeight = 1.9;

// Returns the width of a line of text in pixels. `size` is the height of a capital letter. Characters other
// than printable ASCII are drawn as '?'.
double TextWidth(absl::string_view text, double size);

// Returns the outline of a line of text that starts at `origin`, the left end of its baseline. Strokes are
// aligned to whole pixels, so that they are crisp at small sizes.
std::vector<Polygon> TextOutline(absl::string_view text, Point origin, double size);

}  // namespace waystar::picture
