// Maps from and to bytes in a named format.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/format/grid_overrides.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

enum class MapFormat : std::uint8_t { kText, kMovingAi };

// The format that bytes are in, judged by how they begin.
MapFormat DetectFormat(absl::string_view bytes);

// INVALID_ARGUMENT with the reasons of ParseText and ParseMovingAi. A field names one of the overrides; where
// the bytes are to blame it is empty and the message names the line.
absl::StatusOr<GridMap> ParseMap(MapFormat format, absl::string_view bytes, const GridOverrides& overrides);

// FAILED_PRECONDITION / NOT_EXPRESSIBLE with field "format" if the format cannot say what the map holds.
absl::StatusOr<std::string> FormatMap(MapFormat format, const GridMap& map);

}  // namespace waystar::core
