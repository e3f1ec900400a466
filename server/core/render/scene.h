// What a picture of a map shows, whatever it is painted with: pixels, an SVG file, or characters.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/core/grid/cell.h"
#include "server/core/search/query.h"
#include "server/picture/canvas.h"
#include "server/picture/color.h"
#include "server/picture/geometry.h"
#include "server/picture/surface.h"
#include "server/picture/tiling.h"

namespace waystar::core {

// The map itself where it is drawn pixel by pixel, or character by character.
struct SceneGround {
  // Where its upper left pixel is.
  int x = 0;
  int y = 0;
  picture::Canvas image;
  // For text alone: what stands for each of its pixels, row by row.
  std::string symbols;
};

// One thing to draw. Points are in pixels of the picture, or in characters of a picture in text.
struct SceneMark {
  enum class Kind {
    // The polygon that the points enclose.
    kArea,
    // Along the points.
    kLine,
    // Around the first point.
    kDisc,
    // From the first point, on the baseline.
    kText,
  };

  Kind kind = Kind::kArea;
  std::vector<picture::Point> points;
  // The width of a line, the radius of a disc, the height of capital letters.
  double size = 0.0;
  picture::Paint paint;
  double dash = 0.0;
  // What stands for it in text, in the middle of an area; 0 for nothing.
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
  // In text, where an entry without one is left out.
  char symbol = 0;
  std::string text;
};

struct Scene {
  // Of the whole picture.
  int width = 1;
  int height = 1;
  std::string title;
  // At most one; nothing where the cells are marks.
  std::vector<SceneGround> ground;
  // From the lowest to the uppermost.
  std::vector<SceneMark> marks;
  // For text; pictures have it among the marks.
  std::vector<LegendEntry> legend;
  // What part of the map it shows, and where. On a waypoint graph in units of the world, (0, 0) of which is
  // the tiling's zero.
  Rectangle region;
  picture::Tiling tiling;

  void AddLine(std::vector<picture::Point> points, double thickness, const picture::Paint& paint,
               char symbol = 0, double dash = 0.0);
  void AddDisc(picture::Point at, double radius, const picture::Paint& paint, char symbol = 0);
};

// A picture's height and width are from kMinPictureSide to kMaxPictureSide, in pixels or characters.
inline constexpr int kMinPictureSide = 16;
inline constexpr int kMaxPictureSide = 4096;

// What the budget says is looked at now and then: the errors are those of InterruptionError.
absl::Status PaintScene(const Scene& scene, picture::Surface& surface, const Budget& budget);

// As lines of characters, the legend below.
std::string SceneText(const Scene& scene);

}  // namespace waystar::core
