#include "server/rpc/convert_validation.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/rpc/convert.h"
#include "server/rpc/convert_path.h"

namespace waystar::rpc {
namespace {

absl::Status CheckLength(absl::string_view field, int size) {
  if (static_cast<std::size_t>(size) <= core::kMaxValidatedPoints) {
    return absl::OkStatus();
  }
  return MakeError(
      absl::StatusCode::kResourceExhausted, ErrorReason::kPathTooLong, field,
      absl::StrCat("at most ", core::kMaxValidatedPoints, " ", field, " can be validated, not ", size));
}

absl::Status CheckDirections(const v1::ValidatePathRequest& request) {
  if (request.points_size() != 1) {
    return InvalidArgument(ErrorReason::kBadValue, "points", "with directions, points holds the start alone");
  }
  if (request.path_form() != v1::PATH_FORM_UNSPECIFIED && request.path_form() != v1::PATH_FORM_DIRECTIONS) {
    return InvalidArgument(ErrorReason::kBadValue, "path_form",
                           "a path of directions has PATH_FORM_DIRECTIONS");
  }
  return absl::OkStatus();
}

bool IsNearMaps(core::Cell cell) {
  constexpr int kFurthest = core::kMaxMapSide;
  return cell.x >= -1 && cell.x <= kFurthest && cell.y >= -1 && cell.y <= kFurthest;
}

// Stops where no map can be: the path is off the map there, however it goes on.
absl::Status AddSteps(const v1::ValidatePathRequest& request, std::vector<core::Cell>& points) {
  for (int i = 0; i < request.directions_size(); ++i) {
    const int direction = request.directions(i);
    if (direction < v1::DIRECTION_NORTH || direction > v1::DIRECTION_NORTH_WEST) {
      return UnknownEnumValue(absl::StrCat("directions[", i, "]"), direction);
    }
    if (IsNearMaps(points.back())) {
      points.push_back(core::Step(points.back(), static_cast<core::Direction>(direction - 1)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PathToValidate> ToPathToValidate(const v1::ValidatePathRequest& request) {
  PathToValidate path;
  WAYSTAR_ASSIGN_OR_RETURN(path.corner_rule, ToCornerRule(request.corner_rule()));
  WAYSTAR_ASSIGN_OR_RETURN(path.path_form, ToPathForm(request.path_form()));
  WAYSTAR_ASSIGN_OR_RETURN(path.footprint, ToFootprint(request.footprint()));
  if (request.points().empty()) {
    return MissingField("points");
  }
  WAYSTAR_RETURN_IF_ERROR(CheckLength("points", request.points_size()));
  // The start is a point as well.
  WAYSTAR_RETURN_IF_ERROR(CheckLength("directions", request.directions_size() + 1));
  path.points.reserve(static_cast<std::size_t>(request.points_size()) +
                      static_cast<std::size_t>(request.directions_size()));
  for (const v1::Cell& point : request.points()) {
    path.points.push_back(ToCell(point));
  }
  if (!request.directions().empty()) {
    WAYSTAR_RETURN_IF_ERROR(CheckDirections(request));
    path.path_form = core::PathForm::kDirections;
    WAYSTAR_RETURN_IF_ERROR(AddSteps(request, path.points));
  }
  return path;
}

absl::Status OfDirections(const absl::Status& status) {
  const std::string field = ErrorFieldOf(status);
  absl::string_view index = field;
  int point = 0;
  if (!absl::ConsumePrefix(&index, "points[") || !absl::ConsumeSuffix(&index, "]") ||
      !absl::SimpleAtoi(index, &point) || point == 0) {
    return status;
  }
  return MakeError(status.code(), ErrorReason::kOffMap, absl::StrCat("directions[", point - 1, "]"),
                   status.message());
}

void FillValidation(const core::Validation& validation, const v1::ValidatePathRequest& request,
                    v1::ValidatePathResponse& response) {
  response.set_walkable(validation.walkable);
  response.set_cost(validation.cost);
  if (!validation.walkable) {
    const auto index = static_cast<int>(validation.blocked_index);
    response.set_blocked_index(request.directions().empty() ? index : std::max(index - 1, 0));
    FillCell(validation.blocked_cell, *response.mutable_blocked_cell());
  }
}

}  // namespace waystar::rpc
