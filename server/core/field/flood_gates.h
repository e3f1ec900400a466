// Passages as a flood meets them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/field/flood_ground.h"
#include "server/core/field/flood_sense.h"
#include "server/core/field/passage_costs.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cost.h"
#include "server/core/map/portal.h"

namespace waystar::core {

// A gate, through which a flood that has come to one cell goes on at another.
struct Gate {
  // Indexes of the ground. A flood to its seeds goes against the agent: `from` is where the passage leads to.
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Cost cost = 0;
  const Portal* portal = nullptr;
};

// The passages between cells of a ground, by the cell at which a flood passes them.
//
// Thread safety: const methods may run beside each other.
class FloodGates {
 public:
  // Reads the passages that have both ends on the ground, for floods in that sense. Memory is reused. It
  // costs a bit a cell of the ground, or nothing if there are none. REQUIRES: they are of the ground's map.
  void Read(const FloodGround& ground, absl::Span<const Passage> passages, FloodSense sense);

  bool empty() const { return gates_.empty(); }
  bool IsAt(std::size_t index) const { return (at_[index / kWordBits] >> (index % kWordBits) & 1U) != 0; }
  // Returns the gates of a cell in the order in which they were read.
  absl::Span<const Gate> From(std::uint32_t index) const;

  std::size_t memory_bytes() const {
    return gates_.capacity() * sizeof(Gate) + at_.capacity() * sizeof(Word);
  }

 private:
  // The gates, sorted by `from`.
  std::vector<Gate> gates_;
  // A bit for each cell.
  std::vector<Word> at_;
};

}  // namespace waystar::core
