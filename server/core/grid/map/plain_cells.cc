#include "server/core/grid/map/plain_cells.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "server/base/mutex.h"
#include "server/core/grid/cells/transpose.h"
#include "server/core/grid/jumps/surroundings.h"
#include "server/core/grid/map/plainness.h"

namespace waystar::core {
namespace {

std::size_t LineIn(int coordinate) { return static_cast<unsigned>(coordinate + 1) % kWordBits; }

// Sets the cells of row y that are in `mask`.
void SetRow(PlainCells::Tile& tile, int y, Word mask, const PlainWords& plain) {
  const std::size_t line = LineIn(y);
  tile.along_rows[line] = (tile.along_rows[line] & ~mask) | plain.along_row;
  tile.diagonally[line] = (tile.diagonally[line] & ~mask) | plain.diagonally;
  for (Word bits = mask; bits != 0; bits &= bits - 1) {
    const int x = std::countr_zero(bits);
    Word& column = tile.along_columns[static_cast<std::size_t>(x)];
    column = (column & ~(Word{1} << line)) | (plain.along_column >> x & 1U) << line;
  }
}

// Shared tile in which all cells are plain. It saves memory and stays in the CPU cache.
const std::shared_ptr<const PlainCells::Tile>& AllPlain() {
  static const auto& tile = *new std::shared_ptr<const PlainCells::Tile>([] {
    auto all = std::make_shared<PlainCells::Tile>();
    all->along_rows.fill(~Word{0});
    all->along_columns.fill(~Word{0});
    all->diagonally.fill(~Word{0});
    return all;
  }());
  return tile;
}

}  // namespace

// Row of tiles. Maps whose cells are equal in these rows and their neighbouring rows share it.
struct PlainCells::TileRow {
  explicit TileRow(std::size_t columns) : found(columns), owned(columns) {}
  TileRow(const TileRow& other) : TileRow(other.found.size()) {
    MutexLock other_lock(other.mutex);
    MutexLock lock(mutex);
    owned = other.owned;
    for (std::size_t i = 0; i < owned.size(); ++i) {
      found[i].store(owned[i].get(), std::memory_order_relaxed);
    }
  }
  TileRow& operator=(const TileRow&) = delete;

  // Returns the stored tile, which may be one that another thread judged and stored first.
  const Tile& Put(std::size_t column, std::shared_ptr<const Tile> tile) {
    MutexLock lock(mutex);
    if (owned[column] == nullptr) {
      owned[column] = std::move(tile);
      found[column].store(owned[column].get(), std::memory_order_release);
    }
    return *owned[column];
  }
  // REQUIRES: no other thread has access to this row.
  void Replace(std::size_t column, std::shared_ptr<const Tile> tile) {
    MutexLock lock(mutex);
    owned[column] = std::move(tile);
    found[column].store(owned[column].get(), std::memory_order_relaxed);
  }

  std::vector<std::atomic<const Tile*>> found;
  mutable Mutex mutex;
  std::vector<std::shared_ptr<const Tile>> owned ABSL_GUARDED_BY(mutex);
};

PlainCells::PlainCells(const GridCells& map)
    : rows_(WordOf(map.height() - 1) + 1), memory_(std::make_shared<PlainnessMemory>(map)) {
  for (std::shared_ptr<TileRow>& row : rows_) {
    row = std::make_shared<TileRow>(WordOf(map.width() - 1) + 1);
    starts_.push_back(row->found.data());
  }
}

PlainCells::PlainCells(const PlainCells& before, const GridCells& map, absl::Span<const WordChange> changes)
    : rows_(before.rows_), starts_(before.starts_), memory_(before.memory_) {
  std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<Tile>> changed;
  const Surroundings around(changes, map.width(), map.height());
  for (const WordChange& word : around.words()) {
    const auto column = static_cast<std::size_t>(word.index);
    const std::size_t row = WordOf(word.y);
    const auto [it, is_first] = changed.try_emplace({row, column});
    if (is_first && before.Find(column, row) != nullptr) {
      it->second = std::make_shared<Tile>(*before.Find(column, row));
    }
    if (it->second != nullptr) {
      PlainnessJudge judge(map, *memory_, column, word.y, word.y + 1);
      SetRow(*it->second, word.y, word.flipped, judge.Judge(word.y, word.flipped));
    }
  }
  for (auto& [place, tile] : changed) {
    const auto [row, column] = place;
    if (rows_[row] == before.rows_[row]) {
      rows_[row] = std::make_shared<TileRow>(*before.rows_[row]);
      starts_[row] = rows_[row]->found.data();
    }
    rows_[row]->Replace(column, std::move(tile));
  }
}

const PlainCells::Tile& PlainCells::Judge(const GridCells& map, std::size_t column, std::size_t row,
                                          Work& work) const {
  if (const Tile* tile = Find(column, row)) {
    return *tile;
  }
  const int begin = std::max(static_cast<int>(row) * kWordBits - 1, 0);
  const int end = std::min(static_cast<int>(row + 1) * kWordBits - 1, map.height());
  PlainnessJudge judge(map, *memory_, column, begin, end);
  const auto tile = std::make_shared<Tile>();
  for (int y = begin; y < end; ++y) {
    const Word cells = map.walkable().word(y, column);
    const PlainWords plain = judge.Judge(y, cells);
    tile->along_rows[LineIn(y)] = plain.along_row;
    tile->along_columns[LineIn(y)] = plain.along_column;
    tile->diagonally[LineIn(y)] = plain.diagonally;
    work.cells += static_cast<std::uint64_t>(std::popcount(cells));
  }
  Transpose(tile->along_columns);
  work.neighbourhoods += judge.judged();
  return rows_[row]->Put(column, *tile == *AllPlain() ? AllPlain() : tile);
}

std::size_t PlainCells::BytesBeyond(const PlainCells* other) const {
  if (this == other) {
    return 0;
  }
  std::size_t bytes = sizeof(*this) + rows_.size() * (sizeof(rows_[0]) + sizeof(starts_[0]));
  bytes += other != nullptr && memory_ == other->memory_ ? 0 : memory_->memory_bytes();
  for (std::size_t y = 0; y < rows_.size(); ++y) {
    const TileRow* others = other == nullptr ? nullptr : other->rows_[y].get();
    if (rows_[y].get() == others) {
      continue;
    }
    bytes += sizeof(TileRow);
    for (std::size_t x = 0; x < rows_[y]->found.size(); ++x) {
      const Tile* tile = Find(x, y);
      const bool is_own =
          tile != nullptr && tile != AllPlain().get() && (others == nullptr || tile != other->Find(x, y));
      bytes += sizeof(tile) + sizeof(std::shared_ptr<const Tile>) + (is_own ? sizeof(Tile) : 0);
    }
  }
  return bytes;
}

}  // namespace waystar::core
