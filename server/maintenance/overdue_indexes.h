// Makes, beside searches and updates, the search indexes of large maps that lag too far behind for those to
// make them.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"

namespace waystar::maintenance {

// One thread, which sleeps while no map has an index that is overdue, and else looks now and then whether
// searches want one; it makes one at a time. A commit only leaves a note of its map.
//
// Thread safety: as StoreListener; construction and destruction by one thread.
class OverdueIndexes final : public core::StoreListener {
 public:
  // Must outlive the updates of the store's maps, as `store` must outlive this. To be added to its listeners.
  explicit OverdueIndexes(core::MapStore& store);
  OverdueIndexes(const OverdueIndexes&) = delete;
  OverdueIndexes& operator=(const OverdueIndexes&) = delete;
  // Leaves what is being made.
  ~OverdueIndexes() override;

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::SharedCommit> commits,
                const core::MapChanges& changes) override;
  void OnDelete(const core::PinnedSnapshot& last) override;

 private:
  using Ids = absl::flat_hash_set<std::string>;

  void Run();
  // The maps to look at, when there are any and it is time to; none if it is time to stop.
  Ids WaitForMaps();
  // Whether the map is to be looked at again.
  bool Look(const std::string& map);

  core::MapStore& store_;
  std::atomic<bool> is_stopping_ = false;
  Mutex mutex_;
  CondVar wake_;
  Ids noted_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace waystar::maintenance
