// Upkeep: work on data that a map keeps for later queries, such as the view of a profile.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"

namespace waystar::core {

// Budget of one call for upkeep in its current lane, in units of the time of an expansion. Work that would
// exceed it is not started: the call ends, and restarts where a larger budget applies.
//
// Not thread-safe.
class Upkeep {
 public:
  explicit Upkeep(std::uint64_t left) : left_(left) {}

  // Charges the cost of work about to start. Returns false, and charges nothing, if less is left.
  bool TryTake(std::uint64_t cost) {
    if (cost > left_) {
      is_refused_ = true;
      return false;
    }
    left_ -= cost;
    return true;
  }
  // Charges cost that was not known when the work started, down to a budget of 0.
  void Take(std::uint64_t cost) { left_ -= std::min(left_, cost); }

  std::uint64_t left() const { return left_; }
  // Returns true if the call must restart elsewhere.
  bool is_refused() const { return is_refused_; }

 private:
  std::uint64_t left_;
  bool is_refused_ = false;
};

// Returns the error of a step that was not started for lack of upkeep budget. Clients never see it.
inline absl::Status UpkeepError() { return absl::ResourceExhaustedError("no upkeep is left here"); }

}  // namespace waystar::core
