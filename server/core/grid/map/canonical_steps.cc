#include "server/core/grid/map/canonical_steps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cell_costs.h"

namespace waystar::core {
namespace {

// Rank of a path in the canonical order. From the highest bits down: its cost (at most 2^41 for eight steps),
// 4 bits for its number of steps, 4 for its number of diagonal steps, and one bit per step, first step
// highest, set if the step is straight.
using Rank = std::uint64_t;
constexpr Rank kNoPath = std::numeric_limits<Rank>::max();
constexpr int kCostShift = 16;
constexpr int kStepsShift = 12;
constexpr Rank kOneStep = Rank{1} << kStepsShift;
constexpr Rank kDiagonal = Rank{1} << 8;
constexpr Rank kFirstIsStraight = Rank{1} << 7;

class Ring {
 public:
  Ring(const NearbyCosts& costs, CornerRule rule) : rule_(rule), entry_(costs.around), centre_(costs.centre) {
    for (unsigned d = 0; d < kDirectionCount; ++d) {
      free_[d] = entry_[d].straight != 0;
    }
  }

  DirectionSet StepsAfter(Direction arrival) {
    const auto before = static_cast<unsigned>(Opposite(arrival));
    if (IsDiagonal(arrival) && IsDetourCheaper(before, centre_)) {
      return 0;
    }
    const Rank to_centre = IsDiagonal(arrival) ? Diagonally(0, centre_) : Straight(0, centre_);
    const std::array<Rank, kDirectionCount> clockwise = Around(before, 1);
    const std::array<Rank, kDirectionCount> counterclockwise = Around(before, kDirectionCount - 1);
    unsigned steps = 0;
    for (unsigned d = 0; d < kDirectionCount; ++d) {
      if (d == before || !IsLegal(d) || (IsCorner(d) && IsDetourCheaper(d, entry_[d]))) {
        continue;
      }
      const Rank via_centre = IsCorner(d) ? Diagonally(to_centre, entry_[d]) : Straight(to_centre, entry_[d]);
      if (via_centre <= std::min(clockwise[d], counterclockwise[d])) {
        steps |= 1U << d;
      }
    }
    return static_cast<DirectionSet>(steps);
  }

 private:
  using Entry = CellCosts::Entry;

  static bool IsCorner(unsigned d) { return IsDiagonal(static_cast<Direction>(d)); }

  static Rank Straight(Rank rank, const Entry& entered) {
    const Rank steps = rank >> kStepsShift & 0xFU;
    return rank + (static_cast<Rank>(entered.straight) << kCostShift) + kOneStep +
           (kFirstIsStraight >> steps);
  }

  static Rank Diagonally(Rank rank, const Entry& entered) {
    return rank + (static_cast<Rank>(entered.diagonal) << kCostShift) + kOneStep + kDiagonal;
  }

  // Returns true if two straight steps between the centre and a corner cost less than the diagonal step.
  // `entered` is the cell that the two steps lead to.
  bool IsDetourCheaper(unsigned corner, const Entry& entered) const {
    const auto is_cheaper_over = [&](unsigned side) {
      return free_[side] && entry_[side].straight + entered.straight < entered.diagonal;
    };
    return is_cheaper_over((corner + 1) % kDirectionCount) ||
           is_cheaper_over((corner + kDirectionCount - 1) % kDirectionCount);
  }

  // Returns true if the corner rule allows the step from the centre to a neighbour.
  bool IsLegal(unsigned d) const {
    if (!free_[d] || !IsCorner(d)) {
      return free_[d];
    }
    return MayPassCorner(rule_, free_[(d + 1) % kDirectionCount],
                         free_[(d + kDirectionCount - 1) % kDirectionCount]);
  }

  // Returns, for each neighbour, the rank of the first path from `from` that visits only neighbours and turns
  // one way round the centre. No such path turns back: the straight step to the next neighbour is the
  // cheapest step into it.
  std::array<Rank, kDirectionCount> Around(unsigned from, unsigned turn) const {
    std::array<Rank, kDirectionCount> ranks;
    ranks.fill(kNoPath);
    ranks[from] = 0;
    unsigned last = from;
    for (unsigned i = 1; i < kDirectionCount; ++i) {
      const unsigned before_last = (last + kDirectionCount - turn) % kDirectionCount;
      const unsigned d = (last + turn) % kDirectionCount;
      if (free_[d]) {
        if (ranks[last] != kNoPath) {
          ranks[d] = Straight(ranks[last], entry_[d]);
        }
        // A diagonal step across the corner `last`. The cell on its other side is the centre, which is free.
        if (i > 1 && !IsCorner(d) && ranks[before_last] != kNoPath &&
            (free_[last] || rule_ != CornerRule::kNoCornerCutting)) {
          ranks[d] = std::min(ranks[d], Diagonally(ranks[before_last], entry_[d]));
        }
      }
      last = d;
    }
    return ranks;
  }

  CornerRule rule_;
  const std::array<Entry, kDirectionCount> entry_;
  const Entry centre_;
  std::array<bool, kDirectionCount> free_{};
};

}  // namespace

DirectionSet CanonicalSteps(const Neighbourhood& around, const StepCosts& costs, CornerRule rule,
                            Direction arrival) {
  return CanonicalSteps(NearbyCosts(around, costs), rule, arrival);
}

DirectionSet CanonicalSteps(const NearbyCosts& costs, CornerRule rule, Direction arrival) {
  return Ring(costs, rule).StepsAfter(arrival);
}

}  // namespace waystar::core
