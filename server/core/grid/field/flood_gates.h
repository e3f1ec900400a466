// Portals and other passages as edges of a flood.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/flood_sense.h"
#include "server/core/grid/field/passage_costs.h"

namespace waystar::core {

// Edge from one cell of a flood to another.
struct Gate {
  // Indices of the ground. In a flood to its seeds, edges are reversed: `from` is the passage's target.
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Cost cost = 0;
  const Portal* portal = nullptr;
};

// Passages between cells of a ground, by the cell at which a flood uses them.
//
// Thread safety: const methods may run concurrently.
class FloodGates {
 public:
  // Reads the passages with both ends on the ground, for floods in that sense. Reuses memory. Costs one bit
  // per cell of the ground, or nothing without passages.
  // REQUIRES: the passages belong to the ground's map.
  void Read(const FloodGround& ground, absl::Span<const Passage> passages, FloodSense sense);

  bool empty() const { return gates_.empty(); }
  bool IsAt(std::size_t index) const { return (at_[index / kWordBits] >> (index % kWordBits) & 1U) != 0; }
  // Returns the gates of a cell in the order in which they were read.
  absl::Span<const Gate> From(std::uint32_t index) const;

  std::size_t memory_bytes() const {
    return gates_.capacity() * sizeof(Gate) + at_.capacity() * sizeof(Word);
  }

 private:
  // Sorted by `from`.
  std::vector<Gate> gates_;
  // One bit per cell.
  std::vector<Word> at_;
};

}  // namespace waystar::core
