// Path queries on one map: checks a query, searches, and returns the path in the form that was asked for.
#pragma once

#include "absl/status/statusor.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// Finds a path. It lives in `scratch` until the next search there.
//
// An unreachable goal and an exhausted budget are results. Returns OUT_OF_RANGE / OFF_MAP and
// FAILED_PRECONDITION / START_BLOCKED or GOAL_BLOCKED (the latter only with UnreachablePolicy::kReport), with
// the field "start" or "goal"; DEADLINE_EXCEEDED, CANCELLED and ABORTED / SNAPSHOT_EVICTED when the budget's
// deadline or flags stopped the search; INVALID_ARGUMENT / BAD_VALUE for a footprint out of range, or
// directions of an any-angle path; FAILED_PRECONDITION / ALGORITHM_UNSUITED for an algorithm that cannot
// search this map.
//
// Thread safety: it only reads `map`; `scratch` belongs to the caller's thread.
absl::StatusOr<PathResult> FindPath(const GridMap& map, const PathQuery& query, const Budget& budget,
                                    Scratch& scratch);

// Returns the same result by the same search, whose events `recorder` gets.
absl::StatusOr<PathResult> TraceSearch(const GridMap& map, const PathQuery& query, const Budget& budget,
                                       Scratch& scratch, EventRecorder& recorder);

}  // namespace waystar::core
