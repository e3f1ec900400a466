// Interfaces through which a store reports changes of its maps, and loads and unloads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/map/map_version.h"

namespace waystar::core {

// One applied batch: an entry of the map's update log. A plain value that can be stored and replayed.
struct Commit {
  std::uint64_t revision = 0;
  // Time on the server's clock; lifetimes of obstacles begin then.
  absl::Time time;
  std::vector<Edit> edits;
  ChangeSummary summary;
  // At most AreaCollector::kMost areas that together contain all changed cells; none if that is
  // summary.changed_bounds alone. On a waypoint graph they are around the changed nodes, edges and obstacles,
  // in whole units of the world.
  std::vector<Rectangle> changed_areas;
  // The map's digest at that revision.
  std::uint64_t digest = 0;
};

using CommitPtr = std::shared_ptr<const Commit>;

// Learns of each change of a map. Called on the thread that changes it, or on the durable log's thread if
// there is a log, in the order of the changes and never concurrently for one map. Maps that share an id over
// time (see MapSnapshot::epoch) are each reported up to their end before the next begins. Listeners must be
// quick and must not change maps themselves.
class StoreListener {
 public:
  virtual ~StoreListener() = default;

  // Called after `snapshot` was published. `commits` lead to it from the previously published snapshot, and
  // `changes` is their union. If the commits are unknown, because a shared log had only a later image,
  // `commits` is empty and `changes` is everything.
  virtual void OnCommit(const PinnedSnapshot& snapshot, absl::Span<const CommitPtr> commits,
                        const MapChanges& changes) = 0;

  // Called when the map is deleted or replaced, once it can no longer be pinned. It is the last report of
  // that map. A map that replaces it may already be pinned, but is not reported before this returns.
  virtual void OnDelete(const PinnedSnapshot& last) = 0;

  // Called when an unloaded map has been loaded, before any other event of it. In a cluster, other servers
  // may have changed it while it was unloaded.
  virtual void OnLoad(const PinnedSnapshot& /*snapshot*/) {}

  // Returns true if the map must stay in memory. A listener that begins to need a map, and then finds it in
  // memory, learns of all its events. Called from any thread.
  virtual bool Needs(const MapSnapshot& /*latest*/) const { return false; }
};

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
