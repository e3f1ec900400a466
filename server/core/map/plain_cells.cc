#include "server/core/map/plain_cells.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "server/core/map/canonical_steps.h"
#include "server/core/map/corner_rule.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/grid_settings.h"
#include "server/core/map/nearby_costs.h"
#include "server/core/map/neighbourhood.h"
#include "server/core/map/transpose.h"

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
  explicit Judge(const GridMap& map) : map_(map) {}

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

  const GridMap& map_;
  std::array<Memory, std::size_t{1} << kMemoryBits> memories_;
};

}  // namespace

PlainCells::PlainCells(const GridMap& map) {
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
    for (int x = 0; x < map.width(); ++x) {
      const Plainness plainness = judge.Of({x, y});
      AssignBit(along_row, x, plainness.along_row);
      AssignBit(along_column, x, plainness.along_column);
      AssignBit(diagonal, x, plainness.diagonally);
    }
  }
  along_columns_ = Transposed(along_columns);
}

PlainCells::PlainCells(const PlainCells& before, const GridMap& map, absl::Span<const WordChange> changes)
    : PlainCells(before) {
  BitPlaneWriter rows(along_rows_);
  BitPlaneWriter columns(along_columns_);
  BitPlaneWriter diagonally(diagonally_);
  Judge judge(map);
  const auto judge_again = [&](Cell cell) {
    if (map.Contains(cell)) {
      const Plainness plainness = judge.Of(cell);
      AssignBit(rows.row(cell.y), cell.x, plainness.along_row);
      AssignBit(columns.row(cell.x), cell.y, plainness.along_column);
      AssignBit(diagonally.row(cell.y), cell.x, plainness.diagonally);
    }
  };
  for (const WordChange& change : changes) {
    const Word flipped = change.flipped;
    for (int y = change.y - 1; y <= change.y + 1; ++y) {
      const Word near = flipped | flipped << 1 | flipped >> 1;
      ForEachCell({y, change.index, near}, judge_again);
      ForEachCell({y, change.index + 1, flipped >> (kWordBits - 1)}, judge_again);
      ForEachCell({y, change.index - 1, flipped << (kWordBits - 1)}, judge_again);
    }
  }
}

}  // namespace waystar::core
