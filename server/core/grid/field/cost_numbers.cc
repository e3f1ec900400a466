#include "server/core/grid/field/cost_numbers.h"

#include <algorithm>
#include <array>

#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {
namespace {

bool AreAlike(const CellCosts::Entry& a, const CellCosts::Entry& b) {
  return a.straight == b.straight && a.diagonal == b.diagonal;
}

// Neutral values for cells that no path leaves.
constexpr std::uint8_t kNoLeast = 255;
constexpr std::uint8_t kNoHighest = 0;

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

void EvenCells::ReadRow(absl::Span<const DirectionSet> moves, absl::Span<const std::uint8_t> numbers,
                        Row& row) {
  const std::size_t width = moves.size();
  single_.least.assign(width + 2, kNoLeast);
  single_.highest.assign(width + 2, kNoHighest);
  std::uint8_t* least = single_.least.data();
  std::uint8_t* highest = single_.highest.data();
  for (std::size_t x = 0; x < width; ++x) {
    least[x + 1] = moves[x] == 0 ? kNoLeast : numbers[x];
    highest[x + 1] = moves[x] == 0 ? kNoHighest : numbers[x];
  }
  row.least.resize(width);
  row.highest.resize(width);
  std::uint8_t* row_least = row.least.data();
  std::uint8_t* row_highest = row.highest.data();
  for (std::size_t x = 0; x < width; ++x) {
    row_least[x] = std::min(std::min(least[x], least[x + 1]), least[x + 2]);
    row_highest[x] = std::max(std::max(highest[x], highest[x + 1]), highest[x + 2]);
  }
}

void EvenCells::Find(absl::Span<const DirectionSet> moves, absl::Span<const std::uint8_t> numbers,
                     std::size_t width) {
  const std::size_t height = moves.size() / width;
  bits_.assign(moves.size() / kWordBits + 1, 0);
  const auto read = [&](std::size_t y, Row& row) {
    if (y < height) {
      ReadRow(moves.subspan(y * width, width), numbers.subspan(y * width, width), row);
    } else {
      row.least.assign(width, kNoLeast);
      row.highest.assign(width, kNoHighest);
    }
  };
  read(height, rows_[0]);
  read(0, rows_[1]);
  for (std::size_t y = 0; y < height; ++y) {
    const Row& above = rows_[y % 3];
    const Row& own = rows_[(y + 1) % 3];
    Row& below = rows_[(y + 2) % 3];
    read(y + 1, below);
    for (std::size_t x = 0; x < width; ++x) {
      const std::uint8_t least = std::min(std::min(above.least[x], own.least[x]), below.least[x]);
      const std::uint8_t highest = std::max(std::max(above.highest[x], own.highest[x]), below.highest[x]);
      const std::size_t index = y * width + x;
      bits_[index / kWordBits] |= static_cast<Word>(least == highest ? 1U : 0U) << (index % kWordBits);
    }
  }
}

}  // namespace waystar::core
