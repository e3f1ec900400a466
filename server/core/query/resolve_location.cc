#include "server/core/query/resolve_location.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/search/snap.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

absl::StatusOr<Cell> LocationResolver::Resolve(absl::string_view field, const Location& location) const {
  const WorldFrame& frame = map_.settings().frame;
  if (!location.position.has_value()) {
    return snap_.has_value() ? Snapped(*location.cell, *location.cell) : *location.cell;
  }
  const WorldPoint& position = *location.position;
  Cell cell = frame.CellAt(position);
  if (snap_.has_value()) {
    WAYSTAR_ASSIGN_OR_RETURN(cell, Snapped(position, cell));
  }
  if (!map_.Contains(cell)) {
    return MakeError(ErrorReason::kOffMap, field,
                     absl::StrCat("(", position.x, ", ", position.y, ") is off the map"));
  }
  return cell;
}

template <typename From>
absl::StatusOr<Cell> LocationResolver::Snapped(const From& from, Cell cell) const {
  const std::shared_ptr<const WalkGrid> walk = map_.walk(footprint_);
  if (walk->IsWalkable(cell)) {
    return cell;
  }
  if (const std::optional<SearchEnd> end = Interruption(budget_)) {
    return InterruptionError(*end, 0);
  }
  return NearestFree(*walk, map_.settings().frame, from, snap_->radius).value_or(cell);
}

}  // namespace waystar::core
