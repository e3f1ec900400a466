// The memory limit of all maps of a store together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"

namespace waystar::core {

// Maps are measured when there seems to be no room for a new one, and at most once a check interval while
// they change; between two measurements new maps are added up. So what comes beside them, such as an index
// that a search has made, may take more than allowed for a while.
//
// Thread safety: any method may be called from any thread.
class MapsMemory {
 public:
  // Returns the bytes of the latest snapshots of all maps, indexes and remembered request_ids included.
  using Measure = absl::FunctionRef<std::size_t()>;

  MapsMemory(std::size_t max_bytes, absl::Duration check_interval)
      : max_bytes_(max_bytes), check_interval_nanos_(absl::ToInt64Nanoseconds(check_interval)) {}

  // Counts a new map of so many bytes. Returns RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL if that is too much.
  // Only one thread at a time may call it.
  absl::Status Add(std::size_t bytes, Measure measure);
  // Measures if there was no room. Call it when a map, or what is remembered of one, is gone.
  void MakeRoom(Measure measure);
  // Measures if the last time is long enough ago.
  void UpdateIfDue(absl::Time now, Measure measure);

  // Returns MAPS_MEMORY_FULL if there is no room and the edits add to what a map holds beside its cells.
  // Edits that take away or only paint cells always go through.
  absl::Status CheckRoomFor(absl::Span<const Edit> edits) const;

  bool is_full() const { return taken_.load(std::memory_order_relaxed) >= max_bytes_; }

 private:
  absl::Status Full() const;

  const std::size_t max_bytes_;
  const std::int64_t check_interval_nanos_;
  std::atomic<std::int64_t> next_check_nanos_ = 0;
  std::atomic<std::size_t> taken_ = 0;
};

}  // namespace waystar::core
