// Names beside the things that they name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/geometry.h"
#include "server/render/canvas/palette.h"

namespace waystar::picture {

// A thing with a name, or one without that names do not cover.
struct NamedItem {
  std::string name;
  Point middle;
  // Distances from the middle to the sides, and to top and bottom.
  double across = 0.0;
  double down = 0.0;
  // True if a name may lie on it.
  bool is_area = false;
};

// Writes the names of items whose middle lies in the box, the first first. A name covers neither items nor
// other names, and lies on a line only where there is no other room; one that finds none is not written.
void WriteNames(absl::Span<const NamedItem> items, absl::Span<const std::pair<Point, Point>> lines,
                const Box& box, const Palette& palette, Surface& surface);

}  // namespace waystar::picture
