// Upkeep: work for what a map keeps for later queries, such as the view of a profile, and who may do it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"

namespace waystar::core {

// What one call may spend on upkeep where it runs, counted in expansions that take as long. Work that would
// cost more does not begin there: the call ends, whatever it answers, and begins again where it may do more.
//
// Thread safety: none.
class Upkeep {
 public:
  explicit Upkeep(std::uint64_t left) : left_(left) {}

  // Takes off the cost of work that is about to begin. Returns false if less is left.
  bool TryTake(std::uint64_t cost) {
    if (cost > left_) {
      is_refused_ = true;
      return false;
    }
    left_ -= cost;
    return true;
  }
  // Takes off, as far as it is there, what work has cost beyond what was known when it began.
  void Take(std::uint64_t cost) { left_ -= std::min(left_, cost); }

  std::uint64_t left() const { return left_; }
  // Returns whether the call has to begin again elsewhere.
  bool is_refused() const { return is_refused_; }

 private:
  std::uint64_t left_;
  bool is_refused_ = false;
};

// Returns the error of a step that did not begin for want of upkeep. No caller of the server sees it.
inline absl::Status UpkeepError() { return absl::ResourceExhaustedError("no upkeep is left here"); }

}  // namespace waystar::core
