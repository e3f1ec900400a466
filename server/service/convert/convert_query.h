// Conversion of the messages of the contract to route queries, and to agents of any other query.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/query/route_query.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"
#include "waystar/v1/view.pb.h"

namespace waystar::rpc {

// Errors are INVALID_ARGUMENT with the field: UNKNOWN_ENUM_VALUE, MISSING_FIELD for an incomplete part of a
// shape, BAD_VALUE for a number out of range. `map` is the id of the query's own map. core::Resolve checks
// everything else.
absl::StatusOr<core::RouteQuery> ToRouteQuery(const v1::FindPathRequest& request, absl::string_view map,
                                              const HexCoordinates& coordinates);

absl::StatusOr<core::CornerRule> ToCornerRule(v1::CornerRule rule);
absl::StatusOr<core::PathForm> ToPathForm(v1::PathForm form);
absl::StatusOr<core::Algorithm> ToAlgorithm(v1::Algorithm algorithm);
absl::StatusOr<core::UnreachablePolicy> ToUnreachablePolicy(v1::UnreachablePolicy policy);
// Returns the maximum number of events of a trace.
absl::StatusOr<std::size_t> ToMaxEvents(const v1::TraceSearchRequest& request);

// Convert the fields common to all questions.
core::Location ToLocation(const v1::Location& location, const HexCoordinates& coordinates);
std::optional<core::Snap> ToSnap(bool is_given, const v1::Snap& snap);
absl::StatusOr<core::AgentQuery> ToAgentQuery(const v1::Agent& agent, const v1::View& view,
                                              const HexCoordinates& coordinates);

}  // namespace waystar::rpc
