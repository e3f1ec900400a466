#include "client/animation/palette.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace waystar::animation {
namespace {

using picture::Color;

// The eye tells greens apart best.
int Difference(Color a, Color b) {
  const int r = a.r - b.r;
  const int g = a.g - b.g;
  const int blue = a.b - b.b;
  return 3 * r * r + 4 * g * g + 2 * blue * blue;
}

// From the most frequent on; of equally frequent ones the darker first.
std::vector<Color> ColorsOf(const Animation& animation) {
  absl::flat_hash_map<std::uint32_t, std::int64_t> counts;
  for (const Frame& frame : animation.frames) {
    for (const Color color : frame.part.pixels()) {
      ++counts[picture::HexOf(color)];
    }
  }
  std::vector<std::pair<std::int64_t, std::uint32_t>> order;
  order.reserve(counts.size());
  for (const auto& entry : counts) {
    order.emplace_back(-entry.second, entry.first);
  }
  std::sort(order.begin(), order.end());
  std::vector<Color> colors;
  colors.reserve(order.size());
  for (const auto& entry : order) {
    colors.push_back(picture::Rgb(entry.second));
  }
  return colors;
}

// Those that differ from all before them by more than `least`.
std::vector<Color> Distinct(const std::vector<Color>& colors, int least, std::size_t most) {
  std::vector<Color> distinct;
  for (const Color color : colors) {
    const bool is_new = std::all_of(distinct.begin(), distinct.end(),
                                    [&](Color other) { return Difference(color, other) > least; });
    if (is_new) {
      distinct.push_back(color);
    }
    if (distinct.size() > most) {
      break;
    }
  }
  return distinct;
}

}  // namespace

Palette::Palette(const Animation& animation, std::size_t most) {
  const std::vector<Color> all = ColorsOf(animation);
  colors_ = Distinct(all, 0, most);
  for (int least = 8; colors_.size() > most; least *= 2) {
    colors_ = Distinct(all, least, most);
  }
}

std::uint8_t Palette::IndexOf(Color color) {
  const auto [place, is_new] = known_.try_emplace(picture::HexOf(color));
  if (is_new) {
    place->second = static_cast<std::uint8_t>(NearestTo(color));
  }
  return place->second;
}

std::size_t Palette::NearestTo(Color color) const {
  std::size_t nearest = 0;
  int least = std::numeric_limits<int>::max();
  for (std::size_t i = 0; i < colors_.size(); ++i) {
    if (const int difference = Difference(color, colors_[i]); difference < least) {
      least = difference;
      nearest = i;
    }
  }
  return nearest;
}

}  // namespace waystar::animation
