#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/picture/canvas.h"
#include "server/picture/tiling.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::animation {

// A search on a map, as TraceSearch told it.
struct TracedSearch {
  // The first line above the picture.
  std::string name;
  std::vector<v1::SearchEvent> events;
  v1::FindPathResponse answer;
  v1::FindPathRequest query;
};

// Panel of an animation: one search, drawn on a picture of its map as far as it has come.
class SearchPanel {
 public:
  // `map` is the picture, and `tiling` says where its cells lie.
  SearchPanel(TracedSearch search, picture::Canvas map, const picture::Tiling& tiling);

  // The number of expansions of the whole search.
  std::size_t expansions() const { return expansions_; }

  // Goes on until so many cells have been expanded. The path is drawn with the last one.
  void AdvanceTo(std::size_t expansions);

  // Draws the picture with its name above and the figures below.
  picture::Canvas Draw() const;

 private:
  struct Reached {
    v1::Cell parent;
    bool is_expanded = false;
  };

  void Take(const v1::SearchEvent& event);
  void DrawExpanded(const v1::SearchEvent& event, const Reached& reached);
  void DrawEnds();
  void DrawPath();
  picture::Point CenterOf(const v1::Cell& cell) const { return tiling_.At(cell.x(), cell.y()); }

  const TracedSearch search_;
  picture::Canvas map_;
  const picture::Tiling tiling_;
  std::size_t expansions_ = 0;
  double dearest_ = 0.0;
  // What was taken of the search so far.
  std::size_t next_ = 0;
  std::size_t expanded_ = 0;
  std::size_t open_ = 0;
  bool is_done_ = false;
  absl::flat_hash_map<std::uint64_t, Reached> reached_;
};

}  // namespace waystar::animation
