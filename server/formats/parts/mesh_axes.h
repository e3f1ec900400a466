// Coordinate systems of mesh files.
#pragma once

#include <cstdint>

#include "server/geometry/world_point.h"

namespace waystar::core {

// Conversion of file coordinates to the server's, where x and y are the plan and z is the height.
enum class MeshAxes : std::uint8_t {
  // y is the height, as in Recast, Unity and Godot: (x, y, z) becomes (x, z, y).
  kYUp,
  // Unchanged.
  kZUp,
  // Recast coordinates of a level from Unreal: (x, y, z) becomes (-x, -z, y), Unreal's own position in
  // centimetres.
  kUnreal,
};

constexpr WorldPoint FromAxes(MeshAxes axes, double x, double y, double z) {
  switch (axes) {
    case MeshAxes::kYUp:
      return {x, z, y};
    case MeshAxes::kZUp:
      break;
    case MeshAxes::kUnreal:
      return {-x, -z, y};
  }
  return {x, y, z};
}

}  // namespace waystar::core
