// A map as a list of what lies on it: a slow and obvious judge of edits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/core/edit/edit.h"
#include "server/core/elements/obstacle.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar::testing {

class MapModel {
 public:
  explicit MapModel(const core::GridMap& map);

  // REQUIRES: the map accepts it.
  void Apply(const core::Edit& edit);

  core::TerrainId TerrainAt(core::Cell cell) const { return terrains_[IndexOf(cell)]; }
  bool HasNameless(core::Cell cell) const { return blocked_[IndexOf(cell)]; }
  bool HasObstacle(core::Cell cell) const { return HasNameless(cell) || EffectsAt(cell).is_blocked; }
  bool IsPassable(core::Cell cell) const { return !map_.settings().terrains[TerrainAt(cell)].impassable; }
  core::Cost StraightCost(core::Cell cell) const;
  const std::map<std::string, core::Obstacle>& obstacles() const { return obstacles_; }

 private:
  // Of all named obstacles on one cell.
  struct Effects {
    bool is_blocked = false;
    double factor = 1.0;
    double addition = 0.0;
  };

  std::size_t IndexOf(core::Cell cell) const {
    return static_cast<std::size_t>(cell.y * map_.width() + cell.x);
  }
  core::TerrainId IdOf(char symbol) const;
  const Effects& EffectsAt(core::Cell cell) const;
  void AddEffects(const core::Obstacle& obstacle) const;

  template <typename Visitor>
  void ForEachCellOf(const core::Shape& shape, Visitor visit) const;

  core::GridMap map_;
  std::vector<core::TerrainId> terrains_;
  std::vector<bool> blocked_;
  // By id, which is the order in which their effects add up.
  std::map<std::string, core::Obstacle> obstacles_;
  // Worked out when they are asked for; empty while they are not known.
  mutable std::vector<Effects> effects_;
};

// The map has the model's obstacles, terrain, costs and counts.
void ExpectIs(const core::GridMap& map, const MapModel& model, const std::string& where);

}  // namespace waystar::testing
