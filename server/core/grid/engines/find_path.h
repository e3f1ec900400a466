// Path queries on one map: checks a query, searches, and returns the path in the requested form.
#pragma once

#include "absl/status/statusor.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Finds a path. It is stored in `scratch` and valid until the next search there.
//
// An unreachable goal, one that is too costly and an exhausted budget are results. Returns INVALID_ARGUMENT /
// BAD_VALUE for directions of an any-angle path; FAILED_PRECONDITION / ALGORITHM_UNSUITED if the algorithm
// cannot search this map; and the errors of CheckFootprint, of CheckOnMap and CheckWalkable with "start" or
// "goal" (a blocked goal only with UnreachablePolicy::kReport), and of InterruptionError.
//
// Thread safety: only reads `map`; `scratch` belongs to the caller's thread.
absl::StatusOr<PathResult> FindPath(const GridMap& map, const PathQuery& query, const Budget& budget,
                                    Scratch& scratch);

// As FindPath, and records the events of the search in `recorder`.
absl::StatusOr<PathResult> TraceSearch(const GridMap& map, const PathQuery& query, const Budget& budget,
                                       Scratch& scratch, EventRecorder& recorder);

}  // namespace waystar::core
