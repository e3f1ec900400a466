// Estimates of the cost of path queries, by which the lane of the next one is chosen.
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

// Keeps the typical time of each kind of query. Queries are of one kind if they are about the same map, over
// about the same distance (from one power of two to the next), and alike in what makes searches expensive:
// algorithm, profile, size of the overlay, footprint, several goals. The typical time is a moving average of
// its logarithm, which a rare long search hardly moves. MaxExpansionsOn stops such a search on the smaller
// lanes.
//
// Draws of cells are of one kind if they are about the same map and alike in what makes them walk much of it,
// and probes of surfaces if they are about the same map, about as many, and ask the same at first.
//
// A query begins on Lane::kHere if its kind takes up to kHere, on Lane::kSmall up to kSmall and if nothing is
// known of its kind, and on Lane::kLarge otherwise.
//
// Thread safety: any. An update may be lost when two threads write the same kind; estimates bear that.
class QueryCosts {
 public:
  static constexpr std::chrono::nanoseconds kHere = std::chrono::microseconds(60);
  static constexpr std::chrono::nanoseconds kSmall = std::chrono::milliseconds(2);

  // Returns the lane to begin on.
  Lane LaneOf(const v1::FindPathRequest& query) const;
  Lane LaneOf(const v1::ProbeSurfaceRequest& probes) const;
  // The same for queries that are answered together, and for draws of cells, none of which begins on
  // Lane::kHere.
  Lane LaneOf(const v1::FindPathsRequest& queries) const;
  Lane LaneOf(const v1::SampleCellsRequest& draw) const;

  // Notes how long the answer took, queues aside.
  void Note(const v1::FindPathRequest& query, std::chrono::nanoseconds took);
  void Note(const v1::FindPathsRequest& queries, std::chrono::nanoseconds took);
  void Note(const v1::SampleCellsRequest& draw, std::chrono::nanoseconds took);
  void Note(const v1::ProbeSurfaceRequest& probes, std::chrono::nanoseconds took);

 private:
  // Kinds may share a slot, which makes an estimate worse and nothing else.
  static constexpr std::size_t kSlots = 4096;
  using Slot = std::size_t;

  // `map` is the id of the map that the query is about.
  static Slot SlotOf(const std::string& map, const v1::FindPathRequest& query);
  static Slot SlotOf(const v1::SampleCellsRequest& draw);
  static Slot SlotOf(const v1::ProbeSurfaceRequest& probes);
  void Note(Slot slot, std::chrono::nanoseconds took);
  float Load(Slot slot) const { return log_nanos_[slot].load(std::memory_order_relaxed); }
  Lane LaneOfSlot(Slot slot) const;
  // Returns a guess where nothing is known.
  std::chrono::nanoseconds Estimate(Slot slot) const;

  // A slot is 0 where nothing is known.
  std::array<std::atomic<float>, kSlots> log_nanos_{};
};

}  // namespace waystar::rpc
