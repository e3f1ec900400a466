// The interface by which a store reports changes of its maps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/map/map_changes.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// One batch that was applied: an entry of the map's update log. It is a plain value that can be stored and
// replayed.
struct Commit {
  std::uint64_t revision = 0;
  // The time on the server's clock, at which lifetimes of obstacles begin.
  absl::Time time;
  std::vector<Edit> edits;
  ChangeSummary summary;
  // The map's digest at that revision.
  std::uint64_t digest = 0;
};

using SharedCommit = std::shared_ptr<const Commit>;

// Called on whichever thread changes the map, or on the thread of the durable log if there is one, in the
// order in which it changes, never at the same time for the same map. Of maps that have had the same id,
// which MapSnapshot::epoch tells apart, each is reported to its end before the next. Listeners must be quick,
// and must not change maps themselves.
class StoreListener {
 public:
  virtual ~StoreListener() = default;

  // Called when `snapshot` was published. `commits` led to it from the one published before, and `changes` is
  // what they did together. There are no commits if the revisions between are not known, since a fleet's log
  // had nothing but a later image; then `changes` is everything.
  virtual void OnCommit(const PinnedSnapshot& snapshot, absl::Span<const SharedCommit> commits,
                        const MapChanges& changes) = 0;

  // Called when the map is deleted or replaced, once it cannot be pinned any more; nothing more is reported
  // of it. When it is replaced, the new map can be pinned already, but nothing is reported of that before
  // this returns.
  virtual void OnDelete(const PinnedSnapshot& last) = 0;

  // Called when a map that was not in memory has been loaded, before anything else that happens to it. In a
  // fleet, others may have changed it meanwhile.
  virtual void OnLoad(const PinnedSnapshot& /*snapshot*/) {}

  // Returns whether the map is to stay in memory. Whoever makes it so and finds the map in memory afterwards
  // hears of all that happens to it. Called from any thread.
  virtual bool Needs(const MapSnapshot& /*latest*/) const { return false; }
};

}  // namespace waystar::core
