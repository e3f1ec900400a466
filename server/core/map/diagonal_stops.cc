#include "server/core/map/diagonal_stops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/map/grid_moves.h"
#include "server/core/map/jump_directions.h"
#include "server/core/map/straight_scan.h"
#include "server/core/map/surroundings.h"
#include "server/core/map/transpose.h"
#include "server/core/map/walk_grid.h"

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

// For word i of row y, the cells where a jump in that direction stops for what is next to them: walls, and
// forced neighbours.
template <CornerRule kRule>
Word StopsNearby(const WalkGrid& grid, Direction direction, int y, std::size_t i) {
  const Cell step = kSteps[static_cast<std::size_t>(direction)];
  const Word* own = grid.Row(y);
  const Word* ahead = grid.Row(y + step.y);
  const Word* behind = grid.Row(y - step.y);
  const Word next_beside = Shifted(own, i, step.x);
  const Word next_ahead = Shifted(ahead, i, step.x);
  switch (kRule) {
    case CornerRule::kNoCornerCutting:
      return ~(own[i] & next_ahead & next_beside & ahead[i]);
    case CornerRule::kOneSideFree:
      return ~(own[i] & next_ahead & (next_beside | ahead[i])) |
             (~Shifted(own, i, -step.x) & Shifted(ahead, i, -step.x) & ahead[i]) |
             (~behind[i] & Shifted(behind, i, step.x) & next_beside);
    case CornerRule::kAlways:
      return ~(own[i] & next_ahead) | (~Shifted(own, i, -step.x) & Shifted(ahead, i, -step.x)) |
             (~behind[i] & Shifted(behind, i, step.x));
  }
}

