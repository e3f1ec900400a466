// The formats of maps as bytes, and those that maps are written in.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

enum class MapFormat : std::uint8_t {
  kText,
  kMovingAi,
  // The rest can be read alone: see import/.
  kTiled,
  kLdtk,
  kImage,
  kGeoJson,
};

// FAILED_PRECONDITION / NOT_EXPRESSIBLE with field "format" if the format cannot say what the map holds.
absl::StatusOr<std::string> FormatMap(MapFormat format, const GridMap& map);

}  // namespace waystar::core
