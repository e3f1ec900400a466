// Formats of map files.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/grid/map/grid_map.h"

namespace waystar::core {

// Numbers are those of waystar.v1.MapFormat in types.proto; service/convert/ casts between the two.
enum class MapFormat : std::uint8_t {
  kText = 1,
  kMovingAi = 2,
  kTiled = 3,
  kLdtk = 4,
  kImage = 5,
  kGeoJson = 6,
  // Lossless binary image of a map of any kind; see core/codec/.
  kWaystar = 7,
  kPolyanya = 8,
  kDetour = 9,
  kObj = 10,
  kUnity = 11,
  kGodot = 12,
  kGltf = 13,
};

// Writes a map as text or in the Moving AI format. Returns FAILED_PRECONDITION / NOT_EXPRESSIBLE with field
// "format" if the format cannot express the map, or the error of `stop`, which is polled before each row.
absl::StatusOr<std::string> FormatMap(MapFormat format, const GridMap& map, const StopCheck* stop = nullptr);

}  // namespace waystar::core
