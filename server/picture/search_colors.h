// The colours of paths and searches, the same in every picture.
#pragma once

#include "server/picture/color.h"

namespace waystar::picture {

inline constexpr Color kStartColor = Rgb(0x1A9850);
inline constexpr Color kGoalColor = Rgb(0xD7301F);
inline constexpr Color kPathColor = Rgb(0x1F4FD8);
// The colour of cells that the search has generated and not expanded.
inline constexpr Color kOpenColor = Rgb(0x4A7FB5);

// Returns a colour from yellow, at 0, to red, at 1, for how far a search had come at a cell.
Color SearchColor(double share);

}  // namespace waystar::picture
