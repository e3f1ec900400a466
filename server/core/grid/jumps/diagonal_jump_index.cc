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
    MarkLines<kRule>(stops_.finds_in_rows_, [&](int y) { return RowLine(grid_, y); });
    MarkLines<kRule>(stops_.finds_in_columns_, [&](int x) { return ColumnLine(grid_, x); });
    upright_ = {Transposed(stops_.finds_in_columns_.cells[0]), Transposed(stops_.finds_in_columns_.cells[1])};
  }

  template <CornerRule kRule, typename LineOf>
  void MarkLines(Finds& finds, LineOf line_of) const {
    auto& [forward, backward] = finds.cells;
    BitPlaneWriter forward_writer(forward);
    BitPlaneWriter backward_writer(backward);
    for (int line = 0; line < forward.height() && !IsCancelled(cancelled_); ++line) {
      MarkRunsToJumps<kRule, 1>(line_of(line), forward.width(), forward_writer.row(line));
      MarkRunsToJumps<kRule, -1>(line_of(line), forward.width(), backward_writer.row(line));
    }
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
    const Word* sideways = stops_.finds_in_rows_.To(SenseOf(step.x)).row(y);
    const Word* upright = upright_[static_cast<std::size_t>(SenseOf(step.y))].row(y);
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
  // Cells from which straight jumps along columns find a jump point, by row.
  std::array<BitPlane, 2> upright_;
};

DiagonalJumpIndex::DiagonalJumpIndex(const WalkCells& grid, CornerRule rule, CancelFlag cancelled)
    : rule_(rule),
      wrap_(grid.width() + 1),
      segments_((grid.width() >> kSegmentShift) + 1),
      blocks_((grid.height() + 1) / kWordBits + 1),
      words_(blocks_ * segments_ * 4,
             std::vector<Word>(std::min(static_cast<std::size_t>(wrap_), std::size_t{1} << kSegmentShift)),
             kBandBytes),
      finds_in_rows_(grid.height(), grid.width()),
      finds_in_columns_(grid.width(), grid.height()) {
  WithRule(rule, [&]<CornerRule kRule>() { Builder(*this, grid, cancelled).Run<kRule>(); });
}

DiagonalJumpIndex::DiagonalJumpIndex(const DiagonalJumpIndex& before, const WalkCells& now,
                                     absl::Span<const WordChange> changes, CancelFlag cancelled)
    : DiagonalJumpIndex(before) {
  Repair(now, changes, cancelled);
}

std::size_t DiagonalJumpIndex::BytesBeyond(const DiagonalJumpIndex* other) const {
  const auto beyond = [](const auto& own, const auto* others) {
    return others == nullptr ? own.memory_bytes() : own.BytesBeyond(*others);
  };
  std::size_t bytes = beyond(words_, other == nullptr ? nullptr : &other->words_);
  for (const auto finds : {&DiagonalJumpIndex::finds_in_rows_, &DiagonalJumpIndex::finds_in_columns_}) {
    for (const Sense sense : {Sense::kForward, Sense::kBackward}) {
      bytes += beyond((this->*finds).To(sense), other == nullptr ? nullptr : &(other->*finds).To(sense));
    }
  }
  return bytes;
}

}  // namespace waystar::core
