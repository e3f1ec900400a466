#include "server/formats/text/map_format.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/formats/text/moving_ai.h"
#include "server/formats/text/text.h"

namespace waystar::core {

absl::StatusOr<std::string> FormatMap(MapFormat format, const GridMap& map, const StopCheck* stop) {
  if (format == MapFormat::kText) {
    std::string text = FormatText(map, stop);
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    return text;
  }
  if (format == MapFormat::kMovingAi) {
    return FormatMovingAi(map, stop);
  }
  return MakeError(ErrorReason::kNotExpressible, "format",
                   "files of this format are read, not written; export as text");
}

}  // namespace waystar::core
