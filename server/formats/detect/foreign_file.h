// Recognizes files of a wrong kind by their first bytes.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/formats/text/map_format.h"

namespace waystar::core {

// Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming the kind, if the bytes begin like a file of
// another kind: an archive or compressed file, a Git LFS pointer, a big-endian Detour mesh, a file of a level
// design program, or a binary file of another supported format.
absl::Status CheckFileKind(MapFormat format, absl::string_view bytes);

}  // namespace waystar::core
