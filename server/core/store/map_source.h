// The interface by which maps that are not in memory are read.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/store/map_version.h"

namespace waystar::core {

// Thread safety: any method may be called from any thread, but for the log's.
class MapSource {
 public:
  virtual ~MapSource() = default;

  // Makes sure that a map in memory can be read again as of the version that is returned, its latest. Returns
  // the errors of MapStore::Store and of the storage.
  virtual absl::StatusOr<MapVersion> Keep(absl::string_view id) = 0;

  // Reads an unloaded map and loads it (MapStore::Load). Returns OK, too, if it is not unloaded any more when
  // it is read. Returns DATA_LOSS if it is damaged, MAPS_MEMORY_FULL, and the errors of the storage.
  virtual absl::Status Load(absl::string_view id) = 0;
};

}  // namespace waystar::core
