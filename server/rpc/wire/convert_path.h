// Between the messages of the contract and the values of the core: queries, paths and traces.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/path/summary.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// From the wire. Errors are INVALID_ARGUMENT with the field: UNKNOWN_ENUM_VALUE for a number that the enum
// does not have, MISSING_FIELD, BAD_VALUE for a number out of its range or a form that the algorithm cannot
// write; FAILED_PRECONDITION / WRONG_MAP_KIND for what only queries on waypoint graphs have.
//
// Start and goal are those of the request that are cells; PlaceEnds says the others.
absl::StatusOr<core::PathQuery> ToPathQuery(const v1::FindPathRequest& request);
// Whether it has goals or goal_positions, of which one is to be gone to.
bool HasSeveralGoals(const v1::FindPathRequest& request);
// For queries that can have only one goal: BAD_VALUE with "goals" or "goal_positions" if there are several.
absl::Status CheckOneGoal(const v1::FindPathRequest& request);
absl::StatusOr<core::CornerRule> ToCornerRule(v1::CornerRule rule);
absl::StatusOr<core::PathForm> ToPathForm(v1::PathForm form);
absl::StatusOr<core::Algorithm> ToAlgorithm(v1::Algorithm algorithm);
absl::StatusOr<core::UnreachablePolicy> ToUnreachablePolicy(v1::UnreachablePolicy policy);
absl::StatusOr<int> ToFootprint(std::int32_t footprint);
// How many nodes the search may expand; the largest number there is if the request does not say.
std::uint64_t MaxExpansionsOf(const v1::FindPathRequest& request);
// How many events to keep.
absl::StatusOr<std::size_t> ToMaxEvents(const v1::TraceSearchRequest& request);

// To the wire.
v1::Outcome FromOutcome(core::Outcome outcome);
v1::Reason FromReason(core::OutcomeReason reason);
v1::Algorithm FromAlgorithm(core::Algorithm algorithm);
void FillStatistics(const core::SearchStatistics& statistics, v1::SearchStatistics& out);
void FillCell(core::Cell cell, v1::Cell& out);
// All but the points.
void FillPathResult(const core::PathResult& result, v1::FindPathResponse& response);
void FillPoints(absl::Span<const core::Cell> points, v1::FindPathResponse& response);
void FillPositions(absl::Span<const core::Cell> points, const core::WorldFrame& frame,
                   v1::FindPathResponse& response);
// Adds that of a leg to that of the legs before it.
void AddSummary(const core::PathSummary& summary, const core::GridSettings& settings, v1::PathSummary& out);
void FillSearchEvent(const core::SearchEvent& event, v1::SearchEvent& out);

}  // namespace waystar::rpc
