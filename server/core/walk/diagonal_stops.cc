#include "server/core/walk/diagonal_stops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/transpose.h"
#include "server/core/walk/grid_moves.h"
#include "server/core/walk/jump_directions.h"
#include "server/core/walk/straight_scan.h"
#include "server/core/walk/surroundings.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {
namespace {

constexpr std::array<Direction, 4> kDiagonals = {Direction::kNorthEast, Direction::kSouthEast,
                                                 Direction::kSouthWest, Direction::kNorthWest};

// Word i of a row, moved so that each bit is that of the cell `offset`, from -1 to 1, further on.
Word Shifted(const Word* row, std::size_t i, int offset) {
  if (offset > 0) {
    return row[i] >> 1 | row[i + 1] << (kWordBits - 1);
  }
  if (offset < 0) {
    return row[i] << 1 | (i == 0 ? 0 : row[i - 1] >> (kWordBits - 1));
  }
  return row[i];
}

// Of word i of a row, the cells where a jump stops for what is next to them: walls, and forced neighbours. A
// step of the jump goes by `along` in the row and by `aside` to one of its neighbours. The same holds of
// columns.
template <CornerRule kRule>
Word StopsNearby(const LineBits& line, int along, int aside, std::size_t i) {
  const Word* own = line.own;
  const Word* ahead = aside > 0 ? line.high : line.low;
  const Word* behind = aside > 0 ? line.low : line.high;
  const Word next_beside = Shifted(own, i, along);
  const Word next_ahead = Shifted(ahead, i, along);
  switch (kRule) {
    case CornerRule::kNoCornerCutting:
      return ~(own[i] & next_ahead & next_beside & ahead[i]);
    case CornerRule::kOneSideFree:
      return ~(own[i] & next_ahead & (next_beside | ahead[i])) |
             (~Shifted(own, i, -along) & Shifted(ahead, i, -along) & ahead[i]) |
             (~behind[i] & Shifted(behind, i, along) & next_beside);
    case CornerRule::kAlways:
      return ~(own[i] & next_ahead) | (~Shifted(own, i, -along) & Shifted(ahead, i, -along)) |
             (~behind[i] & Shifted(behind, i, along));
  }
}

// To repair a word that changed costs as much as to make some 2000 cells anew.
bool IsCheaperAnew(std::size_t words, const WalkGrid& grid) {
  return words * 2000 > static_cast<std::size_t>(grid.width()) * static_cast<std::size_t>(grid.height());
}

// Stops without need have come together since the last time, and slow searches down by a few hundredths. On
// larger grids there is more room between them, and to make them anew takes too long.
bool IsDueAnew(std::size_t repaired_words, const WalkGrid& grid) {
  const auto cells = static_cast<std::size_t>(grid.width()) * static_cast<std::size_t>(grid.height());
  return cells <= std::size_t{1} << 22 && repaired_words * 250 > cells;
}

// Calls visit with the rule as a compile-time constant.
template <typename Visitor>
auto WithRule(CornerRule rule, Visitor visit) {
  switch (rule) {
    case CornerRule::kNoCornerCutting:
      return visit.template operator()<CornerRule::kNoCornerCutting>();
    case CornerRule::kOneSideFree:
      return visit.template operator()<CornerRule::kOneSideFree>();
    case CornerRule::kAlways:
      return visit.template operator()<CornerRule::kAlways>();
  }
  return visit.template operator()<CornerRule::kNoCornerCutting>();
}

}  // namespace

// Makes the bits of all cells, a square of 64 diagonals by 64 rows at a time.
class DiagonalStops::Builder {
 public:
  Builder(DiagonalStops& stops, const WalkGrid& grid) : stops_(stops), grid_(grid) {}

  template <CornerRule kRule>
  void Run() {
    MarkRuns<kRule>();
    PlaneWriter<Word> writer(stops_.words_);
    const auto row_words = 2 * static_cast<std::size_t>(stops_.wrap_) / kWordBits + 4;
    std::array<std::vector<Word>, kWordBits> rows;
    rows.fill(std::vector<Word>(row_words));
    for (const Direction direction : kDiagonals) {
      for (int block = 0; block < stops_.blocks_; ++block) {
        for (int i = 0; i < kWordBits; ++i) {
          FillTwice<kRule>(direction, block * kWordBits - 1 + i, rows[static_cast<std::size_t>(i)]);
        }
        WriteBlock(direction, block, rows, writer);
      }
    }
  }

