#include "server/core/grid/map/plain_cells.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "server/base/mutex.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/map/canonical_steps.h"

namespace waystar::core {
namespace {

// Judgement of a neighbourhood: a set of these bits.
using Plainness = unsigned;
constexpr Plainness kAlongRow = 1;
constexpr Plainness kAlongColumn = 2;
constexpr Plainness kDiagonally = 4;

constexpr unsigned kLeastSizeBits = 10;
constexpr unsigned kMostSizeBits = 14;

Plainness JudgementOf(const Neighbourhood& around, const StepCosts& costs) {
  const NearbyCosts nearby(around, costs);
  // Corner rules differ only if some cell is not walkable.
  const bool is_open = std::all_of(nearby.around.begin(), nearby.around.end(),
                                   [](const CellCosts::Entry& cell) { return cell.straight != 0; });
  const auto is_natural_after = [&](Direction arrival) {
    for (int rule = 0; rule < (is_open ? 1 : kCornerRuleCount); ++rule) {
      if (CanonicalSteps(nearby, static_cast<CornerRule>(rule), arrival) != NaturalSteps(arrival)) {
        return false;
      }
    }
    return true;
  };
  const auto is_plain_along = [&](Direction a, Direction b) {
    return around.At(a) == around.centre() && around.At(b) == around.centre() && is_natural_after(a) &&
           is_natural_after(b);
  };
  const auto is_plain_for = [&](Direction corner) {
    return around.At(corner) != Neighbourhood::kNotWalkable && is_natural_after(corner);
  };
  Plainness plainness = 0;
  plainness |= is_plain_along(Direction::kEast, Direction::kWest) ? kAlongRow : 0;
  plainness |= is_plain_along(Direction::kNorth, Direction::kSouth) ? kAlongColumn : 0;
  plainness |= is_plain_for(Direction::kNorthEast) && is_plain_for(Direction::kSouthEast) &&
                       is_plain_for(Direction::kSouthWest) && is_plain_for(Direction::kNorthWest)
                   ? kDiagonally
                   : 0;
  return plainness;
}

// Returns 64 bits, one per pair of cells, set if the two are equal.
Word Alike(const TerrainId* a, const TerrainId* b) {
  Word alike = 0;
  for (int i = 0; i < kWordBits; i += kEight) {
    const std::uint64_t other = EightCells(a, kWordBits, i) ^ EightCells(b, kWordBits, i);
    alike |= HighBits(~(((other & EightTimes(0x7F)) + EightTimes(0x7F)) | other)) << i;
  }
  return alike;
}

}  // namespace

// Cache of the judgements of recent neighbourhoods, for one map's costs. Terrains of equal cost form a class,
// so that a map with few costs has few neighbourhoods.
//
// Thread safety: thread-safe.
class PlainnessMemory {
 public:
  explicit PlainnessMemory(const GridCells& map)
      : is_used_(map.settings().terrains.size() < kMaxTerrains),
        size_bits_(std::clamp(static_cast<unsigned>(std::bit_width(static_cast<unsigned>(map.width()) *
                                                                   static_cast<unsigned>(map.height()) / 16)),
                              kLeastSizeBits, kMostSizeBits)),
        entries_(std::make_unique<Entry[]>(std::size_t{1} << size_bits_)) {
    const auto& straight = map.step_costs().straight;
    for (std::size_t i = 0; i < kMaxTerrains; ++i) {
      class_of_[i] =
          static_cast<TerrainId>(std::find(straight.begin(), straight.end(), straight[i]) - straight.begin());
    }
  }

  // Returns the first terrain with the same cost.
  TerrainId ClassOf(TerrainId terrain) const { return class_of_[terrain]; }

  // Returns the judgement of a neighbourhood of classes. Adds 1 to `judged` if it was not cached.
  Plainness Of(const Neighbourhood& around, const StepCosts& costs, std::uint64_t& judged) {
    if (!is_used_) {
      ++judged;
      return JudgementOf(around, costs);
    }
    // Both steps are injective, so the hash is unique.
    const std::uint64_t bits = around.SevenBitsEach();
    const std::uint64_t hash = (bits ^ bits >> 32) * std::uint64_t{0x9E3779B97F4A7C15};
    Entry& entry = entries_[hash >> (64 - size_bits_)];
    const std::uint64_t known = entry.load(std::memory_order_relaxed);
    const std::uint64_t own = hash << size_bits_ | 1U;
    constexpr std::uint64_t kJudgement = 0xE;
    static_assert(kLeastSizeBits >= 4);
    if ((known & ~kJudgement) == own) {
      return static_cast<Plainness>((known & kJudgement) >> 1);
    }
    ++judged;
    const Plainness plainness = JudgementOf(around, costs);
    entry.store(own | plainness << 1, std::memory_order_relaxed);
    return plainness;
  }

  std::size_t memory_bytes() const { return sizeof(*this) + (std::size_t{1} << size_bits_) * sizeof(Entry); }

 private:
  // Hash of a neighbourhood without the bits implied by the entry's index, then the judgement, then a 1. One
  // word, so that it is read and written atomically; 0 is empty.
  using Entry = std::atomic<std::uint64_t>;

