// Import of maps in any supported format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/map/map_snapshot.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/text/text.h"

namespace waystar::core {

struct NamedMap {
  // Name of a level if the file has several; else empty.
  std::string name;
  AnyMap map;
};

// Returns BAD_VALUE for options that the format does not support, and for a weld out of range.
absl::Status CheckImportOptions(MapFormat format, const ImportOptions& options);

// Returns true if files of the format are navigation meshes.
bool IsMeshFormat(MapFormat format);

struct FileEnding {
  MapFormat format;
  // Reason why a file with this ending is passed over if its format is another; empty if it is read.
  absl::string_view if_other;
};

// Returns the format whose files have names that end so (lower case, ".tmx"), or nullopt.
std::optional<FileEnding> FindEnding(absl::string_view ending);

// Detects the format by the first bytes, and of JSON by its content; kTiled if unknown.
MapFormat DetectFormat(absl::string_view bytes);

// Imports a map. Returns the errors of CheckFileKind and CheckImportOptions, and INVALID_ARGUMENT with the
// reasons of the formats. The field is that of an override ("terrains[0].cost") or of an option from the root
// of a request (kLevelField); it is empty if the bytes are at fault, and the message then names the line,
// layer, tile, pixel or feature. Returns the error of options.grid.stop, which is polled about once per row
// of cells and 64 KiB of text; XML and the pixels of PNG and WebP are decoded in larger steps.
//
// All faces of OBJ and glTF are ground. server/formats/build builds meshes from level geometry.
//
// Memory is proportional to the bytes (about 35 times as much at worst) and bounded by the largest allowed
// map, whatever sizes the bytes claim.
absl::StatusOr<AnyMap> ImportMap(MapFormat format, absl::string_view bytes, const ImportOptions& options);

// Imports every level of the file, as ImportMap imports one. options.level must be empty.
absl::StatusOr<std::vector<NamedMap>> ImportMaps(MapFormat format, absl::string_view bytes,
                                                 const ImportOptions& options);

// Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming the kind, if the bytes begin like a file of
// another kind: an archive or compressed file, a Git LFS pointer, a big-endian Detour mesh, a file of a level
// design program, or a binary file of another supported format.
absl::Status CheckFileKind(MapFormat format, absl::string_view bytes);

}  // namespace waystar::core
