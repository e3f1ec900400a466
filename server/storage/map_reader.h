// Reads one map of a folder, as of the end of its log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/storage/folder.h"
#include "server/storage/image_file.h"
#include "server/storage/log_entry.h"
#include "server/storage/log_history.h"

namespace waystar::storage {

using ImagesByMap = absl::flat_hash_map<std::string, ImageName>;

// Returns the newest image of each map of the log that has one, of the files of these names. An image of a
// revision that the log does not know is none of them.
ImagesByMap NewestImages(const std::vector<std::string>& names, const LogHistory& history);

struct ReadMapResult {
  MapState state;
  // Of the map's image; 0 if it was read from its creation.
  std::uint64_t image_bytes = 0;
  // The commits that were applied to that, and what it took, counted as WorkOfCommit.
  std::size_t commits = 0;
  std::uint64_t work = 0;
};

// Reads the map's image, or else its creation, and applies the commits of the log, whatever the epochs of
// these: what is returned has the epoch of `map`. Returns DATA_LOSS if the map is damaged: it names the map,
// or the file and the offset. Returns FAILED_PRECONDITION if the image is of a version that is not known, and
// the errors of the folder.
absl::StatusOr<ReadMapResult> ReadMap(const Folder& folder, const LogHistory& history,
                                      const ImagesByMap& images, const LiveMap& map);

}  // namespace waystar::storage
