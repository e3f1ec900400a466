// Layout of a picture: its size and the place of the map in it.
#pragma once

#include <cstdint>
#include <string>

#include "server/core/grid/cells/grid_settings.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/geometry.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

struct RenderOptions {
  // If true, the picture is made of characters instead of pixels.
  bool is_text = false;
  // Maximum size of the whole picture, from kMinPictureSide to kMaxPictureSide.
  int max_width = 1024;
  int max_height = 1024;
  bool legend = true;
  // Title, and numbers of columns and rows.
  bool labels = true;
  enum class GridLines { kAuto, kNever, kAlways } grid_lines = GridLines::kAuto;
  picture::Palette palette = picture::kLightPalette;
  // Start of the title, and its remainder.
  std::string title;
  std::string facts;
  // Separate line below the title; none if empty.
  std::string caption;
};

// The part of a plane to show, in a tiling with cells one unit wide.
struct PlaneView {
  picture::Tiling unit;
  // Offset per unit of height; zero if the plane is seen from above.
  picture::Point z_unit;
  picture::Box box;
  // If true, cells, or the box, must be a whole number of pixels.
  bool whole_pixels = false;
  // Maximum scale in pixels per unit.
  double max_scale = 64.0;
  // The widest labels of columns and rows.
  std::string widest_column;
  std::string widest_row;
};

// Returns the unit tiling of a map's cells, for pixels or text.
picture::Tiling UnitTiling(const GridSettings& settings, bool is_text);

struct Layout {
  int width = 1;
  int height = 1;
  // Place of the map; its sides are integers.
  picture::Box plot;
  picture::Tiling tiling;
  picture::Point z_step;
  bool has_labels = false;
  // Baselines of title and caption, and top of the legend.
  double title_y = 0.0;
  double caption_y = 0.0;
  double legend_y = 0.0;

  // Returns the point of the plane at the middle of a pixel of the plot.
  picture::Point PlaneAtPixel(int column, int row) const {
    return tiling.PlaneAt({plot.x + column + 0.5, plot.y + row + 0.5});
  }
};

// Makes the map as large as fits. Omits furniture that does not fit next to a map of one pixel, and all of it
// in very small pictures. Takes the scene's legend, and sets the scene's size, title, tiling and z_step.
Layout LayOut(const PlaneView& view, const RenderOptions& options, Scene& scene);

// Adds title, caption and legend to the marks, and the names, which avoid all lines but thin ones.
void AddFurniture(const Layout& layout, const RenderOptions& options, Scene& scene);

// Returns a ground of one colour in place of the map, without symbols.
SceneGround BlankGround(const Layout& layout, picture::Color paper);

// Returns the step between numbers of columns or rows that are this many pixels apart.
std::int64_t LabelStep(double pixels, double widest, bool is_text);

}  // namespace waystar::core
