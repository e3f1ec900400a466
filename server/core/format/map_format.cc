#include "server/core/format/map_format.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "server/core/format/moving_ai.h"
#include "server/core/format/text.h"

namespace waystar::core {

MapFormat DetectFormat(absl::string_view bytes) {
  return absl::StartsWith(bytes, kMovingAiMagic) ? MapFormat::kMovingAi : MapFormat::kText;
}

absl::StatusOr<GridMap> ParseMap(MapFormat format, absl::string_view bytes, const GridOverrides& overrides) {
  switch (format) {
    case MapFormat::kText:
      return ParseText(bytes, overrides);
    case MapFormat::kMovingAi:
      return ParseMovingAi(bytes, overrides);
  }
  return ParseText(bytes, overrides);
}

absl::StatusOr<std::string> FormatMap(MapFormat format, const GridMap& map) {
  switch (format) {
    case MapFormat::kText:
      return FormatText(map);
    case MapFormat::kMovingAi:
      return FormatMovingAi(map);
  }
  return FormatText(map);
}

}  // namespace waystar::core
