// Conversion of the messages of the contract to route queries, and to agents of any other query.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/query/route_query.h"
#include "server/rpc/wire/hex_coordinates.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Errors are INVALID_ARGUMENT with the field: UNKNOWN_ENUM_VALUE for a number that the enum does not have,
// MISSING_FIELD for a part of a shape that lacks one, BAD_VALUE for a number out of its range, and those of
// the coordinates. All else is for core::Resolve to check.
absl::StatusOr<core::RouteQuery> ToRouteQuery(const v1::FindPathRequest& request,
                                              const HexCoordinates& coordinates);

absl::StatusOr<core::CornerRule> ToCornerRule(v1::CornerRule rule);
absl::StatusOr<core::PathForm> ToPathForm(v1::PathForm form);
absl::StatusOr<core::Algorithm> ToAlgorithm(v1::Algorithm algorithm);
absl::StatusOr<core::UnreachablePolicy> ToUnreachablePolicy(v1::UnreachablePolicy policy);
// Returns how many events a trace may keep.
absl::StatusOr<std::size_t> ToMaxEvents(const v1::TraceSearchRequest& request);

// Set in `agent` what a request says of its profile, overlay and rules.
absl::Status SetProfile(const v1::MovementProfile& profile, core::AgentQuery& agent);
absl::Status SetOverlay(const v1::Overlay& overlay, const HexCoordinates& coordinates,
                        core::AgentQuery& agent);
absl::Status SetRules(v1::CornerRule corner_rule, std::int32_t footprint, core::AgentQuery& agent);

// Converts what any request says of its agent, in the fields that FindPathRequest has for it.
template <typename Request>
absl::StatusOr<core::AgentQuery> ToAgentQuery(const Request& request, const HexCoordinates& coordinates) {
  core::AgentQuery agent;
  absl::Status status;
  if (request.has_profile()) {
    status.Update(SetProfile(request.profile(), agent));
  }
  if (request.has_profile_name()) {
    agent.profile_name = request.profile_name();
  }
  if constexpr (requires { request.footprint(); }) {
    status.Update(SetRules(request.corner_rule(), request.footprint(), agent));
  }
  if (request.has_overlay()) {
    status.Update(SetOverlay(request.overlay(), coordinates, agent));
  }
  if (!status.ok()) {
    return status;
  }
  return agent;
}

}  // namespace waystar::rpc