// To repair a changed cell costs some 50 times as much as to make one.
bool IsCheaperAnew(absl::Span<const WordChange> changes, const WalkGrid& grid) {
  std::int64_t changed = 0;
  for (const WordChange& change : changes) {
    changed += std::popcount(change.flipped);
  }
  return changed * 50 > std::int64_t{grid.width()} * grid.height();
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
    for (int y = 0; y < grid_.height(); ++y) {
      MarkRunsToJumps<kRule>(RowLine(grid_, y), grid_.width(), east.row(y), west.row(y));
    }
    BitPlane south(grid_.height(), grid_.width(), false);
    BitPlane north = south;
    BitPlaneWriter south_writer(south);
    BitPlaneWriter north_writer(north);
    for (int x = 0; x < grid_.width(); ++x) {
      MarkRunsToJumps<kRule>(ColumnLine(grid_, x), grid_.height(), south_writer.row(x), north_writer.row(x));
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
    const auto words = static_cast<std::size_t>(WordsPerRow(grid_.width())) - 1;
    const auto wrap = static_cast<std::size_t>(stops_.wrap_);
    for (std::size_t i = 0; i < words; ++i) {
      Word bits = StopsNearby<kRule>(grid_, direction, y, i) | sideways[i] | upright[i];
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

// Makes anew the bits that changed cells can have changed.
class DiagonalStops::Repairer {
 public:
  Repairer(DiagonalStops& stops, const WalkGrid& old, const WalkGrid& now)
      : stops_(stops), old_(old), now_(now), writer_(stops.words_) {}

  template <CornerRule kRule>
  void Run(absl::Span<const WordChange> changes) {
    const Surroundings surroundings(changes, now_.width(), now_.height());
    for (const WordChange& word : surroundings.words()) {
      for (const Direction direction : kDiagonals) {
        RemakeWord<kRule>(direction, word);
      }
      RepairRuns<kRule>(surroundings, word);
    }
  }

 private:
  // The runs that lead up to the surroundings of what changed.
  template <CornerRule kRule>
  void RepairRuns(const Surroundings& surroundings, const WordChange& word) {
    const Line old_row = RowLine(old_, word.y);
    const Line row = RowLine(now_, word.y);
    const auto along_row = [&](Direction first, Direction second) {
      return [=, this](int x, bool finds) {
        Remake<kRule>(first, {x, word.y}, finds);
        Remake<kRule>(second, {x, word.y}, finds);
      };
    };
    surroundings.ForEachWestEnd(word, [&](Cell end) {
      VisitForwardRun<kRule>(old_row, row, end.x - 1,
                             along_row(Direction::kNorthEast, Direction::kSouthEast));
    });
    surroundings.ForEachEastEnd(word, [&](Cell end) {
      VisitBackwardRun<kRule>(old_row, row, now_.width(), end.x + 1,
                              along_row(Direction::kNorthWest, Direction::kSouthWest));
    });
    const auto along_column = [&](int x, Direction first, Direction second) {
      return [=, this](int y, bool finds) {
        Remake<kRule>(first, {x, y}, finds);
        Remake<kRule>(second, {x, y}, finds);
      };
    };
    surroundings.ForEachNorthEnd(word, [&](Cell end) {
      VisitForwardRun<kRule>(ColumnLine(old_, end.x), ColumnLine(now_, end.x), end.y - 1,
                             along_column(end.x, Direction::kSouthEast, Direction::kSouthWest));
    });
    surroundings.ForEachSouthEnd(word, [&](Cell end) {
      VisitBackwardRun<kRule>(ColumnLine(old_, end.x), ColumnLine(now_, end.x), now_.height(), end.y + 1,
                              along_column(end.x, Direction::kNorthEast, Direction::kNorthWest));
    });
  }

  template <CornerRule kRule>
  void RemakeWord(Direction direction, const WordChange& word) {
    const Word nearby = StopsNearby<kRule>(now_, direction, word.y, static_cast<std::size_t>(word.index));
    ForEachCell({word.y, word.index, word.flipped & nearby}, [&](Cell cell) { Put(direction, cell, true); });
    ForEachCell({word.y, word.index, word.flipped & ~nearby},
                [&](Cell cell) { Put(direction, cell, SeesJump<kRule>(direction, cell)); });
  }

  // A cell on a run to one side of the diagonal that finds a jump point or no longer does.
  template <CornerRule kRule>
  void Remake(Direction direction, Cell cell, bool finds) {
    if (finds) {
      Put(direction, cell, true);
    } else {
      RemakeWord<kRule>(direction, WordOf(cell));
    }
  }

  static WordChange WordOf(Cell cell) {
    const int bit = cell.x + 1;
    return {cell.y, bit / kWordBits, Word{1} << (bit % kWordBits)};
  }

  template <CornerRule kRule>
  bool SeesJump(Direction direction, Cell cell) const {
    const Cell step = kSteps[static_cast<std::size_t>(direction)];
    const Line row = RowLine(now_, cell.y);
    if (step.x > 0 ? FindsJump<kRule, 1>(row, cell.x) : FindsJump<kRule, -1>(row, cell.x)) {
      return true;
    }
    const Line column = ColumnLine(now_, cell.x);
    return step.y > 0 ? FindsJump<kRule, 1>(column, cell.y) : FindsJump<kRule, -1>(column, cell.y);
  }

  void Put(Direction direction, Cell cell, bool stop) {
    const int diagonal = stops_.DiagonalOf(direction, cell);
    const int block = (cell.y + 1) / kWordBits;
    const Word bit = Word{1} << ((cell.y + 1) % kWordBits);
    if (((*stops_.At(direction, diagonal, block) & bit) != 0) != stop) {
      writer_.row(stops_.RowOf(direction, diagonal, block))[PlaceOf(diagonal)] ^= bit;
    }
  }

  DiagonalStops& stops_;
  const WalkGrid& old_;
  const WalkGrid& now_;
  PlaneWriter<Word> writer_;
};

DiagonalStops::DiagonalStops(const WalkGrid& grid, CornerRule rule)
    : rule_(rule),
      height_(grid.height()),
      wrap_(grid.width() + 1),
      segments_((grid.width() >> kSegmentShift) + 1),
      blocks_((grid.height() + 1) / kWordBits + 1),
      words_(blocks_ * segments_ * 4,
             std::vector<Word>(std::min(static_cast<std::size_t>(wrap_), std::size_t{1} << kSegmentShift)),
             kBandBytes) {
  WithRule(rule, [&]<CornerRule kRule>() { Builder(*this, grid).Run<kRule>(); });
}

DiagonalStops::DiagonalStops(const DiagonalStops& before, const WalkGrid& old, const WalkGrid& now,
                             absl::Span<const WordChange> changes)
    : DiagonalStops(before) {
  if (IsCheaperAnew(changes, now)) {
    *this = DiagonalStops(now, rule_);
    return;
  }
  WithRule(rule_, [&]<CornerRule kRule>() { Repairer(*this, old, now).Run<kRule>(changes); });
}

bool operator==(const DiagonalStops& a, const DiagonalStops& b) {
  if (a.rule_ != b.rule_ || a.height_ != b.height_ || a.wrap_ != b.wrap_) {
    return false;
  }
  for (const Direction direction : kDiagonals) {
    for (int diagonal = 0; diagonal < a.wrap_; ++diagonal) {
      for (int block = 0; block < a.blocks_; ++block) {
        if (*a.At(direction, diagonal, block) != *b.At(direction, diagonal, block)) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace waystar::core