 private:
  // The cells from which a straight jump finds a jump point, by direction.
  template <CornerRule kRule>
  void MarkRuns() {
    east_ = west_ = BitPlane(grid_.width(), grid_.height(), false);
    BitPlaneWriter east(east_);
    BitPlaneWriter west(west_);
    RunEndsWriter row_ends(stops_.rows_);
    RunEndsWriter column_ends(stops_.columns_);
    for (int y = 0; y < grid_.height(); ++y) {
      MarkRunsToJumps<kRule>(
          RowLine(grid_, y), grid_.width(), east.row(y), west.row(y),
          [&](std::size_t i) { row_ends.FlipBeyond(Sense::kForward, y, i); },
          [&](std::size_t i) { row_ends.FlipBeyond(Sense::kBackward, y, i); });
    }
    BitPlane south(grid_.height(), grid_.width(), false);
    BitPlane north = south;
    BitPlaneWriter south_writer(south);
    BitPlaneWriter north_writer(north);
    for (int x = 0; x < grid_.width(); ++x) {
      MarkRunsToJumps<kRule>(
          ColumnLine(grid_, x), grid_.height(), south_writer.row(x), north_writer.row(x),
          [&](std::size_t i) { column_ends.FlipBeyond(Sense::kForward, x, i); },
          [&](std::size_t i) { column_ends.FlipBeyond(Sense::kBackward, x, i); });
    }
    south_ = Transposed(south);
    north_ = Transposed(north);
  }

  // The stops of row y, cell x at bit x and again at bit x + wrap_, so that 64 cells from any x on can be
  // read in one go.
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
      // Bit x + 1 of the row to bit x, up to the one off the map.
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
        // Where the first diagonal passes row y.
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

  DiagonalStops& stops_;
  const WalkGrid& grid_;
  BitPlane east_;
  BitPlane west_;
  BitPlane south_;
  BitPlane north_;
};

// Brings the bits up to date with changed cells.
class DiagonalStops::Repairer {
 public:
  Repairer(const DiagonalStops& before, DiagonalStops& stops, const WalkGrid& old, const WalkGrid& now)
      : before_(before), stops_(stops), old_(old), now_(now), writer_(stops.words_) {}

