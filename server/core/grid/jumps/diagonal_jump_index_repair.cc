#include <algorithm>
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
namespace {

// Returns the same cells by column, in ascending order: y is the column and index the word in it.
std::vector<WordChange> Turned(absl::Span<const WordChange> changes) {
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
  std::ranges::sort(turned, {}, &WordChange::place);
  return turned;
}

}  // namespace

// Updates the index for changed cells: first the cells that find a jump point, then the stops.
class DiagonalJumpIndex::Repairer {
 public:
  Repairer(DiagonalJumpIndex& stops, const WalkCells& now, CancelFlag cancelled)
      : stops_(stops), now_(now), cancelled_(cancelled), writer_(stops.words_) {}

  template <CornerRule kRule>
  void Run(absl::Span<const WordChange> changes) {
    const Surroundings rows(changes, now_.width(), now_.height());
    const Surroundings columns(Turned(changes), now_.height(), now_.width());
    RepairLines<kRule>(true, rows.words());
    RepairLines<kRule>(false, columns.words());
    for (const Lost& lost : lost_) {
      if (IsCancelled(cancelled_)) {
        return;
      }
      TakeOff<kRule>(lost);
    }
    for (const WordChange& word : rows.words()) {
      if (IsCancelled(cancelled_)) {
        return;
      }
      Remake<kRule>(word);
    }
    stops_.repair_work_ = work_;
  }

 private:
  // Work in look-arounds: of making and freeing versions of all planes, and of a first write to a row of
  // stops. A cell whose other axis is looked up costs less than one.
  static constexpr std::uint64_t kFixedWork = 60;
  static constexpr std::uint64_t kWorkPerRow = 3;
  static constexpr std::uint64_t kCellsPerWork = 8;

  // Cells of a word of a row or column from which jumps in that sense no longer find anything.
  struct Lost {
    bool is_row;
    Sense sense;
    WordChange cells;
  };

  LineBits LineOf(bool is_row, int line) const {
    return is_row ? RowLine(now_, line) : ColumnLine(now_, line);
  }
  Finds& FindsOf(bool is_row) { return is_row ? stops_.finds_in_rows_ : stops_.finds_in_columns_; }

  // Repairs the lines of an axis. `touched` lists their changed words and those around, line by line.
  template <CornerRule kRule>
  void RepairLines(bool is_row, absl::Span<const WordChange> touched) {
    const int length = is_row ? now_.width() : now_.height();
    auto& [forward, backward] = FindsOf(is_row).cells;
    BitPlaneWriter forward_writer(forward);
    BitPlaneWriter backward_writer(backward);
    while (!touched.empty() && !IsCancelled(cancelled_)) {
      std::size_t count = 1;
      while (count < touched.size() && touched[count].y == touched[0].y) {
        ++count;
      }
      const auto settle = [&](Sense sense) {
        return [&, sense](int line, std::size_t place, Word before, Word now) {
          (sense == Sense::kForward ? forward_writer : backward_writer).row(line)[place] = now;
          Settle(is_row, sense, {line, static_cast<std::int32_t>(place), before ^ now}, now);
        };
      };
      const LineBits line = LineOf(is_row, touched[0].y);
      RepairLine<kRule, 1>(line, length, forward, touched.first(count), work_, settle(Sense::kForward));
      RepairLine<kRule, -1>(line, length, backward, touched.first(count), work_, settle(Sense::kBackward));
      touched.remove_prefix(count);
    }
  }

  // Repairs a line against the direction of jumps: the touched words and, after each, further words as long
  // as a run that enters the word from them finds a jump point where it found none, or the reverse. Calls
  // settle(line, place, before, now) for each word whose cells that find a jump point have changed, and adds
  // the words looked at to `work`.
  template <CornerRule kRule, int kStep, typename Settle>
  static void RepairLine(const LineBits& line, int length, const BitPlane& finds,
                         absl::Span<const WordChange> touched, std::uint64_t& work, Settle settle) {
    const int number = touched[0].y;
    const int end = kStep > 0 ? -1 : WordsPerRow(length) - 1;
    const auto nth = [&](std::size_t n) { return touched[kStep > 0 ? touched.size() - 1 - n : n].index; };
    for (std::size_t next = 0; next < touched.size();) {
      int i = nth(next);
      bool leads = LeadsFrom<kRule, kStep>(line, length, finds, number, i + kStep);
      bool is_touched = true;
      do {
        next += is_touched ? 1 : 0;
        ++work;
        const auto place = static_cast<std::size_t>(i);
        const Word before = finds.row(number)[place];
        const WordRuns now = RunsInWord<kRule, kStep>(line, place, leads);
        if (now.finds != before) {
          settle(number, place, before, now.finds);
        }
        leads = now.leads;
        i -= kStep;
        is_touched = next < touched.size() && nth(next) == i;
      } while (i != end && (is_touched || EntersDifferently<kStep>(line, finds.row(number), i, leads)));
    }
  }

