// Registry of the watches of maps, with the thread that tells them when their maps change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/store/store_listener.h"

namespace waystar::rpc {

class MapWatcher {
 public:
  virtual ~MapWatcher() = default;

  // Reports that the map may have a revision that it had not before. Must be quick.
  virtual void OnNews() = 0;
  // Reports that the map of that epoch is gone. Another may have its id already.
  virtual void OnDelete(std::uint64_t epoch) = 0;
};

// A commit only leaves a note of its map; however many watch it, and however slowly, costs it nothing. No
// watcher has a queue: it finds out for itself what is new to it.
//
// Thread safety: any; construction and destruction by one thread.
class MapWatches final : public core::StoreListener {
 public:
  MapWatches();
  MapWatches(const MapWatches&) = delete;
  MapWatches& operator=(const MapWatches&) = delete;
  // Lets go of all watchers. REQUIRES: no store tells this of commits any more.
  ~MapWatches() override;

  // Tells the watcher of everything that happens to the maps of that id, until Remove; it may still be told
  // something for a short time after that. A watcher is told by one thread.
  void Add(const std::string& map, std::shared_ptr<MapWatcher> watcher);
  void Remove(const std::string& map, const std::shared_ptr<MapWatcher>& watcher);

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::SharedCommit> commits,
                const core::MapChanges& changes) override;
  void OnDelete(const core::PinnedSnapshot& last) override;
  void OnLoad(const core::PinnedSnapshot& snapshot) override;
  bool Needs(const core::MapSnapshot& latest) const override;

 private:
  using Watchers = absl::flat_hash_set<std::shared_ptr<MapWatcher>>;

  // What has happened to the maps of an id since the thread last looked.
  struct News {
    // The epochs of those that were deleted.
    std::vector<std::uint64_t> ended_epochs;
  };

  // Leaves a note, if anyone watches the map. `ended_epoch` is 0 if it was not deleted.
  void Note(const std::string& map, std::uint64_t ended_epoch);
  void Run();

  mutable Mutex mutex_;
  CondVar has_news_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_map<std::string, Watchers> watchers_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, News> news_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace waystar::rpc
