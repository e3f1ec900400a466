#include "server/core/store/map_snapshot.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {
namespace {

absl::Status WrongKind(const MapSnapshot& snapshot, absl::string_view is, absl::string_view wanted) {
  return MakeError(ErrorReason::kWrongMapKind, "map",
                   absl::StrCat("\"", snapshot.id, "\" is a ", is, "; this is for a ", wanted));
}

}  // namespace

std::size_t MapSnapshot::memory_bytes() const {
  return std::visit([](const auto& kind) { return kind.memory_bytes(); }, map);
}

void MapSnapshot::AddTo(MemoryUse& use) const {
  if (is_grid()) {
    grid().AddTo(use);
  } else {
    use.maps += graph().memory_bytes();
  }
}

std::size_t MapSnapshot::BytesBeyond(const MapSnapshot& other) const {
  if (is_grid() && other.is_grid()) {
    return grid().BytesBeyond(other.grid());
  }
  return is_graph() && other.is_graph() ? graph().BytesBeyond(other.graph()) : memory_bytes();
}

absl::Status CheckIsGrid(const MapSnapshot& snapshot) {
  return snapshot.is_grid() ? absl::OkStatus() : WrongKind(snapshot, "waypoint graph", "grid");
}

absl::Status CheckIsGraph(const MapSnapshot& snapshot) {
  return snapshot.is_graph() ? absl::OkStatus() : WrongKind(snapshot, "grid", "waypoint graph");
}

}  // namespace waystar::core
