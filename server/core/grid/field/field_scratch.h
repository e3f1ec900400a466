// Working memory of fields.
#pragma once

#include <cstddef>
#include <vector>

#include "server/core/grid/field/flood.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/jump_graph.h"
#include "server/core/grid/field/passages.h"

namespace waystar::core {

// Working memory reused between queries: once warm, a flood allocates only its result. It holds at most 30
// bytes for each of kMaxFieldCells cells. Trim frees it if it exceeds kKeptBytes.
//
// Not thread-safe; each worker thread has its own.
class FieldScratch {
 public:
  static constexpr std::size_t kKeptBytes = std::size_t{32} << 20;

  FieldScratch() = default;
  FieldScratch(const FieldScratch&) = delete;
  FieldScratch& operator=(const FieldScratch&) = delete;

  FloodGround& ground() { return ground_; }
  FloodGates& gates() { return gates_; }
  Flood& flood() { return flood_; }

  JumpGraph& jump_graph() { return jump_graph_; }
  JumpCosts& jump_costs() { return jump_costs_; }
  JumpSight& jump_sight() { return jump_sight_; }
  std::vector<JumpSight::Leg>& legs() { return legs_; }

  std::size_t memory_bytes() const {
    return ground_.memory_bytes() + gates_.memory_bytes() + flood_.memory_bytes() +
           jump_graph_.memory_bytes() + jump_costs_.memory_bytes() + jump_sight_.memory_bytes() +
           legs_.capacity() * sizeof(legs_[0]);
  }

  // Frees the memory if it exceeds kKeptBytes. Call it after the result is written.
  void Trim() {
    if (memory_bytes() > kKeptBytes) {
      ground_ = {};
      gates_ = {};
      flood_ = {};
      jump_graph_ = {};
      jump_costs_ = {};
      jump_sight_ = {};
      legs_ = std::vector<JumpSight::Leg>();
    }
  }

 private:
  FloodGround ground_;
  FloodGates gates_;
  Flood flood_;
  JumpGraph jump_graph_;
  JumpCosts jump_costs_;
  JumpSight jump_sight_;
  std::vector<JumpSight::Leg> legs_;
};

}  // namespace waystar::core
