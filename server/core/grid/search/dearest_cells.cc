#include "server/core/grid/search/dearest_cells.h"

#include <algorithm>

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/walk/footprint_grids.h"

namespace waystar::core {
namespace {

constexpr int kRow = 2 * DearestTile::kSide;
// No agent at a position of the tile covers a cell of this row or column.
static_assert(DearestTile::kSide - 1 + kMaxFootprint < kRow);

// Cost in the high bits and, below it, a cell number that decreases in row-major order, so that the maximum
// selects the first of the most expensive cells. It is an integer that a double represents exactly: CPUs have
// a vector instruction for the maximum of doubles, but not of 64-bit integers.
using Key = double;
constexpr int kNumberBits = 12;
constexpr std::int64_t kLastNumber = (std::int64_t{1} << kNumberBits) - 1;
static_assert(kRow * kRow == 1 << kNumberBits);
static_assert(kMaxTerrainCost * kCostScale < static_cast<double>(std::int64_t{1} << (53 - kNumberBits)));

// Replaces each of the `count` values at i, i + stride, ... by the maximum of the `side` values from there
// on. Each pass doubles the number of values covered.
template <typename Take>
void SlideMaximum(int side, int count, Take take) {
  int covered = 1;
  int left = count + side - 1;
  while (covered < side) {
    const int shift = std::min(covered, side - covered);
    left -= shift;
    for (int i = 0; i < left; ++i) {
      take(i, i + shift);
    }
    covered += shift;
  }
}

}  // namespace

void DearestTile::Read(const GridMap& map, int footprint, int x, int y) {
  const Cell first = {x << kShift, y << kShift};
  const int side = kSide - 1 + footprint;
  const int width = std::min(side, map.width() - first.x);
  const int height = std::min(side, map.height() - first.y);
  const StepCosts& by_terrain = map.step_costs();
  const CellCosts* own_costs = map.cell_costs();
  // Keys of cells outside the map stay 0; no agent covers them.
  std::array<Key, std::size_t{kRow} * kRow> keys;
  const Cost cost_of_first = map.StraightCost(first);
  bool is_even = true;
  for (int row = 0; row < side; ++row) {
    Key* to = &keys[static_cast<std::size_t>(row) * kRow];
    std::fill(to + (row < height ? width : 0), to + side, Key{0});
    if (row >= height) {
      continue;
    }
    const TerrainId* terrains = map.TerrainRow(first.y + row) + first.x;
    for (int column = 0; column < width; ++column) {
      Cost cost = by_terrain.straight[terrains[column]];
      if (own_costs != nullptr) {
        const Cost own = own_costs->At({first.x + column, first.y + row}).straight;
        cost = own != 0 ? own : cost;
      }
      is_even &= cost == cost_of_first;
      to[column] = static_cast<Key>(cost << kNumberBits | (kLastNumber - (row * kRow + column)));
    }
  }
  if (!is_even) {
    SlideMaximum(footprint, kSide, [&](int row, int other) {
      Key* to = &keys[static_cast<std::size_t>(row) * kRow];
      const Key* from = &keys[static_cast<std::size_t>(other) * kRow];
      for (int column = 0; column < side; ++column) {
        to[column] = std::max(to[column], from[column]);
      }
    });
  }
  for (int row = 0; row < kSide; ++row) {
    Key* along = &keys[static_cast<std::size_t>(row) * kRow];
    if (!is_even) {
      SlideMaximum(footprint, kSide,
                   [&](int column, int other) { along[column] = std::max(along[column], along[other]); });
    }
    for (int column = 0; column < kSide; ++column) {
      cells_[static_cast<std::size_t>(row) * kSide + static_cast<std::size_t>(column)] =
          static_cast<std::uint16_t>(kLastNumber - (static_cast<std::int64_t>(along[column]) & kLastNumber));
    }
  }
}

void DearestCells::Clear() {
  slot_count_ = 0;
  tiles_read_ = 0;
  ++generation_;
  if (generation_ == 0) {
    // The counter wrapped: slots of an old generation must not match a new one.
    slots_.assign(slots_.size(), Slot{});
    generation_ = 1;
  }
}

DearestCells::Ground DearestCells::Add(const GridMap& map, int footprint) {
  const auto tiles_along = [](int cells) {
    return (static_cast<std::size_t>(cells) + DearestTile::kSide - 1) >> DearestTile::kShift;
  };
  const Ground ground = {.map = &map,
                         .first_slot = slot_count_,
                         .tiles_per_row = tiles_along(map.width()),
                         .footprint = footprint};
  slot_count_ += ground.tiles_per_row * tiles_along(map.height());
  if (slots_.size() < slot_count_) {
    slots_.resize(slot_count_);
  }
  return ground;
}

void DearestCells::Read(const Ground& ground, std::size_t index, Cell position) {
  const std::size_t tile = tiles_read_ % kMaxTiles;
  if (tile == tiles_.size()) {
    owners_.resize(tile + 1);
    tiles_.push_back(std::make_unique<DearestTile>());
  }
  if (tiles_read_ >= kMaxTiles) {
    slots_[owners_[tile]].generation = 0;
  }
  tiles_[tile]->Read(*ground.map, ground.footprint, position.x >> DearestTile::kShift,
                     position.y >> DearestTile::kShift);
  owners_[tile] = index;
  slots_[index] = {.generation = generation_, .tile = static_cast<std::uint32_t>(tile)};
  ++tiles_read_;
}

std::size_t DearestCells::used_bytes() const {
  return std::min(tiles_read_, kMaxTiles) * (sizeof(DearestTile) + sizeof(owners_[0]) + sizeof(tiles_[0])) +
         slot_count_ * sizeof(Slot);
}

std::size_t DearestCells::memory_bytes() const {
  return tiles_.size() * sizeof(DearestTile) + tiles_.capacity() * sizeof(tiles_[0]) +
         owners_.capacity() * sizeof(owners_[0]) + slots_.capacity() * sizeof(Slot);
}

Cell DearestOnPath::FirstDearestUnder(Cell position) const {
  Cell dearest = position;
  Cost most = 0;
  ForEachCellUnder(position, footprint_, [&](Cell cell) {
    if (const Cost cost = map_.StraightCost(cell); cost > most) {
      dearest = cell;
      most = cost;
    }
  });
  return dearest;
}

}  // namespace waystar::core
