#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/jumps/diagonal_jump_index.h"
#include "server/core/grid/jumps/straight_scan.h"

namespace waystar::core {

// Updates the bits for changed cells.
class DiagonalJumpIndex::Repairer {
 public:
  Repairer(const DiagonalJumpIndex& before, DiagonalJumpIndex& stops, const WalkCells& old,
           const WalkCells& now, CancelFlag cancelled)
      : before_(before), stops_(stops), old_(old), now_(now), cancelled_(cancelled), writer_(stops.words_) {}

  template <CornerRule kRule>
  void Run(absl::Span<const WordChange> changes) {
    const Surroundings rows(changes, now_.width(), now_.height());
    const Surroundings columns(Turned(changes), now_.height(), now_.width());
    // Maximum number of words whose obsolete bits are cleared; beyond it they stay set.
    words_to_clear_ = 8 + 2 * (rows.words().size() + columns.words().size());
    Axis row_axis{before_.rows_, RunEndsWriter(stops_.rows_), stops_.rows_, true, now_.width()};
    Axis column_axis{before_.columns_, RunEndsWriter(stops_.columns_), stops_.columns_, false, now_.height()};
    RepairLines<kRule>(row_axis, rows.words());
    RepairLines<kRule>(column_axis, columns.words());
    for (const WordChange& word : rows.words()) {
      if (IsCancelled(cancelled_)) {
        return;
      }
      Remake<kRule>(word);
    }
    for (const Cleared& cleared : cleared_) {
      if (IsCancelled(cancelled_)) {
        return;
      }
      Clear<kRule>(cleared);
    }
  }

 private:
  struct Axis {
    const RunEnds& before;
    RunEndsWriter writer;
    const RunEnds& now;
    bool is_rows;
    int length;
  };

  // Cells of a word of a row or column from which jumps in that sense no longer find anything.
  struct Cleared {
    bool is_row;
    Sense sense;
    WordChange cells;
  };

  // Returns the same cells by column: y is the column and index the word in it.
  static std::vector<WordChange> Turned(absl::Span<const WordChange> changes) {
    std::vector<WordChange> sorted(changes.begin(), changes.end());
    const auto tile = [](const WordChange& word) { return std::pair(word.index, (word.y + 1) / kWordBits); };
    std::sort(sorted.begin(), sorted.end(),
              [&](const WordChange& a, const WordChange& b) { return tile(a) < tile(b); });
    std::vector<WordChange> turned;
    for (std::size_t i = 0; i < sorted.size();) {
      const auto [index, block] = tile(sorted[i]);
      std::array<Word, kWordBits> columns{};
      Word touched = 0;
      for (; i < sorted.size() && tile(sorted[i]) == std::pair(index, block); ++i) {
        touched |= sorted[i].flipped;
        for (Word bits = sorted[i].flipped; bits != 0; bits &= bits - 1) {
          columns[static_cast<std::size_t>(std::countr_zero(bits))] |= Word{1}
                                                                       << ((sorted[i].y + 1) % kWordBits);
        }
      }
      for (; touched != 0; touched &= touched - 1) {
        const int bit = std::countr_zero(touched);
        turned.push_back({index * kWordBits + bit - 1, block, columns[static_cast<std::size_t>(bit)]});
      }
    }
    return turned;
  }

  static WordChange WordOf(Cell cell) {
    const int bit = cell.x + 1;
    return {cell.y, bit / kWordBits, Word{1} << (bit % kWordBits)};
  }

  static LineBits LineOf(const WalkCells& grid, bool is_row, int line) {
    return is_row ? RowLine(grid, line) : ColumnLine(grid, line);
  }

  template <CornerRule kRule>
  static WordRuns Runs(const LineBits& line, Sense sense, std::size_t i, bool beyond) {
    return sense == Sense::kForward ? RunsInWord<kRule, 1>(line, i, beyond)
                                    : RunsInWord<kRule, -1>(line, i, beyond);
  }

  // Repairs the lines of an axis. `touched` lists their changed words, line by line.
  template <CornerRule kRule>
  void RepairLines(Axis& axis, absl::Span<const WordChange> touched) {
    while (!touched.empty() && !IsCancelled(cancelled_)) {
      std::size_t count = 1;
      while (count < touched.size() && touched[count].y == touched[0].y) {
        ++count;
      }
      RepairLine<kRule>(axis, Sense::kForward, touched.first(count));
      RepairLine<kRule>(axis, Sense::kBackward, touched.first(count));
      touched.remove_prefix(count);
    }
  }

