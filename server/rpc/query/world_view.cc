#include "server/rpc/query/world_view.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::rpc {

const core::GridMap* WorldView::Find(absl::string_view id) {
  if (id == home_.id) {
    return &movement_.map();
  }
  for (const Visited& visited : visited_) {
    if (visited.snapshot->id == id) {
      return visited.movement == nullptr ? nullptr : &visited.movement->map();
    }
  }
  if (!caller_.MayRead(id)) {
    return nullptr;
  }
  absl::StatusOr<core::PinnedSnapshot> snapshot = store_.Pin(id);
  if (!snapshot.ok() || !(*snapshot)->is_grid() ||
      (*snapshot)->grid().settings().world != home_.grid().settings().world) {
    return nullptr;
  }
  // The overlay is for the query's own map.
  const v1::Overlay none;
  RequestedMovement there = requested_;
  there.overlay = &none;
  absl::StatusOr<Movement> movement = Movement::Make(**snapshot, there);
  visited_.push_back(
      {.snapshot = *std::move(snapshot),
       .movement = movement.ok() ? std::make_unique<const Movement>(*std::move(movement)) : nullptr});
  return visited_.back().movement == nullptr ? nullptr : &visited_.back().movement->map();
}

std::uint64_t WorldView::RevisionOf(absl::string_view id) const {
  for (const Visited& visited : visited_) {
    if (visited.snapshot->id == id) {
      return visited.snapshot->revision;
    }
  }
  return home_.revision;
}

}  // namespace waystar::rpc
