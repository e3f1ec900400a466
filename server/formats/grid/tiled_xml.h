// Conversion of Tiled XML (.tmx, .tsx) to the equivalent Tiled JSON.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/formats/parts/json_value.h"

namespace waystar::core {

// Returns the element `root` ("map", "tileset" or "template") as an object. Numbers and booleans are text,
// and elements unknown in JSON are null. Groups deeper than kMaxTiledGroups are empty. Returns
// INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line, for bytes that are not XML, declare
// entities, lack the root element or have too many elements; or the error of `stop`, which is polled after
// the text is parsed and before each element except tiles.
absl::StatusOr<JsonValue> TiledXmlAsJson(absl::string_view bytes, const char* root,
                                         const StopCheck* stop = nullptr);

}  // namespace waystar::core
