// Interfaces through which a store loads and unloads maps.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/map/map_version.h"

namespace waystar::core {

// With a residence, a store may keep only some of its maps in memory. It knows the ids and versions of the
// others, which are called unloaded.
//
// Thread safety: any method may be called from any thread.
class MapResidence {
 public:
  virtual ~MapResidence() = default;

  // Schedules the load of an unloaded map (MapStore::Load). Called for every access to such a map, with no
  // lock of the store held. Must be quick.
  virtual void LoadSoon(absl::string_view id) = 0;

  // Unloads least recently used maps until `bytes` can be reserved. Returns true if it unloaded any. May wait
  // for storage and so for the log: the log's thread must not call it, unless the log is shared.
  virtual bool MakeRoom(std::size_t bytes) = 0;
};

// Returns true if `status` says that a map does not fit in memory.
bool HasNoRoom(const absl::Status& status);

// Returns UNAVAILABLE / MAP_LOADING with a retry delay.
absl::Status MapLoading(absl::string_view id);
// Returns the map id of a MAP_LOADING error; empty for any other status.
std::string LoadingMapOf(const absl::Status& status);

// Storage of maps that are not in memory.
//
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
