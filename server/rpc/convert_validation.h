// Between the messages of the contract and the values of the core: paths that are validated.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/grid/cell.h"
#include "server/core/search/validate_path.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Holds what a core::ValidationQuery refers to.
struct PathToValidate {
  std::vector<core::Cell> points;
  core::CornerRule corner_rule = core::CornerRule::kNoCornerCutting;
  core::PathForm path_form = core::PathForm::kEveryCell;
  int footprint = 1;

  core::ValidationQuery query() const {
    return {.points = points, .corner_rule = corner_rule, .path_form = path_form, .footprint = footprint};
  }
};

// From the wire. Errors are INVALID_ARGUMENT with the field: UNKNOWN_ENUM_VALUE, MISSING_FIELD, BAD_VALUE for
// a footprint out of range or directions with more than one point; RESOURCE_EXHAUSTED / PATH_TOO_LONG.
absl::StatusOr<PathToValidate> ToPathToValidate(const v1::ValidatePathRequest& request);

// An error about "points[i]" as one about the direction that leads there.
absl::Status OfDirections(const absl::Status& status);

// To the wire.
void FillValidation(const core::Validation& validation, const v1::ValidatePathRequest& request,
                    v1::ValidatePathResponse& response);

}  // namespace waystar::rpc
