// Marks that mean the same in every picture, moving or not, and the legend that explains them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/geometry.h"
#include "server/render/canvas/palette.h"

namespace waystar::picture {

// Height of capital letters beside the map.
inline constexpr double kTextSize = 8.0;

// Line widths and disc radii.
struct MarkSizes {
  double path = 4.0;
  double halo = 1.5;
  double disc = 8.0;
};

// Draw the start or a goal of a query; their shapes differ as well as their colours.
void DrawStart(Point at, const MarkSizes& sizes, const Palette& palette, Surface& surface);
void DrawGoal(Point at, const MarkSizes& sizes, const Palette& palette, Surface& surface);

// Draws a path with a halo.
void DrawPath(absl::Span<const Point> line, const MarkSizes& sizes, const Palette& palette, Surface& surface);

// Returns the radius of nodes in a picture of so many. Nodes of less than kRimmedNode have no rim.
double NodeRadius(std::size_t nodes);
inline constexpr double kRimmedNode = 4.0;

// Draws a node that a search reached: filled by its share of the highest cost if it was expanded, else a
// ring.
void DrawReachedNode(Point at, double radius, std::optional<double> share, const Palette& palette,
                     Surface& surface);

// Draws a diamond.
void DrawDiamond(Point at, double reach, const Paint& paint, Surface& surface);

// Draws an arrowhead past the middle of a line, so that those of opposite lines do not meet. Short lines have
// none.
void DrawArrowhead(Point from, Point to, Color color, const Palette& palette, Surface& surface);

// Opacity of the area of an obstacle within its outline.
inline constexpr double kObstacleOpacity = 0.3;

// Returns '0' to '9' for a share from 0 to 1.
char DigitOf(double share);

struct LegendEntry {
  enum class Sign {
    kArea,
    // Dashed around a faint area.
    kOutline,
    kLine,
    kDashes,
    kArrow,
    kDisc,
    kRing,
    kDiamond,
    kStart,
    kGoal,
    // Colour ramp of a search, from start to end.
    kRamp,
  };

  Sign sign = Sign::kArea;
  Color color;
  // Character in text; entries without one are omitted there.
  char symbol = 0;
  std::string text;
};

// Draws a legend in rows of a width, with its upper left corner at a point, unless `surface` is null. Returns
// its height.
double DrawLegend(absl::Span<const LegendEntry> legend, Point at, double width, const Palette& palette,
                  Surface* surface);

}  // namespace waystar::picture
