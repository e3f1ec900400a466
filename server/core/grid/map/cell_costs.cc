#include "server/core/grid/map/cell_costs.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace waystar::core {

CellCosts::CellCosts(int width, int height)
    : width_(width), height_(height), rows_(TileOf(height + kTileSide - 1)) {}

bool CellCosts::MayHaveNear(Cell cell) const {
  const std::size_t left = TileOf(std::max(cell.x - 1, 0));
  const std::size_t right = TileOf(std::min(cell.x + 1, width_ - 1));
  const std::size_t top = TileOf(std::max(cell.y - 1, 0));
  const std::size_t bottom = TileOf(std::min(cell.y + 1, height_ - 1));
  if (TileAt(left, top) != nullptr) {
    return true;
  }
  return (right != left && TileAt(right, top) != nullptr) ||
         (bottom != top && (TileAt(left, bottom) != nullptr || TileAt(right, bottom) != nullptr));
}

std::size_t CellCosts::BytesBeyond(const CellCosts* other) const {
  if (this == other) {
    return 0;
  }
  std::size_t bytes = sizeof(*this) + rows_.size() * sizeof(rows_[0]);
  for (std::size_t y = 0; y < rows_.size(); ++y) {
    const TileRow* row = rows_[y].get();
    const TileRow* other_row = other == nullptr ? nullptr : other->rows_[y].get();
    if (row == nullptr || row == other_row) {
      continue;
    }
    bytes += sizeof(TileRow) + row->tiles.size() * sizeof(row->tiles[0]);
    for (std::size_t x = 0; x < row->tiles.size(); ++x) {
      const bool is_shared = other_row != nullptr && row->tiles[x] == other_row->tiles[x];
      bytes += row->tiles[x] == nullptr || is_shared ? 0 : sizeof(Tile);
    }
  }
  return bytes;
}

bool CellCostsWriter::Set(Cell cell, CellCosts::Entry entry) {
  const CellCosts::Entry before = costs_ == nullptr ? CellCosts::Entry{} : costs_->At(cell);
  if (before.straight == entry.straight && before.diagonal == entry.diagonal) {
    return false;
  }
  CellCosts::Tile& tile = OwnTile(cell);
  tile.entries[CellCosts::IndexIn(cell)] = entry;
  return true;
}

CellCosts::Tile& CellCostsWriter::OwnTile(Cell cell) {
  const std::size_t columns = CellCosts::TileOf(width_ + CellCosts::kTileSide - 1);
  if (own_ == nullptr) {
    own_ = costs_ == nullptr ? std::make_shared<CellCosts>(width_, height_)
                             : std::make_shared<CellCosts>(*costs_);
    costs_ = own_;
    owns_row_.assign(own_->rows_.size(), false);
    owns_tile_.assign(own_->rows_.size() * columns, false);
  }
  const std::size_t y = CellCosts::TileOf(cell.y);
  std::shared_ptr<CellCosts::TileRow>& row = own_->rows_[y];
  if (!owns_row_[y]) {
    row =
        row == nullptr ? std::make_shared<CellCosts::TileRow>() : std::make_shared<CellCosts::TileRow>(*row);
    row->tiles.resize(columns);
    owns_row_[y] = true;
  }
  const std::size_t x = CellCosts::TileOf(cell.x);
  std::shared_ptr<CellCosts::Tile>& tile = row->tiles[x];
  if (!owns_tile_[y * columns + x]) {
    tile = tile == nullptr ? std::make_shared<CellCosts::Tile>() : std::make_shared<CellCosts::Tile>(*tile);
    owns_tile_[y * columns + x] = true;
  }
  return *tile;
}

void CellCostsWriter::Finish() {
  if (own_ == nullptr) {
    return;
  }
  const auto add = [](CellCosts::Summary& all, const CellCosts::Summary& part) {
    all.count += part.count;
    all.min_straight = std::min(all.min_straight, part.min_straight);
  };
  own_->count_ = 0;
  own_->min_straight_ = CellCosts::kNone;
  for (std::size_t y = 0; y < own_->rows_.size(); ++y) {
    std::shared_ptr<CellCosts::TileRow>& row = own_->rows_[y];
    if (owns_row_[y]) {
      row->summary = {};
      for (std::size_t x = 0; x < row->tiles.size(); ++x) {
        std::shared_ptr<CellCosts::Tile>& tile = row->tiles[x];
        if (owns_tile_[y * row->tiles.size() + x]) {
          tile->summary = {};
          for (const CellCosts::Entry& entry : tile->entries) {
            if (entry.straight != 0) {
              add(tile->summary, {.count = 1, .min_straight = entry.straight});
            }
          }
          if (tile->summary.count == 0) {
            tile = nullptr;
          }
        }
        if (tile != nullptr) {
          add(row->summary, tile->summary);
        }
      }
      if (row->summary.count == 0) {
        row = nullptr;
      }
    }
    if (row != nullptr) {
      own_->count_ += row->summary.count;
      own_->min_straight_ = std::min(own_->min_straight_, row->summary.min_straight);
    }
  }
  if (own_->count_ == 0) {
    costs_ = nullptr;
  }
}

}  // namespace waystar::core
