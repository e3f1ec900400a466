// Drawing of a search on the picture of its map, for any kind of map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/geometry.h"
#include "server/render/canvas/palette.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/picture_service.pb.h"

namespace waystar::animation {

// A search on a map, with its events in order.
struct TracedSearch {
  // The first line above the picture.
  std::string name;
  std::vector<v1::SearchEvent> events;
  v1::FindPathResponse answer;
  v1::FindPathRequest query;
  // The layout of a map of hexagons.
  v1::HexLayout layout = v1::HEX_LAYOUT_UNSPECIFIED;
  // True if the map is a waypoint graph.
  bool on_graph = false;
  // True if it is a navigation mesh.
  bool on_mesh = false;
  // Where on the picture its nodes are drawn, by their ids, if their positions do not say it.
  absl::flat_hash_map<std::string, picture::Point> places;
  // The nodes of the graph, which say how large a node is drawn; if it is 0, those of the search do.
  std::size_t graph_nodes = 0;
};

// Returns the axial coordinates of a hexagon, counted from column 0 of row 0: pictures are laid out by them.
// Cells of a layout without columns and rows stay as they are.
v1::Cell AxialOf(v1::HexLayout layout, const v1::Cell& cell);

// Draws the steps of one search on the picture of a map. A place is a cell, a node of a waypoint graph, or an
// interval of an edge of a navigation mesh.
class SearchDrawing {
 public:
  virtual ~SearchDrawing() = default;

  // Returns a number that is unique to the place within the search.
  // REQUIRES: `event` is an event of this search.
  virtual std::uint64_t KeyOf(const v1::SearchEvent& event) const = 0;

  // Returns the cost so far at the place of an event of this search.
  virtual double CostOf(const v1::SearchEvent& event) const { return event.g(); }

  // Draws a place that is put on the open list for the first time.
  virtual void DrawOpen(const v1::SearchEvent& generated) = 0;

  // Draws an expanded place. `generated` is the event that last reached the place, and `share`, from 0 to 1,
  // is its cost relative to the highest cost.
  virtual void DrawExpanded(const v1::SearchEvent& generated, double share) = 0;

  // Draws the path, if there is one.
  virtual void DrawPath() = 0;

  // Returns the picture, with the start and the goals on top.
  virtual picture::Canvas Picture() const = 0;
};

// `map` is the picture of the map, and `tiling` gives the places of its cells or positions on it.
std::unique_ptr<SearchDrawing> MakeSearchDrawing(const TracedSearch& search, picture::Canvas map,
                                                 const picture::Tiling& tiling);

// The colours of films.
inline constexpr const picture::Palette& kColors = picture::kLightPalette;

}  // namespace waystar::animation
