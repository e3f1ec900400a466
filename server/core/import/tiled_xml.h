// Tiled's XML (.tmx, .tsx) as the JSON that Tiled writes of the same map.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/import/json_value.h"

namespace waystar::core {

// Returns the element `root`, "map", "tileset" or "template", as an object; numbers and booleans are text in
// it, and elements that JSON does not have are null. Groups deeper than kMaxTiledGroups are empty. Returns
// INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line, for what is not XML, declares entities, has
// no such element or has too many; or the error of `stop`, which is asked after the text was taken apart, and
// before each element but tiles.
absl::StatusOr<JsonValue> TiledXmlAsJson(absl::string_view bytes, const char* root,
                                         const StopCheck* stop = nullptr);

}  // namespace waystar::core
