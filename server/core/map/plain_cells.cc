#include "server/core/map/plain_cells.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/grid/transpose.h"
#include "server/core/jump_index/surroundings.h"
#include "server/core/map/canonical_steps.h"
#include "server/core/map/eight_cells.h"
#include "server/core/map/neighbourhood.h"

namespace waystar::core {
namespace {

struct Plainness {
  bool along_row = false;
  bool along_column = false;
  bool diagonally = false;
};

constexpr Plainness kPlain = {.along_row = true, .along_column = true, .diagonally = true};

// Judges cells, remembering neighbourhoods seen lately: the same few come again and again.
class Judge {
 public:
  explicit Judge(const GridCells& map) : map_(map) {}

  Plainness Of(Cell cell) {
    if (map_.cell_costs() != nullptr && map_.cell_costs()->MayHaveNear(cell)) {
      const NearbyCosts costs(map_, cell);
      if (costs.has_own) {
        return costs.IsUniform() ? kPlain : Plainness{};
      }
    }
    const Neighbourhood around(map_, cell);
    if (around.centre() == Neighbourhood::kNotWalkable) {
      return {};
    }
    if (around.IsUniform()) {
      return kPlain;
    }
    Memory& memory = memories_[around.Hash() >> (64 - kMemoryBits)];
    if (memory.around != around) {
      memory = {around, Of(around)};
    }
    return memory.plainness;
  }

 private:
  struct Memory {
    std::optional<Neighbourhood> around;
    Plainness plainness;
  };
  static constexpr unsigned kMemoryBits = 8;

  Plainness Of(const Neighbourhood& around) const {
    const auto has_cost_of_centre = [&](Direction direction) {
      const TerrainId terrain = around.At(direction);
      const StepCosts& costs = map_.step_costs();
      return terrain != Neighbourhood::kNotWalkable &&
             costs.straight[terrain] == costs.straight[around.centre()];
    };
    const auto is_plain_along = [&](Direction a, Direction b) {
      return has_cost_of_centre(a) && has_cost_of_centre(b) && IsNaturalAfter(around, a) &&
             IsNaturalAfter(around, b);
    };
    bool diagonally = true;
    for (unsigned d = 1; d < kDirectionCount && diagonally; d += 2) {
      const auto direction = static_cast<Direction>(d);
      diagonally = around.At(direction) != Neighbourhood::kNotWalkable && IsNaturalAfter(around, direction);
    }
    return {.along_row = is_plain_along(Direction::kEast, Direction::kWest),
            .along_column = is_plain_along(Direction::kNorth, Direction::kSouth),
            .diagonally = diagonally};
  }

  bool IsNaturalAfter(const Neighbourhood& around, Direction arrival) const {
    for (const CornerRule rule :
         {CornerRule::kNoCornerCutting, CornerRule::kOneSideFree, CornerRule::kAlways}) {
      if (CanonicalSteps(around, map_.step_costs(), rule, arrival) != NaturalSteps(arrival)) {
        return false;
      }
    }
    return true;
  }

  const GridCells& map_;
  std::array<Memory, std::size_t{1} << kMemoryBits> memories_;
};

// Returns the cells of a word of row y that have the same terrain as the eight around them. REQUIRES: there
// are rows above and below. What it returns for the first and the last cell of a row means nothing.
Word AmidOneTerrain(const GridCells& map, int y, std::size_t index) {
  // Terrains are below 0x80: this carries into the highest bit of a byte that is not 0.
  static_assert(kMaxTerrains <= 0x80);
  constexpr std::uint64_t kCarry = EightTimes(0x7F);
  Word cells = 0;
  for (int i = 0; i < kWordBits; i += kEight) {
    const int x = static_cast<int>(index) * kWordBits - 1 + i;
    const std::uint64_t own = EightCells(map.TerrainRow(y), map.width(), x);
    std::uint64_t others = 0;
    for (int row = y - 1; row <= y + 1; ++row) {
      for (int first = x - 1; first <= x + 1; ++first) {
        others |= own ^ EightCells(map.TerrainRow(row), map.width(), first);
      }
    }
    cells |= HighBits(~(others + kCarry)) << i;
  }
  return cells;
}

// Returns cells of a word of row y that are plain for sure: those amid nine walkable ones of one terrain, or
// of any if all cost the same. That is most cells of most maps.
Word SurelyPlain(const GridCells& map, int y, std::size_t index) {
  const BitPlane::ThreeRows rows = map.walkable().RowsAround(y);
  const auto all_three = [&](std::size_t i) { return rows.low[i] & rows.own[i] & rows.high[i]; };
  const Word here = all_three(index);
  const Word before = index == 0 ? 0 : all_three(index - 1);
  const Word after = all_three(index + 1);
  Word plain = here & (here << 1 | before >> (kWordBits - 1)) & (here >> 1 | after << (kWordBits - 1));
  if (plain != 0 && !map.step_costs().uniform) {
    plain &= AmidOneTerrain(map, y, index);
  }
  if (map.cell_costs() != nullptr) {
    ForEachCell({y, static_cast<std::int32_t>(index), plain}, [&](Cell cell) {
      if (map.cell_costs()->MayHaveNear(cell)) {
        plain ^= Word{1} << (static_cast<unsigned>(cell.x + 1) % kWordBits);
      }
    });
  }
  return plain;
}

}  // namespace

PlainCells::PlainCells(const GridCells& map) {
  BitPlane along_columns(map.width(), map.height(), false);
  along_rows_ = along_columns;
  diagonally_ = along_columns;
  BitPlaneWriter rows(along_rows_);
  BitPlaneWriter columns(along_columns);
  BitPlaneWriter diagonally(diagonally_);
  Judge judge(map);
  for (int y = 0; y < map.height(); ++y) {
    Word* along_row = rows.row(y);
    Word* along_column = columns.row(y);
    Word* diagonal = diagonally.row(y);
    ForEachWord(0, map.width(), [&](std::size_t i, Word) {
      const Word plain = SurelyPlain(map, y, i);
      along_row[i] = along_column[i] = diagonal[i] = plain;
      ForEachCell({y, static_cast<std::int32_t>(i), map.walkable().word(y, i) & ~plain}, [&](Cell cell) {
        const Plainness plainness = judge.Of(cell);
        AssignBit(along_row, cell.x, plainness.along_row);
        AssignBit(along_column, cell.x, plainness.along_column);
        AssignBit(diagonal, cell.x, plainness.diagonally);
      });
    });
  }
  along_columns_ = Transposed(along_columns);
}

PlainCells::PlainCells(const PlainCells& before, const GridCells& map, absl::Span<const WordChange> changes)
    : PlainCells(before) {
  BitPlaneWriter rows(along_rows_);
  BitPlaneWriter columns(along_columns_);
  BitPlaneWriter diagonally(diagonally_);
  Judge judge(map);
  const Surroundings around(changes, map.width(), map.height());
  for (const WordChange& word : around.words()) {
    ForEachCell(word, [&](Cell cell) {
      const Plainness plainness = judge.Of(cell);
      AssignBit(rows.row(cell.y), cell.x, plainness.along_row);
      AssignBit(columns.row(cell.x), cell.y, plainness.along_column);
      AssignBit(diagonally.row(cell.y), cell.x, plainness.diagonally);
    });
  }
}

}  // namespace waystar::core
