// Reads one map of a folder, as of the end of the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/image_file.h"
#include "server/storage/folder/log_entry.h"
#include "server/storage/folder/log_history.h"

namespace waystar::storage {

using ImagesByMap = absl::flat_hash_map<std::string, ImageName>;

// Returns the newest image of each map in the log, among the files of these names. Images of versions that
// the log does not know are ignored.
ImagesByMap NewestImages(const std::vector<std::string>& names, const LogHistory& history);

struct ReadMapResult {
  MapState state;
  // Size of the map's image file; 0 if the map was read from its creation.
  std::uint64_t image_bytes = 0;
  // Commits applied to the image or creation, and the work for that as counted by WorkOfCommit.
  std::size_t commits = 0;
  std::uint64_t work = 0;
};

// Reads the image of a map, or else its creation, and applies the commits of the log, whatever their epochs.
// The result has the epoch of `map`. Returns DATA_LOSS, with the map or the file and the offset, if the map
// is damaged; FAILED_PRECONDITION if the image has an unknown format version; and the errors of the folder.
absl::StatusOr<ReadMapResult> ReadMap(const Folder& folder, const LogHistory& history,
                                      const ImagesByMap& images, const LiveMap& map);

}  // namespace waystar::storage
