// Interface for reading maps that are not in memory.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/map/map_version.h"

namespace waystar::core {

// Thread safety: any method may be called from any thread except the log's.
class MapSource {
 public:
  virtual ~MapSource() = default;

  // Makes a map in memory readable again at its latest version, which it returns. Returns the errors of
  // MapStore::Store and of the storage.
  virtual absl::StatusOr<MapVersion> Keep(absl::string_view id) = 0;

  // Reads an unloaded map and loads it (MapStore::Load). Also returns OK if the map was loaded or ended
  // meanwhile. Returns DATA_LOSS if it is damaged, MAPS_MEMORY_FULL, and the errors of the storage.
  virtual absl::Status Load(absl::string_view id) = 0;
};

}  // namespace waystar::core
