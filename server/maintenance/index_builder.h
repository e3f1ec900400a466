// Background builder of search indexes: static indexes of quiet maps, and jump indexes of large maps.
#pragma once

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
#include "server/base/thread.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"

namespace waystar::maintenance {

struct IndexBuilderOptions {
  // Time with few changes before a map's static index is built.
  absl::Duration quiet_time = absl::Seconds(2);
  // Limit on the bytes of all static indexes, and on the memory of a build; 0 builds none.
  std::size_t max_static_bytes = 0;
};

// A static index is built once a search has asked for it and its map changes little, and again when too many
// cells differ. Each build of a map that changes on makes the next one wait twice as long. Jump indexes are
// built for maps with GridMap::NeedsBackgroundBuild, once searches have paid for them; a commit only notes
// its map.
//
// One thread finds the maps and builds jump indexes. Static indexes are built one at a time, each on a new
// thread with idle priority (SCHED_IDLE), since Linux lets no thread return from it.
//
// Thread safety: as StoreListener; construction and destruction by one thread.
class IndexBuilder final : public core::StoreListener {
 public:
  // Must be added to the store's listeners. `store` must outlive this, and this must outlive the updates of
  // the store's maps.
  IndexBuilder(core::MapStore& store, const IndexBuilderOptions& options);
  IndexBuilder(const IndexBuilder&) = delete;
  IndexBuilder& operator=(const IndexBuilder&) = delete;
  // Cancels the builds in progress.
  ~IndexBuilder() override;

  // Checks all maps. Call it after the maps of a data folder are restored.
  void LookAtMaps();

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::CommitPtr> commits,
                const core::MapChanges& changes) override;
  void OnDelete(const core::PinnedSnapshot& /*last*/) override {}
  void OnLoad(const core::PinnedSnapshot& snapshot) override { NoteIfDue(*snapshot); }

 private:
  using Clock = std::chrono::steady_clock;
  using Ids = absl::flat_hash_set<std::string>;

  // Cells of a map, and since when they have changed little.
  struct Seen {
    std::uint64_t epoch = 0;
    core::BitPlane cells;
    absl::Time since;
    // How long they must have before the next build.
    absl::Duration wait;
  };

  // Notes the map if its jump indexes must be built.
  void NoteIfDue(const core::MapSnapshot& snapshot);
  void Run();
  // Waits for the next round. Returns false when stopping.
  bool WaitForRound();
  void BuildJumpIndexes();
  // Returns true if the map must be checked again.
  bool BuildJumpIndexesOf(const std::string& map);
  void LookForStaticIndex();
  // Returns true if a static index is being built; cancels that if its map has changed too much.
  bool IsBuildingStaticIndex();
  void StartStaticIndex(const core::PinnedSnapshot& snapshot, std::size_t max_bytes);
  void BuildStaticIndex(const core::MapSnapshot& snapshot, std::size_t max_bytes);

  core::MapStore& store_;
  const IndexBuilderOptions options_;
  Clock::time_point next_static_round_;
  absl::flat_hash_map<std::string, Seen> seen_;
  Mutex mutex_;
  // Maps whose jump indexes must be built.
  Ids noted_ ABSL_GUARDED_BY(mutex_);
  // Map whose static index is being built; null if none.
  core::PinnedSnapshot building_ ABSL_GUARDED_BY(mutex_);
  StoppableThread thread_;
  // Builds the static index of building_. Started by thread_.
  std::thread static_thread_;
};

}  // namespace waystar::maintenance