  // Returns true if jumps from word i of a line into the next word, which find a jump point if `leads`, found
  // none before, or the reverse. `finds` is not up to date in the word, none of whose cells is touched.
  template <int kStep>
  static bool EntersDifferently(const LineBits& line, const Word* finds, int i, bool leads) {
    const auto place = static_cast<std::size_t>(i);
    constexpr int kLast = kStep > 0 ? kWordBits - 1 : 0;
    return ((line.own[place] & (finds[place] ^ (leads ? ~Word{0} : 0))) >> kLast & 1U) != 0;
  }

  // Returns true if a run that enters word i of a line finds a jump point. `finds` is up to date in the word.
  template <CornerRule kRule, int kStep>
  static bool LeadsFrom(const LineBits& line, int length, const BitPlane& finds, int number, int i) {
    if (i < 0 || i >= WordsPerRow(length) - 1) {
      return false;
    }
    const auto place = static_cast<std::size_t>(i);
    constexpr int kFirst = kStep > 0 ? 0 : kWordBits - 1;
    const Word stops = RunStops<kRule, kStep>(line, place);
    const Word ends = (stops & line.own[place]) | (~stops & finds.row(number)[place]);
    return (ends >> kFirst & 1U) != 0;
  }

  // Updates the stops for the flipped cells of a word: jumps from those in `now` have come to find a jump
  // point, jumps from the others no longer find any.
  void Settle(bool is_row, Sense sense, const WordChange& word, Word now) {
    for (const int aside : {-1, 1}) {
      Put(DirectionTo(is_row, sense, aside), is_row, {word.y, word.index, word.flipped & now}, true);
    }
    if (const Word lost = word.flipped & ~now; lost != 0) {
      lost_.push_back({is_row, sense, {word.y, word.index, lost}});
    }
  }

  // Returns the diagonal direction that steps along a line in that sense and to a line of lower (aside -1) or
  // higher number (1).
  static Direction DirectionTo(bool is_row, Sense sense, int aside) {
    const int along = sense == Sense::kForward ? 1 : -1;
    return DirectionOf(is_row ? Cell{along, aside} : Cell{aside, along});
  }

  // Takes stops off that nothing else demands.
  template <CornerRule kRule>
  void TakeOff(const Lost& lost) {
    WordChange cells = lost.cells;
    const LineBits line = LineOf(lost.is_row, cells.y);
    for (const int aside : {-1, 1}) {
      const Word nearby = StopsNearby<kRule>(line, lost.sense == Sense::kForward ? 1 : -1, aside,
                                             static_cast<std::size_t>(cells.index));
      cells.flipped = lost.cells.flipped & ~nearby;
      cells.flipped &= ~DemandedAcross(lost.is_row, SenseOf(aside), cells);
      Put(DirectionTo(lost.is_row, lost.sense, aside), lost.is_row, cells, false);
    }
  }

  // Remakes the stops of the flipped cells of a word of a row.
  template <CornerRule kRule>
  void Remake(const WordChange& word) {
    const auto place = static_cast<std::size_t>(word.index);
    const LineBits row = RowLine(now_, word.y);
    const std::array<Word, 2> across = {DemandedAcross(true, Sense::kForward, word),
                                        DemandedAcross(true, Sense::kBackward, word)};
    for (const Direction direction : kDiagonals) {
      const Cell step = kSteps[static_cast<std::size_t>(direction)];
      const Word demanded = StopsNearby<kRule>(row, step.x, step.y, place) |
                            stops_.finds_in_rows_.To(SenseOf(step.x)).row(word.y)[place] |
                            across[static_cast<std::size_t>(SenseOf(step.y))];
      const Word differing = (demanded ^ StopsIn(direction, word)) & word.flipped;
      Put(direction, true, {word.y, word.index, differing & demanded}, true);
      Put(direction, true, {word.y, word.index, differing & ~demanded}, false);
    }
  }

