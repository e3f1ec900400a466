// Keeps those maps in memory that are asked for.
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
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/periodic_thread.h"
#include "server/core/store/map_residence.h"
#include "server/core/store/map_source.h"
#include "server/core/store/map_store.h"

namespace waystar::maintenance {

struct MapKeeperOptions {
  // How many maps are loaded at a time.
  int loads = 2;
  // How often it is looked whether memory is nearly full.
  absl::Duration interval = absl::Seconds(1);
  // Called with a map that was loaded and how long that took, by any thread. May be empty.
  std::function<void(absl::string_view id, absl::Duration took)> on_load;
  // Called with a map that could not be loaded. It is tried again when somebody asks for it. May be empty.
  std::function<void(absl::string_view id, const absl::Status& why)> on_load_failure;
  // Called with a map that cannot be let go of since its storage fails. May be empty.
  std::function<void(absl::string_view id, const absl::Status& why)> on_keep_failure;
};

// Loads a map once, for however many ask for it. When nine tenths of the memory of maps are taken, it unloads
// the least recently used ones until an eighth is free.
//
// Thread safety: any method may be called from any thread, except Start and Stop.
class MapKeeper final : public core::MapResidence {
 public:
  // The store must outlive the keeper.
  explicit MapKeeper(core::MapStore& store) : store_(store) {}
  MapKeeper(const MapKeeper&) = delete;
  MapKeeper& operator=(const MapKeeper&) = delete;
  // Stops.
  ~MapKeeper() override { Stop(); }

  // Loads what was asked for, and makes room, from now on. The source must live until Stop. REQUIRES: it is
  // called at most once.
  void Start(core::MapSource& source, MapKeeperOptions options);
  // Ends the threads, after what they are at. Nothing is loaded any more.
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
  // Null before Start.
  std::atomic<core::MapSource*> source_ = nullptr;

  mutable Mutex mutex_;
  CondVar wake_;
  CondVar stopped_;
  // Maps to load, and those and the ones that are being loaded.
  std::deque<std::string> waiting_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> wanted_ ABSL_GUARDED_BY(mutex_);
  Statistics statistics_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> is_stopping_ = false;
  // Held to make room.
  Mutex making_room_;
  std::vector<std::thread> threads_;
  PeriodicThread watch_;
};

}  // namespace waystar::maintenance
