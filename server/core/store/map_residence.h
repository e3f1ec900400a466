// The interface by which a store has maps brought into memory and let go of.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// A store that has one may hold fewer maps in memory than there are: it knows the ids and versions of the
// others, which are unloaded.
//
// Thread safety: any method may be called from any thread.
class MapResidence {
 public:
  virtual ~MapResidence() = default;

  // Has an unloaded map loaded soon (MapStore::Load). Called for each who asks for one, with no lock of the
  // store held; it must be quick.
  virtual void LoadSoon(absl::string_view id) = 0;

  // Unloads maps that nobody has asked for lately until so many bytes can be reserved. Returns whether it has
  // unloaded any. It may wait for storage, and so for the log: the log's thread must not call it, unless the
  // log is shared.
  virtual bool MakeRoom(std::size_t bytes) = 0;
};

// Returns whether a map was not taken since memory has no room for it.
bool HasNoRoom(const absl::Status& status);

// Makes the error UNAVAILABLE / MAP_LOADING, with a retry delay.
absl::Status MapLoading(absl::string_view id);
// Returns the map that such an error is about; empty for any other status.
std::string LoadingMapOf(const absl::Status& status);

}  // namespace waystar::core
