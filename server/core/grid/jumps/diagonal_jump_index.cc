#include "server/core/grid/jumps/diagonal_jump_index.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/jumps/straight_scan.h"

namespace waystar::core {
namespace {

// Returns true if a build is cheaper than repairing `words` words: a word costs as much as building 2000
// cells.
bool IsCheaperAnew(std::size_t words, const WalkCells& grid) {
  return words * 2000 > static_cast<std::size_t>(grid.width()) * static_cast<std::size_t>(grid.height());
}

// Returns true if the index should be rebuilt: repairs have left enough unneeded stops to slow searches by a
// few percent. Larger grids are not rebuilt, because stops are sparser there and a build takes too long.
bool IsDueAnew(std::size_t repaired_words, const WalkCells& grid) {
  const auto cells = static_cast<std::size_t>(grid.width()) * static_cast<std::size_t>(grid.height());
  return cells <= std::size_t{1} << 22 && repaired_words * 250 > cells;
}

}  // namespace

// Computes the bits of all cells, a square of 64 diagonals by 64 rows at a time.
class DiagonalJumpIndex::Builder {
 public:
  Builder(DiagonalJumpIndex& stops, const WalkCells& grid, CancelFlag cancelled)
      : stops_(stops), grid_(grid), cancelled_(cancelled) {}

  template <CornerRule kRule>
  void Run() {
    MarkRuns<kRule>();
    PlaneWriter<Word> writer(stops_.words_);
    const auto row_words = 2 * static_cast<std::size_t>(stops_.wrap_) / kWordBits + 4;
    std::array<std::vector<Word>, kWordBits> rows;
    rows.fill(std::vector<Word>(row_words));
    for (const Direction direction : kDiagonals) {
      for (int block = 0; block < stops_.blocks_ && !IsCancelled(cancelled_); ++block) {
        for (int i = 0; i < kWordBits; ++i) {
          FillTwice<kRule>(direction, block * kWordBits - 1 + i, rows[static_cast<std::size_t>(i)]);
        }
        WriteBlock(direction, block, rows, writer);
      }
    }
  }

 private:
  // Marks the cells from which a straight jump finds a jump point, by direction.
  template <CornerRule kRule>
  void MarkRuns() {
    east_ = west_ = BitPlane(grid_.width(), grid_.height(), false);
    BitPlaneWriter east(east_);
    BitPlaneWriter west(west_);
    RunEndsWriter row_ends(stops_.rows_);
    RunEndsWriter column_ends(stops_.columns_);
    for (int y = 0; y < grid_.height() && !IsCancelled(cancelled_); ++y) {
      MarkLine<kRule>(RowLine(grid_, y), y, grid_.width(), east.row(y), west.row(y), row_ends);
    }
    BitPlane south(grid_.height(), grid_.width(), false);
    BitPlane north = south;
    BitPlaneWriter south_writer(south);
    BitPlaneWriter north_writer(north);
    for (int x = 0; x < grid_.width() && !IsCancelled(cancelled_); ++x) {
      MarkLine<kRule>(ColumnLine(grid_, x), x, grid_.height(), south_writer.row(x), north_writer.row(x),
                      column_ends);
    }
    south_ = Transposed(south);
    north_ = Transposed(north);
  }

  template <CornerRule kRule>
  static void MarkLine(const LineBits& line, int number, int length, Word* forward, Word* backward,
                       RunEndsWriter& ends) {
    MarkRunsToJumps<kRule, 1>(line, length, forward,
                              [&](std::size_t i) { ends.FlipBeyond(Sense::kForward, number, i); });
    MarkRunsToJumps<kRule, -1>(line, length, backward,
                               [&](std::size_t i) { ends.FlipBeyond(Sense::kBackward, number, i); });
  }

  // Computes the stops of row y, with cell x at bit x and again at bit x + wrap_, so that 64 cells from any x
  // on can be read at once.
  template <CornerRule kRule>
  void FillTwice(Direction direction, int y, std::vector<Word>& row) const {
    if (y < 0 || y >= grid_.height()) {
      std::fill(row.begin(), row.end(), ~Word{0});
      return;
    }
    std::fill(row.begin(), row.end(), 0);
    const Cell step = kSteps[static_cast<std::size_t>(direction)];
    const Word* sideways = (step.x > 0 ? east_ : west_).row(y);
    const Word* upright = (step.y > 0 ? south_ : north_).row(y);
    const LineBits line = RowLine(grid_, y);
    const auto words = static_cast<std::size_t>(WordsPerRow(grid_.width())) - 1;
    const auto wrap = static_cast<std::size_t>(stops_.wrap_);
    for (std::size_t i = 0; i < words; ++i) {
      Word bits = StopsNearby<kRule>(line, step.x, step.y, i) | sideways[i] | upright[i];
      // Moves bit x + 1 of the row to bit x, up to the cell just outside the map.
      std::size_t at = i * kWordBits;
      bits &= SpanMask(i, -1, stops_.wrap_);
      if (i == 0) {
        bits >>= 1;
      } else {
        --at;
      }
      OrAt(row, at, bits);
      OrAt(row, at + wrap, bits);
    }
  }

