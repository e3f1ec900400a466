#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/animation/animation.h"
#include "server/picture/color.h"

namespace waystar::animation {

// Palette: a few colours that stand for all of an animation.
class Palette {
 public:
  // Takes at most `most` colours, by how many pixels have them, and leaves out those that hardly differ from
  // one that it has.
  Palette(const Animation& animation, std::size_t most);

  const std::vector<picture::Color>& colors() const { return colors_; }
  // Returns the index of the colour that is nearest to `color`.
  std::uint8_t IndexOf(picture::Color color);

 private:
  std::size_t NearestTo(picture::Color color) const;

  std::vector<picture::Color> colors_;
  absl::flat_hash_map<std::uint32_t, std::uint8_t> known_;
};

}  // namespace waystar::animation
