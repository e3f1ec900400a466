#include "server/core/grid/map/terrain_tiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace waystar::core {
namespace {

// Returns the terrains of the cells with x_begin <= x < x_end and y_begin <= y < y_end.
TerrainBits TerrainsOf(const Plane<TerrainId>& terrain, int x_begin, int x_end, int y_begin, int y_end) {
  // A byte per terrain, with the highest bit set if it occurs: stores do not wait for each other.
  std::array<std::uint8_t, kMaxTerrains> seen{};
  const auto add = [&](TerrainId id) { seen[id] = 0x80; };
  // Fast path: most rows have long runs of one terrain.
  std::uint64_t last = EightTimes(terrain.row(y_begin)[x_begin]);
  add(static_cast<TerrainId>(last));
  for (int y = y_begin; y < y_end; ++y) {
    const TerrainId* cells = terrain.row(y);
    int x = x_begin;
    for (; x + kEight <= x_end; x += kEight) {
      const std::uint64_t eight = EightCells(cells, x_end, x);
      if (eight != last) {
        last = eight;
        for (int i = 0; i < kEight; ++i) {
          add(cells[x + i]);
        }
      }
    }
    for (; x < x_end; ++x) {
      add(cells[x]);
    }
  }
  TerrainBits set{};
  for (std::size_t i = 0; i < seen.size(); i += kEight) {
    set[i / kWordBits] |= HighBits(LoadEight(seen.data() + i)) << i % kWordBits;
  }
  return set;
}

}  // namespace

TerrainTiles::TerrainTiles(int width, int height, TerrainId fill) : width_(width), height_(height) {
  TerrainBits set{};
  set[fill / kWordBits] = Word{1} << fill % kWordBits;
  std::vector<Word> pattern;
  for (int column = 0; column <= columns(); ++column) {
    pattern.insert(pattern.end(), set.begin(), set.end());
  }
  sets_ = Plane<Word>(rows(), pattern);
}

void TerrainTiles::Update(const Plane<TerrainId>& terrain, absl::Span<const WordIndex> words) {
  PlaneWriter<Word> writer(sets_);
  for (std::size_t i = 0; i < words.size();) {
    const int row = words[i].y >> kShift;
    Columns columns{};
    for (; i < words.size() && words[i].y >> kShift == row; ++i) {
      const int first = std::max(words[i].index * kWordBits - 1, 0);
      const int last = std::min((words[i].index + 1) * kWordBits - 2, width_ - 1);
      for (int column = first >> kShift; column <= last >> kShift; ++column) {
        columns[static_cast<std::size_t>(column / kWordBits)] |= Word{1} << column % kWordBits;
      }
    }
    UpdateRow(terrain, row, columns, writer);
  }
}

void TerrainTiles::Update(const Plane<TerrainId>& terrain) {
  PlaneWriter<Word> writer(sets_);
  Columns all{};
  for (int column = 0; column < columns(); ++column) {
    all[static_cast<std::size_t>(column / kWordBits)] |= Word{1} << column % kWordBits;
  }
  for (int row = 0; row < rows(); ++row) {
    UpdateRow(terrain, row, all, writer);
  }
}

void TerrainTiles::UpdateRow(const Plane<TerrainId>& terrain, int row, const Columns& columns,
                             PlaneWriter<Word>& writer) {
  const auto write = [&](int column, const TerrainBits& set) {
    for (std::size_t i = 0; i < set.size(); ++i) {
      writer.Set(row, static_cast<std::size_t>(column) * set.size() + i, set[i]);
    }
  };
  bool has_changed = false;
  for (std::size_t word = 0; word < columns.size(); ++word) {
    for (Word left = columns[word]; left != 0; left &= left - 1) {
      const int column = static_cast<int>(word) * kWordBits + std::countr_zero(left);
      const TerrainBits set = TerrainsOf(terrain, column << kShift, std::min((column + 1) << kShift, width_),
                                         row << kShift, std::min((row + 1) << kShift, height_));
      if (set != At(column, row)) {
        write(column, set);
        has_changed = true;
      }
    }
  }
  if (has_changed) {
    TerrainBits all{};
    for (int column = 0; column < this->columns(); ++column) {
      const TerrainBits set = At(column, row);
      std::transform(all.begin(), all.end(), set.begin(), all.begin(), [](Word a, Word b) { return a | b; });
    }
    write(this->columns(), all);
  }
}

}  // namespace waystar::core
