// The font of pictures, made of the strokes of a pen, so that pictures need no font file and are the same on
// every machine.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "server/picture/geometry.h"

namespace waystar::picture {

// How far below the baseline letters reach, and how far lines are apart, as multiples of the size.
inline constexpr double kDescent = 0.35;
inline constexpr double kLineHeight = 1.9;

// Returns the width of a line of text in pixels. `size` is the height of a capital letter. What is not
// printable ASCII is as wide as a '?', and drawn as one.
double TextWidth(absl::string_view text, double size);

// Returns what a pen covers that writes a line of text from `origin`, the left end of its baseline. Lines are
// aligned to whole pixels, so that they are crisp at small sizes.
std::vector<Polygon> TextOutline(absl::string_view text, Point origin, double size);

}  // namespace waystar::picture
