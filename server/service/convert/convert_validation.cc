#include "server/service/convert/convert_validation.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_portals.h"
#include "server/service/convert/convert_query.h"

namespace waystar::rpc {
namespace {

absl::Status CheckLength(absl::string_view field, int size) {
  if (static_cast<std::size_t>(size) <= core::kMaxValidatedPoints) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorReason::kPathTooLong, field,
      absl::StrCat("at most ", core::kMaxValidatedPoints, " ", field, " can be validated, not ", size));
}

absl::Status CheckDirections(const v1::ValidatePathRequest& request) {
  if (request.points_size() != 1) {
    return MakeError(ErrorReason::kBadValue, "points", "with directions, points holds the start alone");
  }
  if (request.path_form() != v1::PATH_FORM_UNSPECIFIED && request.path_form() != v1::PATH_FORM_DIRECTIONS) {
    return MakeError(ErrorReason::kBadValue, "path_form", "a path of directions has PATH_FORM_DIRECTIONS");
  }
  return absl::OkStatus();
}

bool IsNearMaps(core::Cell cell) {
  constexpr int kFurthest = core::kMaxMapSide;
  return cell.x >= -1 && cell.x <= kFurthest && cell.y >= -1 && cell.y <= kFurthest;
}

absl::Status AddSteps(const v1::ValidatePathRequest& request, PathToValidate& path) {
  std::vector<core::Direction> directions;
  directions.reserve(static_cast<std::size_t>(request.directions_size()));
  for (int i = 0; i < request.directions_size(); ++i) {
    const int direction = request.directions(i);
    if (direction < v1::DIRECTION_NORTH || direction > v1::DIRECTION_NORTH_WEST) {
      return UnknownEnumValue(absl::StrCat("directions[", i, "]"), direction);
    }
    directions.push_back(static_cast<core::Direction>(direction - 1));
  }
  if (!IsNearMaps(path.points.front())) {
    return absl::OkStatus();
  }
  for (std::size_t i = 0; i < path.crossings.size(); ++i) {
    if (!IsNearMaps(path.crossings[i].arrival)) {
      return MakeError(ErrorReason::kOffMap, absl::StrCat("crossings[", i, "].arrival"),
                       absl::StrCat("crossings[", i, "].arrival is off any map"));
    }
  }
  path.points = core::WalkDirections(path.points.front(), directions, path.crossings);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PathToValidate> ToPathToValidate(const v1::ValidatePathRequest& request,
                                                const HexCoordinates& at_home,
                                                std::vector<HexCoordinates> behind) {
  PathToValidate path;
  path.at_home = at_home;
  path.behind = std::move(behind);
  WAYSTAR_ASSIGN_OR_RETURN(path.path_form, ToPathForm(request.path_form()));
  if (request.points().empty()) {
    return MissingField("points");
  }
  WAYSTAR_RETURN_IF_ERROR(CheckLength("points", request.points_size()));
  // The start is a point too.
  WAYSTAR_RETURN_IF_ERROR(CheckLength("directions", request.directions_size() + 1));
  path.crossings = ToCrossedPortals(request.crossings(), path.behind);
  path.points.reserve(static_cast<std::size_t>(request.points_size()));
  std::size_t crossed = 0;
  for (const v1::Cell& point : request.points()) {
    while (crossed < path.crossings.size() && path.crossings[crossed].index <= path.points.size()) {
      ++crossed;
    }
    const HexCoordinates& here = crossed == 0 ? path.at_home : path.behind[crossed - 1];
    path.points.push_back(here.ToPlane(ToCell(point)));
  }
  path.has_directions = !request.directions().empty() ||
                        (request.path_form() == v1::PATH_FORM_DIRECTIONS && !request.crossings().empty());
  if (path.has_directions) {
    WAYSTAR_RETURN_IF_ERROR(CheckDirections(request));
    path.path_form = core::PathForm::kDirections;
    WAYSTAR_RETURN_IF_ERROR(AddSteps(request, path));
  }
  return path;
}

std::size_t PathToValidate::StepsBefore(std::size_t point) const {
  const auto is_behind = [&](const core::CrossedPortal& crossing) { return crossing.index <= point; };
  const auto crossed = static_cast<std::size_t>(std::count_if(crossings.begin(), crossings.end(), is_behind));
  return point - std::min(point, crossed);
}

const HexCoordinates& PathToValidate::CoordinatesAt(std::size_t point) const {
  const auto is_behind = [&](const core::CrossedPortal& crossing) { return crossing.index <= point; };
  const auto crossed = static_cast<std::size_t>(std::count_if(crossings.begin(), crossings.end(), is_behind));
  return crossed == 0 ? at_home : behind[crossed - 1];
}

absl::Status PathToValidate::InRequest(const absl::Status& status) const {
  const std::string field = ErrorFieldOf(status);
  absl::string_view index = field;
  std::size_t point = 0;
  if (!has_directions || !absl::ConsumePrefix(&index, "points[") || !absl::ConsumeSuffix(&index, "]") ||
      !absl::SimpleAtoi(index, &point) || point == 0) {
    return status;
  }
  return MakeError(ErrorReason::kOffMap,
                   absl::StrCat("directions[", std::max<std::size_t>(StepsBefore(point), 1) - 1, "]"),
                   status.message());
}

void FillValidation(const core::Validation& validation, const PathToValidate& path,
                    v1::ValidatePathResponse& response) {
  response.set_walkable(validation.walkable);
  response.set_cost(validation.cost);
  if (!validation.walkable) {
    const std::size_t index = validation.blocked_index;
    const std::size_t steps = path.StepsBefore(index);
    // A portal is not a step: all steps before it are possible.
    const bool is_arrival = path.StepsBefore(index) == path.StepsBefore(std::max<std::size_t>(index, 1) - 1);
    const std::size_t made = is_arrival ? steps : steps - 1;
    response.set_blocked_index(static_cast<int>(path.has_directions ? made : index));
    FillCell(path.CoordinatesAt(index).FromPlane(validation.blocked_cell), *response.mutable_blocked_cell());
  }
}

}  // namespace waystar::rpc
