// A batch of edits that was checked against a map and is ready to be painted.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"

namespace waystar::core {

// One edit: paints `shape`, or replaces a named obstacle.
struct PlannedEdit {
  enum class Kind : std::uint8_t { kBlock, kUnblock, kSetTerrain, kReplace };

  Kind kind = Kind::kReplace;
  // Owned by the edit, which must outlive the plan.
  const Shape* shape = nullptr;
  TerrainId terrain = 0;
  // Null if the obstacle did not exist before, or will not exist after.
  std::shared_ptr<const Obstacle> before;
  std::shared_ptr<const Obstacle> after;
};

struct EditPlan {
  std::vector<PlannedEdit> edits;
  // Tables after all edits; each is null if unchanged.
  std::shared_ptr<const ObstacleTable> obstacles;
  std::shared_ptr<const PortalTable> portals;
  std::shared_ptr<const ProfileTable> profiles;
  // Work of painting the edits in units of kMaxBatchCells.
  std::int64_t work = 0;
};

// Checks a batch and plans it; finds every possible error of a batch. Edits apply in order, all or none, each
// to the result of the earlier ones; where two touch a cell, the later one wins. Lifetimes begin at `now`.
//
// Errors name the edit in their field ("edits[3].block.cells[0]"):
// - those of CheckShape, CheckObstacle, CheckPortal, and of PutInTable and RemoveFromTable in
//   movement_profile.h;
// - INVALID_ARGUMENT / EMPTY_BATCH, UNKNOWN_TERRAIN, BAD_LIFETIME, BAD_EFFECT (an effect with falloff on an
//   unsupported shape) or BAD_VALUE (of a move);
// - OUT_OF_RANGE / OFF_MAP for a move beyond the range of coordinates;
// - NOT_FOUND / OBSTACLE_NOT_FOUND or PORTAL_NOT_FOUND;
// - ALREADY_EXISTS / OBSTACLE_EXISTS, PORTAL_EXISTS, or PORTAL_OVERLAPS for a portal with the same ends as
//   another;
// - RESOURCE_EXHAUSTED / TOO_MANY_OBSTACLES, TOO_MANY_PORTALS, or BATCH_TOO_LARGE beyond kMaxBatchCells;
// - FAILED_PRECONDITION / WRONG_MAP_KIND for an edit of a waypoint graph or a mesh.
absl::StatusOr<EditPlan> PlanEdits(const GridMap& map, absl::Span<const Edit> edits, absl::Time now);

}  // namespace waystar::core