  std::array<TerrainId, kMaxTerrains> class_of_{};
  // False if a neighbourhood may not fit into 63 bits.
  bool is_used_ = true;
  unsigned size_bits_;
  std::unique_ptr<Entry[]> entries_;
};

namespace {

// Plain cells of a word of a row, limited to the requested cells.
struct PlainWords {
  Word along_row = 0;
  Word along_column = 0;
  Word diagonally = 0;
};

// Judges the cells of up to 64 rows in the words of one index.
class PlainnessJudge {
 public:
  // REQUIRES: 0 <= begin < end <= map.height(), end - begin <= 64.
  PlainnessJudge(const GridCells& map, PlainnessMemory& memory, std::size_t index, int begin, int end)
      : map_(map), memory_(memory), index_(index), begin_(begin) {
    for (int y = begin - 1; y <= end; ++y) {
      FillRow(y);
    }
  }

  // Returns the plain cells of row y among `cells`.
  // REQUIRES: begin <= y < end; the cells are on the map.
  PlainWords Judge(int y, Word cells) {
    cells &= map_.walkable().word(y, index_);
    Word plain = cells & AmidOneCost(y);
    Word others = cells & ~plain;
    if (map_.cell_costs() != nullptr) {
      ForEachCell({y, static_cast<std::int32_t>(index_), cells}, [&](Cell cell) {
        if (!map_.cell_costs()->MayHaveNear(cell)) {
          return;
        }
        const NearbyCosts costs(map_, cell);
        if (costs.has_own) {
          const Word bit = Word{1} << (static_cast<unsigned>(cell.x + 1) % kWordBits);
          others &= ~bit;
          plain = costs.IsUniform() ? plain | bit : plain & ~bit;
        }
      });
    }
    PlainWords words = {.along_row = plain, .along_column = plain, .diagonally = plain};
    for (; others != 0; others &= others - 1) {
      const int bit = std::countr_zero(others);
      const Plainness plainness = memory_.Of(Around(y, bit), map_.step_costs(), judged_);
      const Word cell = Word{1} << bit;
      words.along_row |= (plainness & kAlongRow) != 0 ? cell : 0;
      words.along_column |= (plainness & kAlongColumn) != 0 ? cell : 0;
      words.diagonally |= (plainness & kDiagonally) != 0 ? cell : 0;
    }
    return words;
  }

  // Number of neighbourhoods judged that were not cached.
  std::uint64_t judged() const { return judged_; }

 private:
  // A row of cells with one more on each side.
  struct Row {
    // kNotWalkable for cells that are not walkable.
    std::array<TerrainId, kWordBits + kEight> classes;
    // Cells of the same class as the two beside them.
    Word alike = 0;
  };

  void FillRow(int y) {
    Row& row = RowAt(y);
    row.classes.fill(Neighbourhood::kNotWalkable);
    if (y < 0 || y >= map_.height()) {
      return;
    }
    const TerrainId* terrains = map_.TerrainRow(y);
    const Word* walkable = map_.walkable().row(y);
    const int first = static_cast<int>(index_) * kWordBits - 2;
    const auto set = [&](int x) {
      row.classes[static_cast<std::size_t>(x - first)] = memory_.ClassOf(terrains[x]);
    };
    if (index_ > 0 && TestBit(walkable, first)) {
      set(first);
    }
    if (TestBit(walkable, first + kWordBits + 1)) {
      set(first + kWordBits + 1);
    }
    if (walkable[index_] == ~Word{0}) {
      for (int x = first + 1; x <= first + kWordBits; ++x) {
        set(x);
      }
    } else {
      ForEachCell({y, static_cast<std::int32_t>(index_), walkable[index_]}, [&](Cell cell) { set(cell.x); });
    }
    const TerrainId* classes = row.classes.data();
    row.alike = Alike(classes, classes + 1) & Alike(classes + 1, classes + 2);
  }
  // Returns row y, from begin - 1 to end.
  Row& RowAt(int y) { return rows_[static_cast<std::size_t>(y + 1 - begin_)]; }
  // Returns the cells that have the same class as their eight neighbours.
  Word AmidOneCost(int y) {
    const Row& own = RowAt(y);
    const auto same_as = [&](const Row& other) {
      return Alike(own.classes.data() + 1, other.classes.data() + 1);
    };
    const Word alike = RowAt(y - 1).alike & own.alike & RowAt(y + 1).alike;
    return alike == 0 ? 0 : alike & same_as(RowAt(y - 1)) & same_as(RowAt(y + 1));
  }
  Neighbourhood Around(int y, int bit) {
    const auto three = [&](int row) {
      const TerrainId* cells = RowAt(row).classes.data() + bit;
      return cells[0] | std::uint32_t{cells[1]} << 8 | std::uint32_t{cells[2]} << 16;
    };
    return {three(y - 1), three(y), three(y + 1)};
  }

  const GridCells& map_;
  PlainnessMemory& memory_;
  const std::size_t index_;
  const int begin_;
  std::array<Row, kWordBits + 2> rows_;
  std::uint64_t judged_ = 0;
};

std::size_t LineIn(int coordinate) { return static_cast<unsigned>(coordinate + 1) % kWordBits; }

// Writes the plain cells of row y, among those in `mask`, to the tile.
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

  // Stores the tile unless another thread has stored one. Returns the stored tile.
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