  template <CornerRule kRule>
  void Run(absl::Span<const WordChange> changes) {
    const Surroundings rows(changes, now_.width(), now_.height());
    const Surroundings columns(Turned(changes), now_.height(), now_.width());
    // Words of cells that ceased to find a jump point, beyond which their bits are left as they are.
    words_to_clear_ = 8 + 2 * (rows.words().size() + columns.words().size());
    Axis row_axis{before_.rows_, RunEndsWriter(stops_.rows_), stops_.rows_, true, now_.width()};
    Axis column_axis{before_.columns_, RunEndsWriter(stops_.columns_), stops_.columns_, false, now_.height()};
    RepairLines<kRule>(row_axis, rows.words());
    RepairLines<kRule>(column_axis, columns.words());
    for (const WordChange& word : rows.words()) {
      Remake<kRule>(word);
    }
    for (const Cleared& cleared : cleared_) {
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

  // Cells of a word of a row or column from which jumps in that sense find nothing any more.
  struct Cleared {
    bool is_row;
    Sense sense;
    WordChange cells;
  };

  // The same cells by column: y is the column and index that of a word of it.
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

  static LineBits LineOf(const WalkGrid& grid, bool is_row, int line) {
    return is_row ? RowLine(grid, line) : ColumnLine(grid, line);
  }

  template <CornerRule kRule>
  static WordRuns Runs(const LineBits& line, Sense sense, std::size_t i, bool beyond) {
    return sense == Sense::kForward ? ForwardRuns<kRule>(line, i, beyond)
                                    : BackwardRuns<kRule>(line, i, beyond);
  }

  // `touched` are words of lines along the axis, line by line.
  template <CornerRule kRule>
  void RepairLines(Axis& axis, absl::Span<const WordChange> touched) {
    while (!touched.empty()) {
      std::size_t count = 1;
      while (count < touched.size() && touched[count].y == touched[0].y) {
        ++count;
      }
      RepairLine<kRule>(axis, Sense::kForward, touched.first(count));
      RepairLine<kRule>(axis, Sense::kBackward, touched.first(count));
      touched.remove_prefix(count);
    }
  }

  // From where jumps in that sense end to where they come from: the touched words, and from each on as long
  // as what lies beyond has changed.
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

  // Cells of a word found a jump point `before`, and do `now`.
  void Settle(Axis& axis, Sense sense, int line, std::size_t place, Word before, Word now) {
    const Word all = SpanMask(place, 0, axis.length);
    const bool was_whole = axis.now.IsWhole(sense, line, place);
    const bool is_whole = now == all && (was_whole || before != all);
    if (is_whole != was_whole) {
      axis.writer.FlipWhole(sense, line, place);
      stops_.whole_words_ += is_whole ? 1 : -1;
    }
    // Of each cell nothing is said while the word is whole.
    const Word said_before = was_whole ? 0 : before;
    const Word said_now = is_whole ? 0 : now;
    const auto index = static_cast<std::int32_t>(place);
    PutAll(axis.is_rows, sense, {line, index, said_now & ~said_before});
    if (const Word removed = said_before & ~said_now; removed != 0 && words_to_clear_ > 0) {
      --words_to_clear_;
      cleared_.push_back({axis.is_rows, sense, {line, index, removed}});
    }
  }

  // Of the diagonal directions whose jumps look straight on in that sense, the one that steps to lower lines
  // (aside -1) or to higher ones (1).
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

  // The changed cells and those next to them.
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

  // Whether a straight jump from a position of line `number` finds a jump point. Not in whole words, which
  // say so themselves.
  template <CornerRule kRule>
  static bool Finds(const RunEnds& ends, const LineBits& line, int step, int number, int position) {
    const Sense sense = step > 0 ? Sense::kForward : Sense::kBackward;
    const auto bit = static_cast<unsigned>(position) + 1;
    const std::size_t place = bit / kWordBits;
    if (ends.IsWhole(sense, number, place)) {
      return false;
    }
    if (step > 0) {
      const Word stops = ForwardStops<kRule>(line, place) & ~Word{1} << (bit % kWordBits);
      return stops != 0 ? (line.own[place] & stops & -stops) != 0 : ends.LeadsBeyond(sense, number, place);
    }
    const Word stops = BackwardStops<kRule>(line, place) & ((Word{1} << (bit % kWordBits)) - 1);
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

  const DiagonalStops& before_;
  DiagonalStops& stops_;
  const WalkGrid& old_;
  const WalkGrid& now_;
  PlaneWriter<Word> writer_;
  // What was written to last.
  int row_written_ = -1;
  Word* words_written_ = nullptr;
  std::vector<Cleared> cleared_;
  std::size_t words_to_clear_ = 0;
};

DiagonalStops::DiagonalStops(const WalkGrid& grid, CornerRule rule)
    : rule_(rule),
      wrap_(grid.width() + 1),
      segments_((grid.width() >> kSegmentShift) + 1),
      blocks_((grid.height() + 1) / kWordBits + 1),
      words_(blocks_ * segments_ * 4,
             std::vector<Word>(std::min(static_cast<std::size_t>(wrap_), std::size_t{1} << kSegmentShift)),
             kBandBytes),
      rows_(grid.height(), grid.width()),
      columns_(grid.width(), grid.height()) {
  WithRule(rule, [&]<CornerRule kRule>() { Builder(*this, grid).Run<kRule>(); });
}

DiagonalStops::DiagonalStops(const DiagonalStops& before, const WalkGrid& old, const WalkGrid& now,
                             absl::Span<const WordChange> changes)
    : DiagonalStops(before) {
  repaired_words_ += changes.size();
  if (IsCheaperAnew(changes.size(), now) || IsDueAnew(repaired_words_, now)) {
    *this = DiagonalStops(now, rule_);
    return;
  }
  WithRule(rule_, [&]<CornerRule kRule>() { Repairer(before, *this, old, now).Run<kRule>(changes); });
}

std::size_t DiagonalStops::BytesBeyond(const DiagonalStops* other) const {
  static const Plane<Word> kNone;
  return words_.BytesBeyond(other == nullptr ? kNone : other->words_) +
         rows_.plane().BytesBeyond(other == nullptr ? kNone : other->rows_.plane()) +
         columns_.plane().BytesBeyond(other == nullptr ? kNone : other->columns_.plane());
}

}  // namespace waystar::core