  // Returns the stops among the flipped cells of a word of a row.
  Word StopsIn(Direction direction, const WordChange& word) const {
    const int block = (word.y + 1) / kWordBits;
    Word found = 0;
    ForEachRun(word.flipped, [&](BitRun run) {
      const int first = stops_.DiagonalOf(direction, {word.index * kWordBits + run.begin - 1, word.y});
      int bit = run.begin;
      ForEachPiece<1>(first, run.end - run.begin, [&](int diagonal, int count) {
        const Word* at = stops_.At(direction, diagonal, block);
        for (int i = 0; i < count; ++i, ++bit) {
          found |= Word{TestBitOfWord(at[i], word.y)} << bit;
        }
      });
    });
    return found;
  }

  // Returns those of the cells, in a word of a row or column, that need a stop because a jump across it,
  // along the line of the other axis, finds a jump point.
  Word DemandedAcross(bool is_row, Sense sense, const WordChange& cells) {
    const BitPlane& finds = FindsOf(!is_row).To(sense);
    const auto place = WordOf(cells.y);
    Word demanded = 0;
    std::uint64_t count = 0;
    for (Word left = cells.flipped; left != 0; left &= left - 1, ++count) {
      const int bit = std::countr_zero(left);
      const int line = cells.index * kWordBits + bit - 1;
      demanded |= Word{TestBitOfWord(finds.row(line)[place], cells.y)} << bit;
    }
    work_ += count / kCellsPerWork;
    return demanded;
  }

  // Sets or clears the stops of cells of a word of a row or column. Cells that are adjacent along it lie on
  // adjacent diagonals.
  void Put(Direction direction, bool is_row, const WordChange& cells, bool stop) {
    const bool falls = direction == Direction::kSouthEast || direction == Direction::kNorthWest;
    ForEachRun(cells.flipped, [&](BitRun run) {
      ++work_;
      const int position = cells.index * kWordBits + run.begin - 1;
      const Cell cell = is_row ? Cell{position, cells.y} : Cell{cells.y, position};
      const Word first = Word{1} << ((cell.y + 1) % kWordBits);
      const int block = (cell.y + 1) / kWordBits;
      const int diagonal = stops_.DiagonalOf(direction, cell);
      const int count = run.end - run.begin;
      if (is_row) {
        Fill<1, 0>(direction, block, diagonal, first, count, stop);
      } else if (falls) {
        Fill<-1, 1>(direction, block, diagonal, first, count, stop);
      } else {
        Fill<1, 1>(direction, block, diagonal, first, count, stop);
      }
    });
  }

  // Sets or clears a bit in each of `count` words of a block: of diagonals that follow each other in steps of
  // kStep, with each bit kShift higher than the one before.
  template <int kStep, int kShift>
  void Fill(Direction direction, int block, int first, Word bit, int count, bool stop) {
    ForEachPiece<kStep>(first, count, [&](int diagonal, int steps) {
      Word* word = RowToWrite(stops_.RowOf(direction, diagonal, block)) + PlaceOf(diagonal);
      for (int i = 0; i < steps; ++i) {
        word[i * kStep] = stop ? word[i * kStep] | bit : word[i * kStep] & ~bit;
        bit <<= kShift;
      }
    });
  }

  // Calls visit(diagonal, count) for each piece of `count` diagonals, in steps of kStep from the first, whose
  // words are adjacent.
  template <int kStep, typename Visitor>
  void ForEachPiece(int diagonal, int count, Visitor visit) const {
    constexpr int kSegment = 1 << kSegmentShift;
    while (count > 0) {
      const int in_segment = diagonal % kSegment;
      const int room = kStep > 0 ? std::min(stops_.wrap_ - diagonal, kSegment - in_segment) : in_segment + 1;
      const int steps = std::min(count, room);
      visit(diagonal, steps);
      count -= steps;
      diagonal += steps * kStep;
      if (diagonal == stops_.wrap_) {
        diagonal = 0;
      } else if (diagonal < 0) {
        diagonal = stops_.wrap_ - 1;
      }
    }
  }

  Word* RowToWrite(int row) {
    if (row != row_written_) {
      work_ += kWorkPerRow;
      row_written_ = row;
      words_written_ = writer_.row(row);
    }
    return words_written_;
  }

  DiagonalJumpIndex& stops_;
  const WalkCells& now_;
  const CancelFlag cancelled_;
  PlaneWriter<Word> writer_;
  // Row of words last written to, and its number.
  int row_written_ = -1;
  Word* words_written_ = nullptr;
  std::vector<Lost> lost_;
  // Work so far, in look-arounds.
  std::uint64_t work_ = kFixedWork;
};

void DiagonalJumpIndex::Repair(const WalkCells& now, absl::Span<const WordChange> changes,
                               CancelFlag cancelled) {
  WithRule(rule_, [&]<CornerRule kRule>() { Repairer(*this, now, cancelled).Run<kRule>(changes); });
}

}  // namespace waystar::core
