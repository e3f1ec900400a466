// Shares of the clients in places that there is a fixed number of.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace waystar::rpc {

// A client may hold at most kRatio times as many places as it leaves free, and one in any case: alone three
// quarters of them. However many one client takes, another finds room, and no share has to be set. Source: A.
// Choudhury and E. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998.
//
// Thread safety: none.
class ClientShares {
 public:
  static constexpr int kRatio = 3;

  explicit ClientShares(int count) : free_(count) {}

  // Takes a place for that client, known by its hash in runtime::Flow. Returns false if it may not have it.
  bool Take(std::uint64_t client) {
    if (free_ == 0) {
      return false;
    }
    const auto [held, is_new] = held_.try_emplace(client, 0);
    if (!is_new && held->second / kRatio >= free_ - 1) {
      return false;
    }
    ++held->second;
    --free_;
    return true;
  }

  // Gives one of its places back.
  void GiveBack(std::uint64_t client) {
    const auto held = held_.find(client);
    if (--held->second == 0) {
      held_.erase(held);
    }
    ++free_;
  }

  int free() const { return free_; }

 private:
  int free_;
  absl::flat_hash_map<std::uint64_t, int> held_;
};

}  // namespace waystar::rpc
