#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/animation/animation.h"
#include "server/picture/color.h"

namespace waystar::animation {

// A few colours that stand for all of an animation.
class Palette {
 public:
  // At most `most` of them. Takes colours by how many pixels have them, but those that are hardly different
  // from one that it has.
  Palette(const Animation& animation, std::size_t most);

  const std::vector<picture::Color>& colors() const { return colors_; }
  // The place of the one nearest to a color.
  std::uint8_t IndexOf(picture::Color color);

 private:
  std::size_t NearestTo(picture::Color color) const;

  std::vector<picture::Color> colors_;
  absl::flat_hash_map<std::uint32_t, std::uint8_t> known_;
};

}  // namespace waystar::animation
