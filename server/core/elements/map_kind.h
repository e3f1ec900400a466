// Kinds of maps.
#pragma once

namespace waystar::core {

enum class MapKind { kSquares, kHexagons, kWaypointGraph, kMesh };

}  // namespace waystar::core
