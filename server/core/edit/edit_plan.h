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
#include "server/core/map/portal_table.h"

namespace waystar::core {

// One edit: paints `shape`, or has one named obstacle take the place of another.
struct PlannedEdit {
  enum class Kind : std::uint8_t { kBlock, kUnblock, kSetTerrain, kReplace };

  Kind kind = Kind::kReplace;
  // Of the edit, which must outlive the plan.
  const Shape* shape = nullptr;
  TerrainId terrain = 0;
  // Null where there was none, or will be none.
  std::shared_ptr<const Obstacle> before;
  std::shared_ptr<const Obstacle> after;
};

struct EditPlan {
  std::vector<PlannedEdit> edits;
  // After all of them; each null if none of them changes it.
  std::shared_ptr<const ObstacleTable> obstacles;
  std::shared_ptr<const PortalTable> portals;
  std::shared_ptr<const ProfileTable> profiles;
};

// Everything that can be wrong with a batch is found here. Each edit sees the obstacles that those before it
// leave. Errors: those of ApplyEdits.
absl::StatusOr<EditPlan> PlanEdits(const GridMap& map, absl::Span<const Edit> edits, absl::Time now);

}  // namespace waystar::core
