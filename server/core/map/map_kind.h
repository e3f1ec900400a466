// What a map consists of.
#pragma once

namespace waystar::core {

enum class MapKind { kSquares, kHexagons, kWaypointGraph, kMesh };

}  // namespace waystar::core
