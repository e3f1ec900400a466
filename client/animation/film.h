#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/animation/animation.h"
#include "client/animation/search_drawing.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/tiling.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::animation {

// One search, drawn on a picture of its map, as far as it has come.
class SearchPanel {
 public:
  // `map` is the picture, and `tiling` says where on it the cells or positions lie.
  SearchPanel(TracedSearch search, picture::Canvas map, const picture::Tiling& tiling);

  // How often a cell or node is expanded, all in all.
  std::size_t expansions() const { return expansions_; }

  // Goes on until so many cells or nodes have been expanded; with the last the path is drawn.
  void AdvanceTo(std::size_t expansions);

  // The picture with its name above and the numbers below.
  picture::Canvas Draw() const;

 private:
  struct Reached {
    // The index of the event that told last how it was reached.
    std::size_t event = 0;
    bool is_expanded = false;
  };

  void Take(std::size_t index);

  const TracedSearch search_;
  std::unique_ptr<SearchDrawing> drawing_;
  std::size_t expansions_ = 0;
  double dearest_ = 0.0;
  // What was taken of the search so far.
  std::size_t next_ = 0;
  std::size_t expanded_ = 0;
  std::size_t open_ = 0;
  bool is_done_ = false;
  // Those that are open or expanded, by their keys.
  absl::flat_hash_map<std::uint64_t, Reached> reached_;
};

// Searches side by side, all of which expand as many cells or nodes from one frame to the next. The last
// frame stays for some seconds. At most `max_frames`, of at least 2. REQUIRES: there is one; they are as they
// were made.
Animation FilmOf(std::vector<SearchPanel> panels, std::size_t max_frames);

}  // namespace waystar::animation
