// The maps of a server: from an id to the latest snapshot, and from edits to the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/map/edit.h"
#include "server/core/map/grid_map.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

struct UpdateResult {
  std::uint64_t revision = 0;
  std::int64_t changed_cells = 0;
  Rectangle changed_bounds;
  std::int64_t clipped_cells = 0;
};

// Thread safety: any method from any thread. A reader holds a lock for as long as it takes to copy a pointer;
// an update is composed outside of the locks that readers take, so that neither waits for the other.
class MapStore {
 public:
  // Search indexes of each map take at most `max_index_bytes`.
  explicit MapStore(std::size_t max_maps, std::size_t max_index_bytes = WalkGrid::kDefaultIndexBytes)
      : max_maps_(max_maps), max_index_bytes_(max_index_bytes) {}

  // Whether a map of that id could be created now: BAD_MAP_ID, MAP_EXISTS or TOO_MANY_MAPS if not. Lets a
  // long upload fail before it begins; Create decides.
  absl::Status CheckCanCreate(absl::string_view id) const;

  // INVALID_ARGUMENT / BAD_MAP_ID, ALREADY_EXISTS / MAP_EXISTS, RESOURCE_EXHAUSTED /
  // TOO_MANY_MAPS.
  absl::StatusOr<PinnedSnapshot> Create(absl::string_view id, GridMap grid, absl::Time now);

  // The latest snapshot. INVALID_ARGUMENT / BAD_MAP_ID, NOT_FOUND / MAP_NOT_FOUND.
  absl::StatusOr<PinnedSnapshot> Pin(absl::string_view id) const;

  // At most `limit` latest snapshots in the order of their ids, from the first id greater than `after`.
  std::vector<PinnedSnapshot> List(absl::string_view after, std::size_t limit) const;

  // The last revision the map had. Errors of Pin.
  absl::StatusOr<std::uint64_t> Delete(absl::string_view id);

  // Applies a batch as one new revision and publishes it: every Pin that starts after this returns sees it.
  // Updates of one map run one after the other. Errors of Pin and of ApplyEdits; ABORTED / STALE_REVISION if
  // `expected_revision` is given and not the latest. An error changes nothing.
  absl::StatusOr<UpdateResult> Update(absl::string_view id, absl::Span<const Edit> edits,
                                      std::optional<std::uint64_t> expected_revision);

 private:
  struct Record {
    // Held by the one writer while it composes the next snapshot.
    Mutex writer;
    bool deleted ABSL_GUARDED_BY(writer) = false;

    mutable Mutex mutex;
    PinnedSnapshot latest ABSL_GUARDED_BY(mutex);

    PinnedSnapshot Latest() const {
      MutexLock lock(mutex);
      return latest;
    }
  };

  absl::Status CheckCanCreateLocked(absl::string_view id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::shared_ptr<Record>> FindRecord(absl::string_view id) const;

  const std::size_t max_maps_;
  const std::size_t max_index_bytes_;
  mutable Mutex mutex_;
  std::uint64_t first_revision_ ABSL_GUARDED_BY(mutex_) = 1;
  absl::btree_map<std::string, std::shared_ptr<Record>> records_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
