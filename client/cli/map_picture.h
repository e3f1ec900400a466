// Pictures of maps as text: RenderMap draws them, and what its queries cannot say is marked on top.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/session.h"
#include "waystar/v1/picture_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// The server draws no smaller and no larger pictures.
inline constexpr int kSmallestSide = 16;
inline constexpr int kLargestSide = 4096;

// Drawing options of the user.
struct DrawOptions {
  bool picture = true;
  // As many cells of the map as a picture can have.
  bool full = false;
};

// --no-picture and --full.
void AddDrawOptions(CLI::App& command, DrawOptions& options);

// Allows a picture to be as large as the terminal has room for.
void FitWindow(const Io& io, v1::RenderMapRequest& request);

// A character on a cell of a grid.
struct MarkedCell {
  v1::Cell cell;
  // 0 for an arrow.
  char symbol = 0;
  // With an arrow, where it points to.
  v1::Direction direction = v1::DIRECTION_UNSPECIFIED;
};

// A picture to ask for.
struct MapPicture {
  // The map, and what is to be drawn on it.
  v1::RenderMapRequest request;
  // Drawn in this order, and explained by a line of the legend.
  std::vector<MarkedCell> marks;
  std::string legend;
  // Cells that must be on the picture of a large map, besides those with marks and those of the path.
  std::vector<v1::Cell> focus;
};

struct DrawnPicture {
  std::string text;
  // The version of the map that it shows.
  v1::Version version;
  // To the query of the request.
  v1::FindPathResponse answer;
};

// Returns a picture as text, with a legend below. If the map is larger than the terminal, it shows the part
// around the focus, or all of it smaller, and says so.
absl::StatusOr<DrawnPicture> DrawPicture(const MapPicture& picture, const DrawOptions& options,
                                         Session& session);

// Shows the picture that belongs to an answer for `version`, if one is wanted, or tells why it cannot. `what`
// is what was answered, such as "path": if the map has changed since, the last line says so.
void ShowPicture(const MapPicture& picture, const v1::Version& version, absl::string_view what,
                 const DrawOptions& options, Session& session);

// Writes what RenderMap drew of a grid, without its title, with the marks and their legend. The layout is
// that of hexagons.
std::string DrawMarks(const v1::RenderMapResponse& drawn, const std::vector<MarkedCell>& marks,
                      const std::string& legend, v1::HexLayout layout, bool color);

// Returns the part of a grid with room for so many columns and rows that has all cells of the focus that are
// on the grid in its middle, if possible. It is larger than the room if the focus is. REQUIRES: there are
// cells in focus.
v1::Rectangle PartAround(const std::vector<v1::Cell>& focus, const v1::Rectangle& whole, int columns,
                         int rows);

}  // namespace waystar::cli
