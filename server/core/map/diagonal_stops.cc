#include "server/core/map/diagonal_stops.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "server/core/map/grid_moves.h"
#include "server/core/map/jump_directions.h"
#include "server/core/map/straight_scan.h"
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
    const auto row_words = static_cast<std::size_t>(2 * stops_.wrap_ / kWordBits + 4);
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
    for (const WordChange& change : changes) {
      ForEachCell(change, [&](Cell cell) { RepairAround<kRule>(cell); });
    }
  }

 private:
  template <CornerRule kRule>
  void RepairAround(Cell cell) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        for (const Direction direction : kDiagonals) {
          Remake<kRule>(direction, {cell.x + dx, cell.y + dy});
        }
      }
    }
    for (int offset = -1; offset <= 1; ++offset) {
      RepairRow<kRule>({cell.x, cell.y + offset});
      RepairColumn<kRule>({cell.x + offset, cell.y});
    }
  }

  // The runs along the row of `middle` that come up to the three cells around it.
  template <CornerRule kRule>
  void RepairRow(Cell middle) {
    if (middle.y < 0 || middle.y >= now_.height()) {
      return;
    }
    const auto remake = [&](Direction first, Direction second) {
      return [=, this](int x) {
        Remake<kRule>(first, {x, middle.y});
        Remake<kRule>(second, {x, middle.y});
      };
    };
    VisitChangedRuns<kRule>(RowLine(old_, middle.y), RowLine(now_, middle.y), now_.width(), middle.x,
                            remake(Direction::kNorthEast, Direction::kSouthEast),
                            remake(Direction::kNorthWest, Direction::kSouthWest));
  }

  template <CornerRule kRule>
  void RepairColumn(Cell middle) {
    if (middle.x < 0 || middle.x >= now_.width()) {
      return;
    }
    const auto remake = [&](Direction first, Direction second) {
      return [=, this](int y) {
        Remake<kRule>(first, {middle.x, y});
        Remake<kRule>(second, {middle.x, y});
      };
    };
    VisitChangedRuns<kRule>(ColumnLine(old_, middle.x), ColumnLine(now_, middle.x), now_.height(), middle.y,
                            remake(Direction::kSouthEast, Direction::kSouthWest),
                            remake(Direction::kNorthEast, Direction::kNorthWest));
  }

  template <CornerRule kRule>
  void Remake(Direction direction, Cell cell) {
    if (!now_.Contains(cell)) {
      return;
    }
    const bool stop = MustStop<kRule>(direction, cell);
    const int diagonal = stops_.DiagonalOf(direction, cell);
    const int block = (cell.y + 1) / kWordBits;
    const Word bit = Word{1} << ((cell.y + 1) % kWordBits);
    if (((*stops_.At(direction, diagonal, block) & bit) != 0) != stop) {
      writer_.row(stops_.RowOf(direction, diagonal, block))[PlaceOf(diagonal)] ^= bit;
    }
  }

  template <CornerRule kRule>
  bool MustStop(Direction direction, Cell cell) const {
    const auto bit = static_cast<unsigned>(cell.x) + 1;
    if ((StopsNearby<kRule>(now_, direction, cell.y, bit / kWordBits) >> (bit % kWordBits) & 1U) != 0) {
      return true;
    }
    const Cell step = kSteps[static_cast<std::size_t>(direction)];
    const Line row = RowLine(now_, cell.y);
    if (step.x > 0 ? FindsJump<kRule, 1>(row, cell.x) : FindsJump<kRule, -1>(row, cell.x)) {
      return true;
    }
    const Line column = ColumnLine(now_, cell.x);
    return step.y > 0 ? FindsJump<kRule, 1>(column, cell.y) : FindsJump<kRule, -1>(column, cell.y);
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
             std::vector<Word>(std::min(static_cast<std::size_t>(wrap_), std::size_t{1} << kSegmentShift))) {
  WithRule(rule, [&]<CornerRule kRule>() { Builder(*this, grid).Run<kRule>(); });
}

DiagonalStops::DiagonalStops(const DiagonalStops& before, const WalkGrid& old, const WalkGrid& now,
                             absl::Span<const WordChange> changes)
    : DiagonalStops(before) {
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
