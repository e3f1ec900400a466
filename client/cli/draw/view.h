#pragma once

#include "absl/types/span.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// A size in characters.
struct Window {
  int columns = 0;
  int rows = 0;
};

// View: the part of a map to draw, in cells. Each character stands for scale x scale cells; left and top are
// multiples of scale.
struct View {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  int scale = 1;

  bool operator==(const View&) const = default;
};

// Returns the most detailed view of a map that fits the window and holds all cells of `focus`; the whole map
// if `focus` is empty. Room that is left shows more of the map around them. REQUIRES: the cells are on the
// map, and the window holds at least one character.
View ChooseView(int map_width, int map_height, absl::Span<const v1::Cell> focus, Window window);

}  // namespace waystar::cli
