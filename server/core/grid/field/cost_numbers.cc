#include "server/core/grid/field/cost_numbers.h"

#include <algorithm>
#include <array>

#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {
namespace {

bool AreAlike(const CellCosts::Entry& a, const CellCosts::Entry& b) {
  return a.straight == b.straight && a.diagonal == b.diagonal;
}

}  // namespace

std::size_t CostNumbers::NumberOf(const CellCosts::Entry& cost) {
  const auto found = std::find_if(costs_.begin(), costs_.end(),
                                  [&](const CellCosts::Entry& other) { return AreAlike(other, cost); });
  const auto number = static_cast<std::size_t>(found - costs_.begin());
  if (found == costs_.end()) {
    costs_.push_back(cost);
  }
  return number;
}

void CostNumbers::ReadTerrains(const GridMap& map, const Rectangle& region) {
  Clear();
  std::array<std::uint8_t, kMaxTerrains> by_terrain{};
  static_assert(kMaxTerrains <= kMost);
  for (std::size_t terrain = 0; terrain < map.settings().terrains.size(); ++terrain) {
    by_terrain[terrain] = static_cast<std::uint8_t>(
        NumberOf({map.step_costs().straight[terrain], map.step_costs().diagonal[terrain]}));
  }
  const auto width = static_cast<std::size_t>(region.width);
  numbers_.resize(width * static_cast<std::size_t>(region.height));
  for (int y = 0; y < region.height; ++y) {
    const TerrainId* terrains = map.TerrainRow(region.y + y) + region.x;
    std::uint8_t* numbers = numbers_.data() + static_cast<std::size_t>(y) * width;
    for (std::size_t x = 0; x < width; ++x) {
      numbers[x] = by_terrain[terrains[x]];
    }
  }
}

bool CostNumbers::ReadEntries(absl::Span<const CellCosts::Entry> entering) {
  Clear();
  numbers_.resize(entering.size());
  std::size_t number = 0;
  for (std::size_t i = 0; i < entering.size(); ++i) {
    if (i == 0 || !AreAlike(entering[i], entering[i - 1])) {
      number = NumberOf(entering[i]);
    }
    if (number >= kMost) {
      Clear();
      return false;
    }
    numbers_[i] = static_cast<std::uint8_t>(number);
  }
  return true;
}

void CostNumbers::Clear() {
  numbers_.clear();
  costs_.clear();
}

}  // namespace waystar::core
