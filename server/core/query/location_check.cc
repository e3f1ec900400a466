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

absl::Status CheckPosition(absl::string_view field, const WorldPoint& position) {
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

absl::Status CheckLocationOnMesh(absl::string_view field, const Location& location) {
  for (const auto& [is_given, part] :
       {std::pair(location.cell.has_value(), "cell"), {!location.node.empty(), "node"}}) {
    if (is_given) {
      return MakeError(ErrorReason::kWrongMapKind, absl::StrCat(field, ".", part),
                       absl::StrCat(field, " is a ", part, "; on a navigation mesh places are positions"));
    }
  }
  return location.position.has_value() ? absl::OkStatus() : Missing(field);
}

absl::Status CheckSnap(const std::optional<Snap>& snap, MapKind kind) {
  if (!snap.has_value()) {
    return absl::OkStatus();
  }
  if (!std::isfinite(snap->radius) || snap->radius <= 0) {
    return BadNumber(ErrorReason::kBadValue, "snap.radius", snap->radius, "a finite number above 0");
  }
  if (snap->height && kind != MapKind::kMesh) {
    return MakeError(ErrorReason::kWrongMapKind, "snap.height", "snap.height is for navigation meshes");
  }
  if (snap->height && (!std::isfinite(*snap->height) || *snap->height < 0)) {
    return BadNumber(ErrorReason::kBadValue, "snap.height", *snap->height, "a finite number of 0 or more");
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
