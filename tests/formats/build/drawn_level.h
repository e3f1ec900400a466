// Levels drawn in code.
#pragma once

#include "server/formats/build/level_geometry.h"

namespace waystar::testing {

// Adds geometry piece by piece. Lengths are in units of the game.
class DrawnLevel {
 public:
  // A triangle whose front is the side from which its corners run counterclockwise.
  void AddTriangle(const core::WorldPoint& a, const core::WorldPoint& b, const core::WorldPoint& c);
  // A flat or bent face of four corners.
  void AddFace(const core::WorldPoint& a, const core::WorldPoint& b, const core::WorldPoint& c,
               const core::WorldPoint& d);
  // A rectangle of the plan that looks up. Its height is z_left at the low x and z_right at the high one.
  void AddFloor(double low_x, double low_y, double high_x, double high_y, double z_left, double z_right);
  void AddFloor(double low_x, double low_y, double high_x, double high_y, double z) {
    AddFloor(low_x, low_y, high_x, high_y, z, z);
  }
  // A box whose faces look outwards.
  void AddBox(const core::WorldPoint& low, const core::WorldPoint& high);

  const level::LevelGeometry& geometry() const { return geometry_; }

 private:
  level::LevelGeometry geometry_;
};

}  // namespace waystar::testing
