// The layout of a picture: how large it is and where the map lies on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/render/scene.h"
#include "server/picture/geometry.h"
#include "server/picture/surface.h"
#include "server/picture/tiling.h"

namespace waystar::core {

struct RenderOptions {
  // If true, the picture is made of characters instead of pixels.
  bool is_text = false;
  // The size of the whole picture, from kMinPictureSide to kMaxPictureSide.
  int max_width = 1024;
  int max_height = 1024;
  bool legend = true;
  // The title, and the numbers of columns and rows.
  bool labels = true;
  enum class GridLines { kAuto, kNever, kAlways } grid_lines = GridLines::kAuto;
  // The first words of the title, and what follows them.
  std::string title;
  std::string facts;
  // A line of its own below the map; none if empty.
  std::string caption;
};

// The part of a plane to be shown, by a tiling whose cells are one unit wide.
struct PlaneView {
  picture::Tiling unit;
  // Where a unit of height leads to; zero if the plane is seen from above.
  picture::Point z_unit;
  picture::Box box;
  // If true, cells, or the box, must be a whole number of pixels.
  bool whole_pixels = false;
  // The largest scale, in pixels a unit.
  double max_scale = 64.0;
  // The longest numbers of columns and rows.
  std::string widest_column;
  std::string widest_row;
};

// Returns the unit tiling of the cells of a map in pictures, or in text.
picture::Tiling UnitTiling(const GridSettings& settings, bool is_text);

struct Layout {
  int width = 1;
  int height = 1;
  // Where the map is. The sides are whole numbers.
  picture::Box plot;
  picture::Tiling tiling;
  picture::Point z_step;
  bool has_labels = false;
  // The baselines of the title and the caption, and the top of the legend.
  double title_y = 0.0;
  double caption_y = 0.0;
  double legend_y = 0.0;
};

// Makes the map as large as fits. What does not fit beside a map of one pixel, or is wanted on a very small
// picture, is left out.
// Takes the scene's legend, and gives it its size, title, tiling and z_step.
Layout LayOut(const PlaneView& view, const RenderOptions& options, Scene& scene);

// Sizes of text in pictures.
inline constexpr double kTitleSize = 12.0;
inline constexpr double kTextSize = 8.0;

// Adds title, caption and legend to the marks.
void AddFurniture(const Layout& layout, const RenderOptions& options, Scene& scene);

// Adds the number of a column or row.
void AddNumber(absl::string_view number, picture::Point at, picture::TextStyle::Anchor anchor, Scene& scene);

// Returns the step of the numbers written beside columns or rows that are this many pixels apart.
std::int64_t LabelStep(double pixels, double widest, bool is_text);

}  // namespace waystar::core
