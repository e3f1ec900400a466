// Whether the maps of a store together keep to the memory that they may take.
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

// Maps are measured when one is created or deleted, and now and then while they change: what is between two
// measurements, such as an index that a search has made, may take more than allowed for that long.
//
// Thread safety: any.
class MapsMemory {
 public:
  // What the latest snapshots of all maps take, indexes included.
  using Measure = absl::FunctionRef<std::size_t()>;

  MapsMemory(std::size_t max_bytes, absl::Duration check_interval)
      : max_bytes_(max_bytes), check_interval_nanos_(absl::ToInt64Nanoseconds(check_interval)) {}

  // RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL if so many bytes more are too many.
  absl::Status CheckRoomFor(std::size_t bytes, Measure measure);

  // The same, by the last measurement, if the edits add to what a map holds beside its cells. Those that take
  // away, and those that only paint cells, always go through.
  absl::Status CheckRoomFor(absl::Span<const Edit> edits) const;

  // Measures now, and if the last time was long enough ago.
  void Update(Measure measure);
  void UpdateIfDue(absl::Time now, Measure measure);

 private:
  absl::Status Full() const;

  const std::size_t max_bytes_;
  const std::int64_t check_interval_nanos_;
  std::atomic<std::int64_t> next_check_nanos_ = 0;
  std::atomic<bool> is_full_ = false;
};

}  // namespace waystar::core
