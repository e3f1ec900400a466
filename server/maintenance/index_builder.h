// Builder of search indexes in the background: static indexes of quiet maps, and jump indexes of large maps.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/core/store/map_version.h"
#include "server/core/store/store_listener.h"

namespace waystar::maintenance {

struct IndexBuilderOptions {
  // How long a map must not have changed before its static index is built.
  absl::Duration quiet_time = absl::Seconds(2);
  // Bound on the static indexes of all maps together, and on the memory at work on one; 0 builds none.
  std::size_t max_static_bytes = 0;
};

// A static index is built once a search has asked for it and its map is quiet; a change to the map stops the
// build. Jump indexes are built of maps whose GridMap::NeedsBackgroundBuild says so, once searches have paid
// for them; a commit only leaves a note of its map.
//
// One thread looks for both and builds the jump indexes. A static index, one at a time, is built by a thread
// that it starts for that, which runs only when the machine has nothing else to do: Linux lets no thread
// return from such a priority.
//
// Thread safety: as StoreListener; construction and destruction by one thread.
class IndexBuilder final : public core::StoreListener {
 public:
  // `store` must outlive this, and this the updates of the store's maps. To be added to its listeners.
  IndexBuilder(core::MapStore& store, const IndexBuilderOptions& options);
  IndexBuilder(const IndexBuilder&) = delete;
  IndexBuilder& operator=(const IndexBuilder&) = delete;
  // Stops what is being built.
  ~IndexBuilder() override;

  // Looks at all maps. To be called once those of a data folder are restored.
  void LookAtMaps();

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::SharedCommit> commits,
                const core::MapChanges& changes) override;
  void OnDelete(const core::PinnedSnapshot& /*last*/) override {}
  void OnLoad(const core::PinnedSnapshot& snapshot) override { NoteIfDue(*snapshot); }

 private:
  using Clock = std::chrono::steady_clock;
  using Ids = absl::flat_hash_set<std::string>;

  // The version that a map has had since a point in time.
  struct Seen {
    core::MapVersion version;
    absl::Time since;
  };

  // Notes the map if it has jump indexes to be built.
  void NoteIfDue(const core::MapSnapshot& snapshot);
  void Run();
  // Returns when maps are to be looked at; false if it is time to stop.
  bool WaitForRound();
  void BuildJumpIndexes();
  // Returns whether the map is to be looked at again.
  bool BuildJumpIndexesOf(const std::string& map);
  void LookForStaticIndex();
  void StartStaticIndex(const core::PinnedSnapshot& snapshot, std::size_t max_bytes);
  void BuildStaticIndex(const core::MapSnapshot& snapshot, std::size_t max_bytes);

  core::MapStore& store_;
  const IndexBuilderOptions options_;
  Clock::time_point next_static_round_;
  absl::flat_hash_map<std::string, Seen> seen_;
  std::atomic<bool> is_stopping_ = false;
  Mutex mutex_;
  CondVar wake_;
  // Maps whose jump indexes are to be built.
  Ids noted_ ABSL_GUARDED_BY(mutex_);
  // The map whose static index is being built; null if none is.
  core::PinnedSnapshot building_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
  // The other thread starts it for building_.
  std::thread static_thread_;
};

}  // namespace waystar::maintenance