  // Repairs a line against the direction of jumps in that sense: the touched words and, after each, further
  // words as long as the state beyond them has changed.
  template <CornerRule kRule>
  void RepairLine(Axis& axis, Sense sense, absl::Span<const WordChange> touched) {
    const int number = touched[0].y;
    const LineBits old_line = LineOf(old_, axis.is_rows, number);
    const LineBits line = LineOf(now_, axis.is_rows, number);
    const int step = sense == Sense::kForward ? -1 : 1;
    const auto nth = [&](std::size_t n) {
      return touched[sense == Sense::kForward ? touched.size() - 1 - n : n].index;
    };
    const int end = sense == Sense::kForward ? -1 : WordsPerRow(axis.length) - 1;
    int i = nth(0);
    for (std::size_t next = 1; i != end;) {
      const auto place = static_cast<std::size_t>(i);
      const WordRuns before =
          Runs<kRule>(old_line, sense, place, axis.before.LeadsBeyond(sense, number, place));
      const WordRuns now = Runs<kRule>(line, sense, place, axis.now.LeadsBeyond(sense, number, place));
      Settle(axis, sense, number, place, before.finds, now.finds);
      const int following = i + step;
      const bool is_touched = next < touched.size() && nth(next) == following;
      bool goes_on = is_touched;
      if (following != end &&
          axis.now.LeadsBeyond(sense, number, static_cast<std::size_t>(following)) != now.leads) {
        axis.writer.FlipBeyond(sense, number, static_cast<std::size_t>(following));
        goes_on = true;
      }
      next += is_touched ? 1 : 0;
      if (goes_on) {
        i = following;
      } else if (next < touched.size()) {
        i = nth(next++);
      } else {
        return;
      }
    }
  }

  // Updates a word: the cells in `before` found a jump point, those in `now` find one.
  void Settle(Axis& axis, Sense sense, int line, std::size_t place, Word before, Word now) {
    const Word all = SpanMask(place, 0, axis.length);
    const bool was_whole = axis.now.IsWhole(sense, line, place);
    const bool is_whole = now == all && (was_whole || before != all);
    if (is_whole != was_whole) {
      axis.writer.FlipWhole(sense, line, place);
      stops_.whole_words_ += is_whole ? 1 : -1;
    }
    // A word marked whole has no per-cell bits; treat them as 0.
    const Word said_before = was_whole ? 0 : before;
    const Word said_now = is_whole ? 0 : now;
    const auto index = static_cast<std::int32_t>(place);
    PutAll(axis.is_rows, sense, {line, index, said_now & ~said_before});
    if (const Word removed = said_before & ~said_now; removed != 0 && words_to_clear_ > 0) {
      --words_to_clear_;
      cleared_.push_back({axis.is_rows, sense, {line, index, removed}});
    }
  }

  // Returns the diagonal direction that steps along a line in that sense and to a line of lower (aside -1) or
  // higher number (1).
  static Direction LookerOf(bool is_row, Sense sense, int aside) {
    const int along = sense == Sense::kForward ? 1 : -1;
    return DirectionOf(is_row ? Cell{along, aside} : Cell{aside, along});
  }

  void PutAll(bool is_row, Sense sense, const WordChange& word) {
    for (const int aside : {-1, 1}) {
      const Direction direction = LookerOf(is_row, sense, aside);
      ForEachCell(word, [&](Cell cell) { Put(direction, is_row ? cell : Cell{cell.y, cell.x}, true); });
    }
  }

  // Recomputes the bits of the flipped cells of a word.
  template <CornerRule kRule>
  void Remake(const WordChange& word) {
    const LineBits row = RowLine(now_, word.y);
    for (const Direction direction : kDiagonals) {
      const Cell step = kSteps[static_cast<std::size_t>(direction)];
      const Word nearby = StopsNearby<kRule>(row, step.x, step.y, static_cast<std::size_t>(word.index));
      ForEachCell({word.y, word.index, word.flipped & nearby},
                  [&](Cell cell) { Put(direction, cell, true); });
      ForEachCell({word.y, word.index, word.flipped & ~nearby}, [&](Cell cell) {
        Put(direction, cell,
            Finds<kRule>(stops_.rows_, row, step.x, cell.y, cell.x) ||
                Finds<kRule>(stops_.columns_, ColumnLine(now_, cell.x), step.y, cell.x, cell.y));
      });
    }
  }

