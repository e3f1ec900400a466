// Interface through which a store loads and unloads maps.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

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

}  // namespace waystar::core
