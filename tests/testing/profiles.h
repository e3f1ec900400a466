// Movement profiles made at random, and maps built as a profile sees them, cell by cell.
#pragma once

#include <string>
#include <utility>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/map/profile_views.h"
#include "tests/testing/generator.h"

namespace waystar {

// Makes a profile of any footprint up to 3, corner rule, costs and forbidden terrains, which leaves a terrain
// to walk on.
inline core::MovementProfile AnyProfile(Generator& generator, const core::GridSettings& settings) {
  core::MovementProfile profile;
  do {
    profile = {.footprint = generator.Chance(0.5) ? 1 : generator.Between(2, 3),
               .corner_rule = static_cast<core::CornerRule>(generator.Between(0, 2)),
               .no_diagonals = generator.Chance(0.3)};
    for (const core::Terrain& terrain : settings.terrains) {
      if (generator.Chance(0.4)) {
        profile.terrain_costs.push_back({terrain.symbol, 0.25 * generator.Between(1, 12)});
      } else if (generator.Chance(0.2)) {
        profile.forbidden_terrains.push_back(terrain.symbol);
      }
    }
  } while (!core::CheckProfile(profile, settings).ok());
  return profile;
}

// Builds a map of the same terrains and obstacles under other settings, which shares nothing with `map`.
inline core::GridMap Rebuilt(const core::GridMap& map, core::GridSettings settings) {
  core::GridMap blank = *core::GridMap::Create(map.width(), map.height(), std::move(settings));
  core::GridMapEditor editor(blank);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      editor.SetTerrains(y, x, x + 1, map.TerrainAt({x, y}));
      editor.SetObstacle({x, y}, map.HasNamelessObstacle({x, y}));
    }
  }
  core::GridMap rebuilt = std::move(editor).Finish();
  map.obstacles().VisitAfter("", [&](const core::Obstacle& obstacle) {
    auto edited = core::ApplyEdits(rebuilt, {core::PutObstacle{.obstacle = obstacle}});
    EXPECT_TRUE(edited.ok()) << edited.status();
    if (edited.ok()) {
      rebuilt = std::move(edited->map);
    }
    return true;
  });
  return rebuilt;
}

inline core::GridMap Rebuilt(const core::GridMap& map, const core::TerrainRules& rules) {
  return Rebuilt(map, rules.ApplyTo(map.settings()));
}

// Returns the view of an agent with that profile; it is the map itself if the agent sees that.
inline const core::GridMap& ViewOf(const core::GridMap& map, const core::MovementProfile& profile,
                                   std::shared_ptr<const core::GridMap>& holder) {
  const core::TerrainRules rules(profile, map.settings());
  if (rules.IsAsIn(map.settings())) {
    return map;
  }
  holder = core::ViewUnder(map, rules);
  return *holder;
}

}  // namespace waystar
