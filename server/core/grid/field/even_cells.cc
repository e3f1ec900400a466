#include "server/core/grid/field/even_cells.h"

#include <algorithm>

namespace waystar::core {
namespace {

// Neutral values for cells that no path leaves.
constexpr std::uint8_t kNoLeast = 255;
constexpr std::uint8_t kNoHighest = 0;

}  // namespace

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
