// The working memory of fields.
#pragma once

#include <cstddef>
#include <vector>

#include "server/core/field/flood.h"
#include "server/core/field/flood_gates.h"
#include "server/core/field/flood_ground.h"
#include "server/core/field/jump_costs.h"
#include "server/core/field/jump_graph.h"
#include "server/core/field/jump_sight.h"

namespace waystar::core {

// Reused from query to query: once warm, a flood allocates nothing but its result. It holds at most 30 bytes
// for each of kMaxFieldCells, and Trim frees it if it is more than kKeptBytes.
//
// Thread safety: none. Each worker thread has its own.
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

  // Frees memory beyond kKeptBytes. Call it when the result is written.
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
