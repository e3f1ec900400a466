// Conversion between the messages of the contract and the values of the core: paths to validate.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/portal/portal_validation.h"
#include "server/geometry/cell.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Owns the data that a core::ValidationQuery refers to.
struct PathToValidate {
  std::vector<core::Cell> points;
  std::vector<core::CrossedPortal> crossings;
  core::CornerRule corner_rule = core::CornerRule::kNoCornerCutting;
  core::PathForm path_form = core::PathForm::kEveryCell;
  int footprint = 1;
  // True if the points were made from directions.
  bool has_directions = false;
  // Coordinates of the map, and of those that the crossings lead to.
  HexCoordinates at_home;
  std::vector<HexCoordinates> behind;

  core::ValidationQuery query() const {
    return {.points = points, .corner_rule = corner_rule, .path_form = path_form, .footprint = footprint};
  }
  // Returns the number of steps from cell to cell up to a point of a path of directions.
  std::size_t StepsBefore(std::size_t point) const;
  // Returns the coordinates of the map of a point.
  const HexCoordinates& CoordinatesAt(std::size_t point) const;
  // Translates an error about a point into one about the request.
  absl::Status InRequest(const absl::Status& status) const;
};

// Converts from the wire. Returns INVALID_ARGUMENT with the field: UNKNOWN_ENUM_VALUE, MISSING_FIELD,
// BAD_VALUE for a footprint out of range or directions with several points; RESOURCE_EXHAUSTED /
// PATH_TOO_LONG. `behind` are the coordinates of the maps that the crossings lead to.
absl::StatusOr<PathToValidate> ToPathToValidate(const v1::ValidatePathRequest& request,
                                                const HexCoordinates& at_home,
                                                std::vector<HexCoordinates> behind);

// Converts to the wire.
void FillValidation(const core::Validation& validation, const PathToValidate& path,
                    v1::ValidatePathResponse& response);

}  // namespace waystar::rpc
