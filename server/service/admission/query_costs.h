// Cost estimates of path queries, which select the lane of the next query.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "server/service/admission/executor.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Keeps the typical time of each kind of query: the moving average of its logarithm, so a rare long search
// has little effect. MaxExpansionsOn stops such a search on the smaller lanes. Path queries are of one kind
// if they have the same map, about the same distance (within a power of two), and the same properties that
// make searches expensive, such as algorithm, agent and size of the overlay. Cell draws and surface probes
// have their own kinds.
//
// A query starts on Lane::kHere if its kind takes up to kHere, on Lane::kSmall if it takes up to kSmall or is
// unknown, and on Lane::kLarge otherwise.
//
// Thread safety: any. An update may be lost if two threads write the same kind, which estimates tolerate.
class QueryCosts {
 public:
  static constexpr std::chrono::nanoseconds kHere = std::chrono::microseconds(60);
  static constexpr std::chrono::nanoseconds kSmall = std::chrono::milliseconds(2);

  // Returns the lane to start on.
  template <typename Request>
  Lane LaneOf(const Request& request) const {
    return LaneOfSlot(SlotOf(request));
  }
  // Return the lane for batches of queries and for cell draws, which never start on Lane::kHere.
  Lane LaneOf(const v1::FindPathsRequest& queries) const;
  Lane LaneOf(const v1::SamplePlacesRequest& draw) const;

  // Records the time to answer, without queueing.
  template <typename Request>
  void Note(const Request& request, std::chrono::nanoseconds took) {
    NoteSlot(SlotOf(request), took);
  }
  void Note(const v1::FindPathsRequest& queries, std::chrono::nanoseconds took);

 private:
  // Number of slots. Kinds may share one, which only makes estimates less accurate.
  static constexpr std::size_t kSlots = 4096;
  using Slot = std::size_t;

  static Slot SlotOf(const v1::FindPathRequest& query);
  static Slot SlotOf(const v1::SamplePlacesRequest& draw);
  static Slot SlotOf(const v1::ProbeSurfaceRequest& probes);
  void NoteSlot(Slot slot, std::chrono::nanoseconds took);
  float Load(Slot slot) const { return log_nanos_[slot].load(std::memory_order_relaxed); }
  Lane LaneOfSlot(Slot slot) const;
  // Returns the typical time of a slot's kinds; a guess if nothing is known.
  std::chrono::nanoseconds Estimate(Slot slot) const;

  // Base-2 logarithm of the typical time in nanoseconds by slot; 0 if nothing is known.
  std::array<std::atomic<float>, kSlots> log_nanos_{};
};

}  // namespace waystar::rpc
