// Registry of map watches, with the thread that notifies them of changes.
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

  // Called when the map may have a new revision. Must be quick.
  virtual void OnNews() = 0;
  // Called when the map of that epoch is gone. Another map may already have its id.
  virtual void OnDelete(std::uint64_t epoch) = 0;
};

// A commit only records its map, at a cost independent of the number and speed of watchers. Watchers have no
// queues: each finds its own news.
//
// Thread safety: any; construction and destruction by one thread.
class MapWatches final : public core::StoreListener {
 public:
  MapWatches();
  MapWatches(const MapWatches&) = delete;
  MapWatches& operator=(const MapWatches&) = delete;
  // Releases all watchers. REQUIRES: no store notifies this of commits any more.
  ~MapWatches() override;

  // Notifies the watcher of all changes of the maps with that id, until Remove, or shortly after it. A
  // watcher is notified by one thread.
  void Add(const std::string& map, std::shared_ptr<MapWatcher> watcher);
  void Remove(const std::string& map, const std::shared_ptr<MapWatcher>& watcher);

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::SharedCommit> commits,
                const core::MapChanges& changes) override;
  void OnDelete(const core::PinnedSnapshot& last) override;
  void OnLoad(const core::PinnedSnapshot& snapshot) override;
  bool Needs(const core::MapSnapshot& latest) const override;

 private:
  using Watchers = absl::flat_hash_set<std::shared_ptr<MapWatcher>>;

  // Changes of the maps of an id since the thread's last turn.
  struct News {
    // Epochs of deleted maps.
    std::vector<std::uint64_t> ended_epochs;
  };

  // Records a change if the map is watched. `ended_epoch` is 0 if it was not deleted.
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
