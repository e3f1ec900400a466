// Shares of a limited resource, such as slots or bytes, by holder.
#pragma once

#include <cassert>
#include <cstddef>
#include <limits>

#include "absl/container/flat_hash_map.h"

namespace waystar {

// Counts amounts per holder and in total. A holder is a client, a network, a connection: anything that must
// not take the whole resource.
//
// Not thread-safe.
template <typename Holder>
class Quota {
 public:
  static constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kRatio = 3;

  // Returns a quota with a fixed limit per holder.
  static Quota Fixed(std::size_t all, std::size_t of_holder) { return Quota(all, of_holder, false); }

  // Returns a quota in which a holder may have at most kRatio times what it leaves free: three quarters if
  // alone. A first take succeeds whenever it fits. However much one holder takes, another finds room, without
  // any configured limit. Source: A. Choudhury and E. Hahne, "Dynamic Queue Length Thresholds for
  // Shared-Memory Packet Switches", 1998.
  static Quota Shared(std::size_t all) { return Quota(all, kAny, true); }

  // Gives the amount to the holder and returns true. Returns false if that much is not free, or the holder is
  // at its limit.
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

  // Gives the amount to the holder regardless of the limits.
  void TakeAnyway(const Holder& holder, std::size_t amount = 1) {
    if (amount > 0) {
      held_[holder] += amount;
      total_ += amount;
    }
  }

  // REQUIRES: the holder has at least that amount.
  void GiveBack(const Holder& holder, std::size_t amount = 1) {
    if (amount == 0) {
      return;
    }
    const auto held = held_.find(holder);
    assert(held != held_.end() && held->second >= amount);
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
  // Returns the number of holders with a nonzero amount.
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
