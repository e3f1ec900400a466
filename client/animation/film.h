#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "client/animation/search_drawing.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/geometry.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::animation {

// A part of the picture that takes the place of what was there.
struct Frame {
  int x = 0;
  int y = 0;
  picture::Canvas part;
  // How long the frame is shown: at least 20.
  int milliseconds = 50;
};

// Frames that are shown again and again. The first one covers the whole picture, and each other lies within
// it.
struct Animation {
  int width = 0;
  int height = 0;
  std::vector<Frame> frames;
};

// Encodes with one palette of 255 colours for all frames. If there are more, it holds those that most pixels
// have, and every other colour becomes the nearest of them. Errors: INTERNAL if the library fails.
absl::StatusOr<std::string> EncodeGif(const Animation& animation);

// Encodes without loss. Errors: INTERNAL if the library fails.
absl::StatusOr<std::string> EncodeWebp(const Animation& animation);

// One search, drawn on a picture of its map up to its current step.
class SearchPanel {
 public:
  // `map` is the picture, and `tiling` says where on it the cells or positions lie.
  SearchPanel(TracedSearch search, picture::Canvas map, const picture::Tiling& tiling);

  // Total number of expansions.
  std::size_t expansions() const { return expansions_; }

  // Advances until `expansions` cells or nodes have been expanded; draws the path after the last one.
  void AdvanceTo(std::size_t expansions);

  // Returns the picture with its title above and the numbers below.
  picture::Canvas Draw() const;

 private:
  struct Reached {
    // Index of the event that last reached it.
    std::size_t event = 0;
    bool is_expanded = false;
  };

  void Take(std::size_t index);

  const TracedSearch search_;
  std::unique_ptr<SearchDrawing> drawing_;
  std::size_t expansions_ = 0;
  double dearest_ = 0.0;
  // Number of events consumed.
  std::size_t next_ = 0;
  std::size_t expanded_ = 0;
  std::size_t open_ = 0;
  bool is_done_ = false;
  // Open and expanded places by key.
  absl::flat_hash_map<std::uint64_t, Reached> reached_;
};

// Searches side by side, all of which expand as many cells or nodes from one frame to the next. The last
// frame stays for some seconds. A legend lies below if there is room for its one row. At most `max_frames`,
// of at least 2. REQUIRES: there is one; they are as they were made.
Animation FilmOf(std::vector<SearchPanel> panels, std::size_t max_frames);

}  // namespace waystar::animation
