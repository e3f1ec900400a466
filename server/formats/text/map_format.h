// Formats of map files.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/grid/map/grid_map.h"

namespace waystar::core {

enum class MapFormat : std::uint8_t {
  kText,
  kMovingAi,
  // Lossless binary image of a map of any kind; see core/codec/.
  kWaystar,
  // The formats below are read-only; see formats/.
  kTiled,
  kLdtk,
  kImage,
  kGeoJson,
  kPolyanya,
  kDetour,
  kObj,
  kUnity,
  kGodot,
  kGltf,
};

// Returns true if files of the format are navigation meshes.
constexpr bool IsMeshFormat(MapFormat format) {
  switch (format) {
    case MapFormat::kPolyanya:
    case MapFormat::kDetour:
    case MapFormat::kObj:
    case MapFormat::kUnity:
    case MapFormat::kGodot:
    case MapFormat::kGltf:
      return true;
    default:
      return false;
  }
}

// Writes a map as text or in the Moving AI format. Returns FAILED_PRECONDITION / NOT_EXPRESSIBLE with field
// "format" if the format cannot express the map, or the error of `stop`, which is polled before each row.
absl::StatusOr<std::string> FormatMap(MapFormat format, const GridMap& map, const StopCheck* stop = nullptr);

}  // namespace waystar::core
