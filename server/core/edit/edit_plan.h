// A batch of edits, checked against a map and ready to be painted.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/movement_profile.h"
#include "server/core/map/obstacle_table.h"
#include "server/core/map/portal.h"

namespace waystar::core {

// One edit: it paints `shape`, or replaces a named obstacle by another.
struct PlannedEdit {
  enum class Kind : std::uint8_t { kBlock, kUnblock, kSetTerrain, kReplace };

  Kind kind = Kind::kReplace;
  // The shape belongs to the edit, which must outlive the plan.
  const Shape* shape = nullptr;
  TerrainId terrain = 0;
  // Null if there was none before, or will be none after.
  std::shared_ptr<const Obstacle> before;
  std::shared_ptr<const Obstacle> after;
};

struct EditPlan {
  std::vector<PlannedEdit> edits;
  // The tables after all edits; each is null if no edit changes it.
  std::shared_ptr<const ObstacleTable> obstacles;
  std::shared_ptr<const PortalTable> portals;
  std::shared_ptr<const ProfileTable> profiles;
  // What painting the edits takes, counted as in kMaxBatchCells.
  std::int64_t work = 0;
};

// Checks a batch and plans it: everything that can be wrong with a batch is found here. Edits apply in order,
// all or none, each to what those before it leave; a later one wins where two touch a cell. `now` is when
// lifetimes begin.
//
// Errors name the edit in their field ("edits[3].block.cells[0]"): those of CheckShape, CheckObstacle and
// CheckPortal; INVALID_ARGUMENT with reason EMPTY_BATCH, UNKNOWN_TERRAIN, BAD_LIFETIME, BAD_EFFECT (a shape
// that an effect with falloff cannot have) or BAD_VALUE (of a move); OUT_OF_RANGE / OFF_MAP for a move beyond
// the range of coordinates; NOT_FOUND / OBSTACLE_NOT_FOUND, PORTAL_NOT_FOUND; ALREADY_EXISTS /
// OBSTACLE_EXISTS, PORTAL_EXISTS, or PORTAL_OVERLAPS for one with the same ends as another;
// RESOURCE_EXHAUSTED / TOO_MANY_OBSTACLES, TOO_MANY_PORTALS, or BATCH_TOO_LARGE for more than kMaxBatchCells;
// those of PutInTable and RemoveFromTable in movement_profile.h; FAILED_PRECONDITION / WRONG_MAP_KIND for an
// edit of a waypoint graph.
absl::StatusOr<EditPlan> PlanEdits(const GridMap& map, absl::Span<const Edit> edits, absl::Time now);

}  // namespace waystar::core
