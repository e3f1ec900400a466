// A scene: the content of a picture of a map, for output as pixels, SVG or text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/search/query.h"
#include "server/geometry/box.h"
#include "server/geometry/cell.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/geometry.h"
#include "server/render/canvas/labels.h"
#include "server/render/canvas/marks.h"
#include "server/render/canvas/palette.h"

namespace waystar::core {

// The map itself if it is drawn by pixels or characters.
struct SceneGround {
  // Position of its upper left pixel.
  int x = 0;
  int y = 0;
  picture::Canvas image;
  // Text only: the characters of its pixels by row.
  std::string symbols;

  // REQUIRES: it is text, and the image contains the pixel.
  char& SymbolAt(int column, int row) {
    return symbols[static_cast<std::size_t>(row) * static_cast<std::size_t>(image.width()) +
                   static_cast<std::size_t>(column)];
  }
};

// One drawing primitive. Points are in pixels, or in characters for text.
struct SceneMark {
  enum class Kind {
    // The polygon of the points.
    kArea,
    // A line along the points.
    kLine,
    // A disc around the first point.
    kDisc,
    // Text at the first point, on the baseline.
    kText,
  };

  Kind kind = Kind::kArea;
  std::vector<picture::Point> points;
  // Width of a line, radius of a disc, or height of capital letters.
  double size = 0.0;
  // Text shows the symbol of an area or a disc in its middle.
  picture::Paint paint;
  double dash = 0.0;
  std::string text = {};
  picture::TextStyle::Anchor anchor = picture::TextStyle::Anchor::kLeft;
};

// A node of a waypoint graph, by number, and the place where it is drawn.
struct DrawnNode {
  std::uint32_t node = 0;
  picture::Point at;
};

// A surface that records what is drawn.
struct Scene final : picture::Surface {
  picture::Palette palette = picture::kLightPalette;
  // Size of the whole picture.
  int width = 1;
  int height = 1;
  std::string title;
  // At most one; empty if the cells are marks.
  std::vector<SceneGround> ground;
  // Bottom to top.
  std::vector<SceneMark> marks;
  // Text only; in pixel pictures the legend is among the marks.
  std::vector<picture::LegendEntry> legend;
  // Things with names, and things that names do not cover, the most important first.
  std::vector<picture::NamedItem> names;
  // The part of the map shown. For a waypoint graph or a navigation mesh it is in world units relative to the
  // tiling's zero: all whole units that `area` touches.
  Rectangle region;
  // Graphs and meshes only: the part of the world.
  std::optional<Box> area;
  picture::Tiling tiling;
  // Offset per unit of height; see WorldProjection. Zero unless a mesh is seen obliquely.
  picture::Point z_step;
  // Nodes drawn at other places than the tiling gives; see GraphLayout.
  std::vector<DrawnNode> placed_nodes;

  void Fill(const picture::Polygon& polygon, const picture::Paint& paint) override;
  void FillDisc(picture::Point center, double radius, const picture::Paint& paint) override;
  void Stroke(absl::Span<const picture::Point> line, const picture::Pen& pen) override;
  void Write(absl::string_view text, picture::Point at, const picture::TextStyle& style) override;
  void Show(const picture::Canvas& image, int x, int y) override;
  // Draws the parts of a line in a box.
  void StrokeIn(const picture::Box& box, absl::Span<const picture::Point> line, const picture::Pen& pen);
};

// Limits on width and height of a picture, in pixels or characters.
inline constexpr int kMinPictureSide = 16;
inline constexpr int kMaxPictureSide = 4096;

// Paints the scene. Polls the budget and returns the errors of InterruptionError.
absl::Status PaintScene(const Scene& scene, picture::Surface& surface, const Budget& budget);

// Returns the scene as lines of characters with the legend below. Polls the budget and returns the errors of
// InterruptionError.
absl::StatusOr<std::string> SceneText(const Scene& scene, const Budget& budget);

}  // namespace waystar::core