  static void OrAt(std::vector<Word>& row, std::size_t bit, Word bits) {
    const std::size_t i = bit / kWordBits;
    const std::size_t shift = bit % kWordBits;
    row[i] |= bits << shift;
    if (shift != 0 && i + 1 < row.size()) {
      row[i + 1] |= bits >> (kWordBits - shift);
    }
  }

  static Word ReadAt(const std::vector<Word>& row, std::size_t bit) {
    const std::size_t i = bit / kWordBits;
    const std::size_t shift = bit % kWordBits;
    return row[i] >> shift | row[i + 1] << 1 << (kWordBits - 1 - shift);
  }

  void WriteBlock(Direction direction, int block, const std::array<std::vector<Word>, kWordBits>& rows,
                  PlaneWriter<Word>& writer) {
    const bool falls = direction == Direction::kSouthEast || direction == Direction::kNorthWest;
    std::array<Word, kWordBits> square;
    for (int first = 0; first < stops_.wrap_; first += kWordBits) {
      for (int i = 0; i < kWordBits; ++i) {
        const int y = block * kWordBits - 1 + i;
        // Position at which the first diagonal crosses row y.
        int x = (falls ? first + y : first - y) % stops_.wrap_;
        x += x < 0 ? stops_.wrap_ : 0;
        square[static_cast<std::size_t>(i)] =
            ReadAt(rows[static_cast<std::size_t>(i)], static_cast<std::size_t>(x));
      }
      Transpose(square);
      const int end = std::min(first + kWordBits, stops_.wrap_);
      for (int diagonal = first; diagonal < end; ++diagonal) {
        writer.row(stops_.RowOf(direction, diagonal, block))[PlaceOf(diagonal)] =
            square[static_cast<std::size_t>(diagonal - first)];
      }
    }
  }

  DiagonalJumpIndex& stops_;
  const WalkCells& grid_;
  const CancelFlag cancelled_;
  BitPlane east_;
  BitPlane west_;
  BitPlane south_;
  BitPlane north_;
};

DiagonalJumpIndex::DiagonalJumpIndex(const WalkCells& grid, CornerRule rule, CancelFlag cancelled)
    : rule_(rule),
      wrap_(grid.width() + 1),
      segments_((grid.width() >> kSegmentShift) + 1),
      blocks_((grid.height() + 1) / kWordBits + 1),
      words_(blocks_ * segments_ * 4,
             std::vector<Word>(std::min(static_cast<std::size_t>(wrap_), std::size_t{1} << kSegmentShift)),
             kBandBytes),
      rows_(grid.height(), grid.width()),
      columns_(grid.width(), grid.height()) {
  WithRule(rule, [&]<CornerRule kRule>() { Builder(*this, grid, cancelled).Run<kRule>(); });
}

DiagonalJumpIndex::DiagonalJumpIndex(const DiagonalJumpIndex& before, const WalkCells& old,
                                     const WalkCells& now, absl::Span<const WordChange> changes,
                                     CancelFlag cancelled)
    : DiagonalJumpIndex(before) {
  repaired_words_ += changes.size();
  if (IsCheaperAnew(changes.size(), now) || IsDueAnew(repaired_words_, now)) {
    *this = DiagonalJumpIndex(now, rule_, cancelled);
    return;
  }
  Repair(before, old, now, changes, cancelled);
}

std::size_t DiagonalJumpIndex::BytesBeyond(const DiagonalJumpIndex* other) const {
  static const Plane<Word> kNone;
  return words_.BytesBeyond(other == nullptr ? kNone : other->words_) +
         rows_.plane().BytesBeyond(other == nullptr ? kNone : other->rows_.plane()) +
         columns_.plane().BytesBeyond(other == nullptr ? kNone : other->columns_.plane());
}

}  // namespace waystar::core
