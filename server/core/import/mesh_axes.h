// Coordinates of files that hold meshes.
#pragma once

#include <cstdint>

#include "server/core/graph/world_point.h"

namespace waystar::core {

// How the coordinates of a file become ours, whose x and y are the plan and whose z is the height.
enum class MeshAxes : std::uint8_t {
  // y is the height, as in Recast, Unity and Godot: (x, y, z) becomes (x, z, y).
  kYUp,
  // They stay as they are.
  kZUp,
  // A file in the coordinates of Recast that comes from Unreal: (x, y, z) becomes (-x, -z, y), which is where
  // Unreal has the point, in centimetres.
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
