// Import of maps from bytes in any format that the server reads.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/format/map_format.h"
#include "server/core/import/import_options.h"
#include "server/core/kind/any_map.h"

namespace waystar::core {

struct NamedMap {
  // The name of a level if the file has several; else empty.
  std::string name;
  AnyMap map;
};

// Returns BAD_VALUE for options that files of the format have no use for, and for a weld that is out of
// range.
absl::Status CheckImportOptions(MapFormat format, const ImportOptions& options);

// Returns the format of bytes, judged by how they begin, and of JSON by its content; kTiled if unknown.
MapFormat DetectFormat(absl::string_view bytes);

// Returns the errors of CheckFileKind, and INVALID_ARGUMENT with the reasons of the formats. A field names
// one of the overrides
// ("terrains[0].cost"), or an option from the root of a request (kLevelField); where the bytes are to blame
// it is empty, and the message names the line, layer, tile, pixel or feature. Options that the format has no
// use for are refused with BAD_VALUE. Returns the error of options.grid.stop, which is asked for about each
// row of cells and 64 KiB of text, once it has one; XML and the pixels of PNG and WebP are decoded in larger
// steps.
//
// All faces of OBJ and glTF are ground; of the geometry of a level server/level builds the mesh.
//
// It takes memory in proportion to the bytes (about 35 times as much at worst) and to the largest map there
// may be, whatever sizes and lengths the bytes claim.
absl::StatusOr<AnyMap> ImportMap(MapFormat format, absl::string_view bytes, const ImportOptions& options);

// As ImportMap, but reads every level of a file that has several, which options.level must not name.
absl::StatusOr<std::vector<NamedMap>> ImportMaps(MapFormat format, absl::string_view bytes,
                                                 const ImportOptions& options);

}  // namespace waystar::core
