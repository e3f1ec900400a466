// What several holders have of something that there is only so much of: places, or bytes.
#pragma once

#include <cstddef>
#include <limits>

#include "absl/container/flat_hash_map.h"

namespace waystar {

// Counts by holder and in all. A holder is a client, a network, a connection: whatever tells apart those who
// must not take it all.
//
// Thread safety: none.
template <typename Holder>
class Quota {
 public:
  static constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kRatio = 3;

  // Returns a quota of which each holder may have a fixed part.
  static Quota Fixed(std::size_t all, std::size_t of_holder) { return Quota(all, of_holder, false); }

  // Returns a quota of which a holder may have at most kRatio times what it leaves free, and one place in any
  // case: alone three quarters. However much one takes, another finds room, and no part has to be set.
  // Source: A. Choudhury and E. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches",
  // 1998.
  static Quota Shared(std::size_t all) { return Quota(all, kAny, true); }

  // Gives the holder so much more and returns true, or returns false if it may not have it: if there is not
  // that much, or it has its part.
  bool Take(const Holder& holder, std::size_t amount = 1) {
    if (amount == 0 || amount > free()) {
      return amount == 0;
    }
    const auto [held, is_new] = held_.try_emplace(holder, 0);
    if (!MayHave(held->second, amount)) {
      if (is_new) {
        held_.erase(held);
      }
      return false;
    }
    held->second += amount;
    total_ += amount;
    return true;
  }

  // Gives it whatever the limits say.
  void TakeAnyway(const Holder& holder, std::size_t amount = 1) {
    if (amount > 0) {
      held_[holder] += amount;
      total_ += amount;
    }
  }

  // REQUIRES: the holder has as much.
  void GiveBack(const Holder& holder, std::size_t amount = 1) {
    if (amount == 0) {
      return;
    }
    const auto held = held_.find(holder);
    held->second -= amount;
    total_ -= amount;
    if (held->second == 0) {
      held_.erase(held);
    }
  }

  std::size_t Of(const Holder& holder) const {
    const auto held = held_.find(holder);
    return held == held_.end() ? 0 : held->second;
  }
  std::size_t total() const { return total_; }
  std::size_t free() const { return total_ < all_ ? all_ - total_ : 0; }
  // Returns how many holders have any.
  std::size_t holders() const { return held_.size(); }

 private:
  Quota(std::size_t all, std::size_t of_holder, bool is_shared)
      : all_(all), of_holder_(of_holder), is_shared_(is_shared) {}

  bool MayHave(std::size_t held, std::size_t amount) const {
    if (is_shared_) {
      return held == 0 || held + amount <= kRatio * (free() - amount);
    }
    return held <= of_holder_ && amount <= of_holder_ - held;
  }

  const std::size_t all_;
  const std::size_t of_holder_;
  const bool is_shared_;
  std::size_t total_ = 0;
  absl::flat_hash_map<Holder, std::size_t> held_;
};

}  // namespace waystar
