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

absl::Status MapsMemory::CheckRoomFor(std::size_t bytes, Measure measure) {
  if (max_bytes_ == kNoLimit) {
    return absl::OkStatus();
  }
  const std::size_t taken = measure();
  is_full_.store(taken >= max_bytes_, std::memory_order_relaxed);
  return taken + bytes > max_bytes_ ? Full() : absl::OkStatus();
}

absl::Status MapsMemory::CheckRoomFor(absl::Span<const Edit> edits) const {
  const bool has_room =
      !is_full_.load(std::memory_order_relaxed) || std::none_of(edits.begin(), edits.end(), AddsToMap);
  return has_room ? absl::OkStatus() : Full();
}

void MapsMemory::Update(Measure measure) {
  if (max_bytes_ != kNoLimit) {
    is_full_.store(measure() >= max_bytes_, std::memory_order_relaxed);
  }
}

void MapsMemory::UpdateIfDue(absl::Time now, Measure measure) {
  if (max_bytes_ == kNoLimit) {
    return;
  }
  const std::int64_t nanos = absl::ToUnixNanos(now);
  std::int64_t due = next_check_nanos_.load(std::memory_order_relaxed);
  // One thread at a time, the others go on.
  if (nanos >= due && next_check_nanos_.compare_exchange_strong(due, nanos + check_interval_nanos_)) {
    Update(measure);
  }
}

}  // namespace waystar::core
