#include "server/core/store/maps_memory.h"

#include <algorithm>
#include <limits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

bool AddsToMap(const Edit& edit) {
  return std::holds_alternative<PutObstacle>(edit) || std::holds_alternative<PutPortal>(edit) ||
         std::holds_alternative<PutProfile>(edit) || std::holds_alternative<PutNodes>(edit) ||
         std::holds_alternative<PutEdges>(edit);
}

}  // namespace

absl::Status MapsMemory::Full() const {
  return MakeError(
      absl::StatusCode::kResourceExhausted, ErrorReason::kMapsMemoryFull, "",
      absl::StrCat("all maps together would take more than ", max_bytes_ >> 20, " MiB, the server's limit"));
}

absl::Status MapsMemory::Add(std::size_t bytes, Measure measure) {
  if (max_bytes_ == kNoLimit) {
    return absl::OkStatus();
  }
  std::size_t taken = taken_.load(std::memory_order_relaxed);
  if (taken + bytes > max_bytes_) {
    taken = measure();
  }
  const bool has_room = taken + bytes <= max_bytes_;
  taken_.store(has_room ? taken + bytes : taken, std::memory_order_relaxed);
  return has_room ? absl::OkStatus() : Full();
}

void MapsMemory::MakeRoom(Measure measure) {
  if (is_full()) {
    taken_.store(measure(), std::memory_order_relaxed);
  }
}

absl::Status MapsMemory::CheckRoomFor(absl::Span<const Edit> edits) const {
  return is_full() && std::any_of(edits.begin(), edits.end(), AddsToMap) ? Full() : absl::OkStatus();
}

void MapsMemory::UpdateIfDue(absl::Time now, Measure measure) {
  if (max_bytes_ == kNoLimit) {
    return;
  }
  const std::int64_t nanos = absl::ToUnixNanos(now);
  std::int64_t due = next_check_nanos_.load(std::memory_order_relaxed);
  // One thread measures at a time; the others go on.
  if (nanos >= due && next_check_nanos_.compare_exchange_strong(due, nanos + check_interval_nanos_)) {
    taken_.store(measure(), std::memory_order_relaxed);
  }
}

}  // namespace waystar::core
