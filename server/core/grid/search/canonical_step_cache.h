// Cache of the results of CanonicalSteps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cells/corner_rule.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/canonical_steps.h"
#include "server/core/grid/map/neighbourhood.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Cache of the canonical steps of recent neighbourhoods. A map has few distinct ones; a hit takes
// nanoseconds. The size is fixed and allocated by the first Prepare.
//
// Not thread-safe.
class CanonicalStepCache {
 public:
  // Prepares for maps with these costs. Keeps the entries if the costs are unchanged.
  void Prepare(const StepCosts& costs) {
    if (entries_.empty() || costs.straight != straight_ || costs.diagonal != diagonal_) {
      entries_.assign(std::size_t{1} << kSizeBits, Entry{});
      straight_ = costs.straight;
      diagonal_ = costs.diagonal;
    }
  }

  // REQUIRES: the last Prepare was for `costs`; the requirements of CanonicalSteps.
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
    // Arrival directions whose steps are cached.
    DirectionSet known = 0;
    std::array<DirectionSet, kDirectionCount> steps{};
  };

  std::vector<Entry> entries_;
  std::array<Cost, kMaxTerrains> straight_{};
  std::array<Cost, kMaxTerrains> diagonal_{};
};

}  // namespace waystar::core
