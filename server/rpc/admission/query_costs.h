// What path queries lately cost, from which the place to run the next is chosen.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "server/rpc/admission/executor.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Queries are of one kind if they are about the same map, over about the same distance (from one power of two
// to the next), and alike in what makes searching dear: algorithm, profile, overlay, footprint, several
// goals. Of each kind the typical time is kept: a moving average of its logarithm, which a rare long search
// hardly moves. That long search is stopped by MaxExpansionsOn where it must not go on.
//
// A query runs where it arrives if its kind takes up to kHere, with small workers up to kSmall and if nothing
// is known of its kind, with large ones otherwise.
//
// Thread safety: any. An update may be lost when two threads write the same kind; estimates bear that.
class QueryCosts {
 public:
  static constexpr std::chrono::nanoseconds kHere = std::chrono::microseconds(60);
  static constexpr std::chrono::nanoseconds kSmall = std::chrono::milliseconds(2);

  // Where to begin.
  Lane LaneOf(const v1::FindPathRequest& query) const;
  // The same for queries that are answered together, none of them where they arrive.
  Lane LaneOf(const v1::FindPathsRequest& queries) const;

  // What it took to answer, queues aside.
  void Note(const v1::FindPathRequest& query, std::chrono::nanoseconds took);
  void Note(const v1::FindPathsRequest& queries, std::chrono::nanoseconds took);

 private:
  // Kinds share a slot by chance; that makes an estimate worse and nothing else.
  static constexpr std::size_t kSlots = 4096;
  using Slot = std::size_t;

  // `map` is that which the query is about.
  static Slot SlotOf(const std::string& map, const v1::FindPathRequest& query);
  void Note(Slot slot, std::chrono::nanoseconds took);
  float Load(Slot slot) const { return log_nanos_[slot].load(std::memory_order_relaxed); }
  // A guess where nothing is known.
  std::chrono::nanoseconds Estimate(Slot slot) const;

  // 0 where nothing is known.
  std::array<std::atomic<float>, kSlots> log_nanos_{};
};

}  // namespace waystar::rpc
