// Files of other kinds than the one that is asked for, known by their first bytes.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/format/map_format.h"

namespace waystar::core {

// Returns INVALID_ARGUMENT / BAD_FORMAT without a field, which names the kind, if the bytes begin as files of
// another kind do: archives and compressed files, pointers of Git LFS, meshes of Detour with big-endian
// numbers, files of programs that draw levels, and binary files of another format that is read.
absl::Status CheckFileKind(MapFormat format, absl::string_view bytes);

}  // namespace waystar::core