  template <CornerRule kRule>
  void Clear(const Cleared& cleared) {
    const int number = cleared.cells.y;
    const std::int32_t index = cleared.cells.index;
    const LineBits line = LineOf(now_, cleared.is_row, number);
    const RunEnds& crossing_ends = cleared.is_row ? stops_.columns_ : stops_.rows_;
    for (const int aside : {-1, 1}) {
      const Direction direction = LookerOf(cleared.is_row, cleared.sense, aside);
      const Word nearby = StopsNearby<kRule>(line, cleared.sense == Sense::kForward ? 1 : -1, aside,
                                             static_cast<std::size_t>(index));
      ForEachCell({number, index, cleared.cells.flipped & ~nearby}, [&](Cell place) {
        const Cell cell = cleared.is_row ? place : Cell{place.y, place.x};
        if (IsPut(direction, cell) &&
            !Finds<kRule>(crossing_ends, LineOf(now_, !cleared.is_row, place.x), aside, place.x, number)) {
          Put(direction, cell, false);
        }
      });
    }
  }

  // Returns true if a straight jump from a position of line `number` finds a jump point. Returns false in
  // whole words, which record that themselves.
  template <CornerRule kRule>
  static bool Finds(const RunEnds& ends, const LineBits& line, int step, int number, int position) {
    const Sense sense = step > 0 ? Sense::kForward : Sense::kBackward;
    const auto bit = static_cast<unsigned>(position) + 1;
    const std::size_t place = bit / kWordBits;
    if (ends.IsWhole(sense, number, place)) {
      return false;
    }
    if (step > 0) {
      const Word stops = RunStops<kRule, 1>(line, place) & ~Word{1} << (bit % kWordBits);
      return stops != 0 ? (line.own[place] & stops & -stops) != 0 : ends.LeadsBeyond(sense, number, place);
    }
    const Word stops = RunStops<kRule, -1>(line, place) & ((Word{1} << (bit % kWordBits)) - 1);
    return stops != 0 ? (line.own[place] & std::bit_floor(stops)) != 0
                      : ends.LeadsBeyond(sense, number, place);
  }

  bool IsPut(Direction direction, Cell cell) const {
    const Word word = *stops_.At(direction, stops_.DiagonalOf(direction, cell), (cell.y + 1) / kWordBits);
    return (word >> ((cell.y + 1) % kWordBits) & 1U) != 0;
  }

  void Put(Direction direction, Cell cell, bool stop) {
    const int diagonal = stops_.DiagonalOf(direction, cell);
    const int row = stops_.RowOf(direction, diagonal, (cell.y + 1) / kWordBits);
    const Word bit = Word{1} << ((cell.y + 1) % kWordBits);
    if (row == row_written_) {
      Word& word = words_written_[PlaceOf(diagonal)];
      word = stop ? word | bit : word & ~bit;
    } else if (((stops_.words_.row(row)[PlaceOf(diagonal)] & bit) != 0) != stop) {
      row_written_ = row;
      words_written_ = writer_.row(row);
      words_written_[PlaceOf(diagonal)] ^= bit;
    }
  }

  const DiagonalJumpIndex& before_;
  DiagonalJumpIndex& stops_;
  const WalkCells& old_;
  const WalkCells& now_;
  const CancelFlag cancelled_;
  PlaneWriter<Word> writer_;
  // Row of words last written to, and its number.
  int row_written_ = -1;
  Word* words_written_ = nullptr;
  std::vector<Cleared> cleared_;
  std::size_t words_to_clear_ = 0;
};

void DiagonalJumpIndex::Repair(const DiagonalJumpIndex& before, const WalkCells& old, const WalkCells& now,
                               absl::Span<const WordChange> changes, CancelFlag cancelled) {
  WithRule(rule_,
           [&]<CornerRule kRule>() { Repairer(before, *this, old, now, cancelled).Run<kRule>(changes); });
}

}  // namespace waystar::core
