// A large world whose navigation mesh Recast makes.
#pragma once

#include <string>

#include "server/formats/build/level_geometry.h"

namespace waystar::bench {

// Returns an MSET file of the mesh of a square of so many tiles of 19.2 m a side, at most 64: hills with
// 2,500 houses, 300 walls with a gap each and 60 bridges a square kilometre, for an agent with a radius of
// 0.6 m that climbs 0.9 m. Roofs are islands of the mesh. The same number gives the same world on the same
// machine. It costs 3 ms a tile.
std::string MakeMeshWorld(int tiles_a_side);

// Returns the triangles of the same world.
level::LevelGeometry MakeLevelWorld(int tiles_a_side);

}  // namespace waystar::bench
