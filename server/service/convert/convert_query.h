// Conversion of the messages of the contract to route queries, and to agents of any other query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/query/route_query.h"
#include "server/core/search/blockers.h"
#include "server/geometry/cell.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// Errors are INVALID_ARGUMENT with the field: UNKNOWN_ENUM_VALUE, MISSING_FIELD for an incomplete part of a
// shape, BAD_VALUE for a number out of range; and UNIMPLEMENTED / NOT_IMPLEMENTED. `map` is the id of the
// query's own map. core::Resolve checks everything else.
absl::StatusOr<core::RouteQuery> ToRouteQuery(const v1::FindPathRequest& request, absl::string_view map,
                                              const HexCoordinates& coordinates);
// Convert a batch: what its queries share, except the agent, and each of them with that. The errors are the
// same.
absl::StatusOr<core::RouteQuery> ToSharedQuery(const v1::FindPathsRequest& request);
absl::StatusOr<core::RouteQuery> ToRouteQuery(const core::RouteQuery& shared, const v1::PathQuery& query,
                                              absl::string_view map, const HexCoordinates& coordinates);

absl::StatusOr<core::CornerRule> ToCornerRule(v1::CornerRule rule);
v1::CornerRule FromCornerRule(core::CornerRule rule);
v1::Algorithm FromAlgorithm(core::Algorithm algorithm);
v1::PathForm FromPathForm(core::PathForm form);

inline constexpr std::size_t kMaxEvents = 1'000'000;
// Converts a field "max_events" of up to kMaxEvents. Returns `otherwise` for 0.
absl::StatusOr<std::size_t> ToMaxEvents(std::int32_t max_events, std::size_t otherwise);

// Convert the fields common to all questions.
core::Location ToLocation(const v1::Location& location, const HexCoordinates& coordinates);
void FillLocation(const core::Location& location, const HexCoordinates& coordinates, v1::Location& out);
std::optional<core::Snap> ToSnap(bool is_given, const v1::Snap& snap);
absl::StatusOr<core::AgentQuery> ToAgentQuery(const v1::Agent& agent, const v1::View& view,
                                              const HexCoordinates& coordinates);

core::BlockerPrices ToBlockerPrices(const v1::ExplainPathRequest& request);

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
  // Translates an error about a point into one about the message.
  absl::Status InMessage(const absl::Status& status) const;
};

// Converts from the wire. Returns INVALID_ARGUMENT with the field: UNKNOWN_ENUM_VALUE, MISSING_FIELD,
// BAD_VALUE for a footprint out of range, or for directions with points or another form. `behind` are the
// coordinates of the maps that the crossings lead to.
absl::StatusOr<PathToValidate> ToPathToValidate(const v1::Path& message, const HexCoordinates& at_home,
                                                std::vector<HexCoordinates> behind);

// Converts to the wire.
void FillValidation(const core::Validation& validation, const PathToValidate& path, v1::PathValidity& result);

}  // namespace waystar::rpc
