#include "server/core/query/location_check.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/bad_number.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"

namespace waystar::core {
namespace {

absl::Status Missing(absl::string_view field) {
  return MakeError(ErrorReason::kMissingField, field, absl::StrCat(field, " is required"));
}

absl::Status CheckPosition(absl::string_view field, const Position& position) {
  const std::pair<absl::string_view, double> parts[] = {
      {".x", position.x}, {".y", position.y}, {".z", position.z}};
  for (const auto& [part, value] : parts) {
    if (!std::isfinite(value)) {
      return BadNumber(ErrorReason::kBadValue, absl::StrCat(field, ".position", part), value,
                       "a finite number");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLocationOnGrid(absl::string_view field, const Location& location) {
  if (!location.node.empty()) {
    return MakeError(ErrorReason::kWrongMapKind, absl::StrCat(field, ".node"),
                     absl::StrCat(field, " is a node of a waypoint graph; the map is a grid"));
  }
  if (location.position.has_value()) {
    return CheckPosition(field, *location.position);
  }
  return location.cell.has_value() ? absl::OkStatus() : Missing(field);
}

absl::Status CheckLocationOnGraph(absl::string_view field, const Location& location) {
  if (location.cell.has_value()) {
    return MakeError(ErrorReason::kWrongMapKind, absl::StrCat(field, ".cell"),
                     absl::StrCat(field, " is a cell of a grid; the map is a waypoint graph"));
  }
  return location.position.has_value() || !location.node.empty() ? absl::OkStatus() : Missing(field);
}

absl::Status CheckSnap(const std::optional<Snap>& snap) {
  if (!snap.has_value() || (std::isfinite(snap->radius) && snap->radius > 0)) {
    return absl::OkStatus();
  }
  return BadNumber(ErrorReason::kBadValue, "snap.radius", snap->radius, "a finite number above 0");
}

}  // namespace waystar::core
