// A scene: what a picture of a map shows, be it as pixels, an SVG file or characters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/grid/cell.h"
#include "server/core/search/query.h"
#include "server/core/shape/box.h"
#include "server/picture/canvas.h"
#include "server/picture/color.h"
#include "server/picture/geometry.h"
#include "server/picture/surface.h"
#include "server/picture/tiling.h"

namespace waystar::core {

// The map itself where it is drawn pixel by pixel, or character by character.
struct SceneGround {
  // The place of its upper left pixel.
  int x = 0;
  int y = 0;
  picture::Canvas image;
  // Only for text: the characters that stand for its pixels, row by row.
  std::string symbols;
};

// One thing to draw. Points are in pixels of the picture, or in characters of a picture in text.
struct SceneMark {
  enum class Kind {
    // The polygon that the points enclose.
    kArea,
    // A line along the points.
    kLine,
    // A disc around the first point.
    kDisc,
    // Text that starts at the first point, on the baseline.
    kText,
  };

  Kind kind = Kind::kArea;
  std::vector<picture::Point> points;
  // The width of a line, the radius of a disc, or the height of capital letters.
  double size = 0.0;
  picture::Paint paint;
  double dash = 0.0;
  // The character that stands for it in text, in the middle of an area; 0 for none.
  char symbol = 0;
  std::string text = {};
  picture::TextStyle::Anchor anchor = picture::TextStyle::Anchor::kLeft;
};

struct LegendEntry {
  enum class Sign {
    kArea,
    kLine,
    kDashes,
    kDisc,
    // The colours of a search, from its begin to its end.
    kRamp,
  };

  Sign sign = Sign::kArea;
  picture::Color color;
  // The character in text, where an entry without one is left out.
  char symbol = 0;
  std::string text;
};

// A node of a waypoint graph, by its number, and where it is drawn.
struct DrawnNode {
  std::uint32_t node = 0;
  picture::Point at;
};

struct Scene {
  // The size of the whole picture.
  int width = 1;
  int height = 1;
  std::string title;
  // At most one; none where the cells are marks.
  std::vector<SceneGround> ground;
  // From the lowest to the uppermost.
  std::vector<SceneMark> marks;
  // Only for text; pictures have the legend among the marks.
  std::vector<LegendEntry> legend;
  // The part of the map that it shows, and where it lies. For a waypoint graph or a navigation mesh it is in
  // units of the world, whose (0, 0) is the tiling's zero: all whole units that `area` touches.
  Rectangle region;
  // Only for those: the part of the world.
  std::optional<Box> area;
  picture::Tiling tiling;
  // What is added for each unit of height: see WorldProjection. Zero unless a mesh is seen from the side.
  picture::Point z_step;
  // The nodes that are drawn elsewhere than the tiling says, if there are such: see GraphLayout.
  std::vector<DrawnNode> placed_nodes;

  void AddLine(std::vector<picture::Point> points, double thickness, const picture::Paint& paint,
               char symbol = 0, double dash = 0.0);
  void AddDisc(picture::Point at, double radius, const picture::Paint& paint, char symbol = 0);
};

// A picture's height and width are from kMinPictureSide to kMaxPictureSide, in pixels or characters.
inline constexpr int kMinPictureSide = 16;
inline constexpr int kMaxPictureSide = 4096;

// Paints the scene. It polls the budget and returns the errors of InterruptionError.
absl::Status PaintScene(const Scene& scene, picture::Surface& surface, const Budget& budget);

// Returns the scene as lines of characters, with the legend below. It polls the budget and returns the errors
// of InterruptionError.
absl::StatusOr<std::string> SceneText(const Scene& scene, const Budget& budget);

}  // namespace waystar::core
