// Cache of the results of CanonicalSteps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/map/canonical_steps.h"
#include "server/core/map/neighbourhood.h"

namespace waystar::core {

// Caches the canonical steps of recently seen neighbourhoods, of which a map has few kinds: a hit takes
// nanoseconds. Its size is fixed; the first Prepare allocates it.
//
// Thread safety: none.
class CanonicalStepCache {
 public:
  // Makes ready for maps with these costs. Entries made for the same costs stay.
  void Prepare(const StepCosts& costs) {
    if (entries_.empty() || costs.straight != straight_ || costs.diagonal != diagonal_) {
      entries_.assign(std::size_t{1} << kSizeBits, Entry{});
      straight_ = costs.straight;
      diagonal_ = costs.diagonal;
    }
  }

  // REQUIRES: Prepare(costs) came last; what CanonicalSteps requires.
  DirectionSet Steps(const Neighbourhood& around, const StepCosts& costs, CornerRule rule,
                     Direction arrival) {
    Entry& entry = entries_[(around.Hash() >> (64 - kSizeBits)) ^ static_cast<std::size_t>(rule)];
    if (entry.around != around || entry.rule != rule) {
      entry = {.around = around, .rule = rule};
    }
    DirectionSet& steps = entry.steps[static_cast<std::size_t>(arrival)];
    if ((entry.known & SetOf(arrival)) == 0) {
      steps = CanonicalSteps(around, costs, rule, arrival);
      entry.known |= SetOf(arrival);
    }
    return steps;
  }

  std::size_t memory_bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  static constexpr unsigned kSizeBits = 12;

  struct Entry {
    Neighbourhood around;
    CornerRule rule = CornerRule::kNoCornerCutting;
    // The arrivals whose steps are filled in.
    DirectionSet known = 0;
    std::array<DirectionSet, kDirectionCount> steps{};
  };

  std::vector<Entry> entries_;
  std::array<Cost, kMaxTerrains> straight_{};
  std::array<Cost, kMaxTerrains> diagonal_{};
};

}  // namespace waystar::core
