// Keeps requested maps in memory, and unloads others when memory is short.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"

namespace waystar::maintenance {

struct MapKeeperOptions {
  // Most maps loaded at a time.
  int loads = 2;
  // Interval at which memory use is checked.
  absl::Duration interval = absl::Seconds(1);
  // Called by any thread after a map was loaded, with the duration. May be empty.
  std::function<void(absl::string_view id, absl::Duration took)> on_load;
  // Called when a map could not be loaded. The next request for it retries. May be empty.
  std::function<void(absl::string_view id, const absl::Status& why)> on_load_failure;
  // Called when a map cannot be unloaded because its storage fails. May be empty.
  std::function<void(absl::string_view id, const absl::Status& why)> on_keep_failure;
};

// Concurrent requests for a map share one load. When nine tenths of the map memory are used, unloads the
// least recently used maps until an eighth is free.
//
// Thread safety: any method may be called from any thread, except Start and Stop.
class MapKeeper final : public core::MapResidence {
 public:
  // The store must outlive the keeper.
  explicit MapKeeper(core::MapStore& store) : store_(store) {}
  MapKeeper(const MapKeeper&) = delete;
  MapKeeper& operator=(const MapKeeper&) = delete;
  ~MapKeeper() override { Stop(); }

  // Starts to load requested maps and to make room. The source must live until Stop.
  // REQUIRES: it is called at most once.
  void Start(core::MapSource& source, MapKeeperOptions options);
  // Ends the threads after their current load. Nothing is loaded afterwards.
  void Stop();

  void LoadSoon(absl::string_view id) override;
  bool MakeRoom(std::size_t bytes) override;

  struct Statistics {
    std::uint64_t loads = 0;
    std::uint64_t failed_loads = 0;
    // Maps that were unloaded.
    std::uint64_t evictions = 0;
  };
  Statistics GetStatistics() const;

 private:
  void Run();
  void Load(const std::string& id);
  absl::Status LoadWhenThereIsRoom(const std::string& id);
  void MakeRoomIfNearlyFull();

  core::MapStore& store_;
  MapKeeperOptions options_;
  // Null before Start and after Stop.
  std::atomic<core::MapSource*> source_ = nullptr;

  mutable Mutex mutex_;
  CondVar wake_;
  CondVar stopped_;
  // Maps waiting to be loaded; and those together with the ones being loaded.
  std::deque<std::string> waiting_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> wanted_ ABSL_GUARDED_BY(mutex_);
  Statistics statistics_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> is_stopping_ = false;
  // Held while making room.
  Mutex making_room_;
  std::vector<std::thread> threads_;
  PeriodicThread watch_;
};

// Memory use of one map at its latest revision.
struct MapUsage {
  std::string id;
  core::MapVersion version;
  // Includes its indexes.
  std::size_t bytes = 0;
  core::MapKind kind = core::MapKind::kSquares;
};

// Returns the usage of the maps accepted by `wanted`, largest first, then by id. Costs time proportional to
// the number of maps and their row blocks: milliseconds for thousands of maps.
std::vector<MapUsage> UsageOf(const core::MapStore& store,
                              absl::FunctionRef<bool(absl::string_view id)> wanted);

}  // namespace waystar::maintenance
