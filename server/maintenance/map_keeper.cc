#include "server/maintenance/map_keeper.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/memory_account.h"

namespace waystar::maintenance {
namespace {

// How often, and how long each time, a map waits for room.
constexpr int kMostWaitsForRoom = 50;
constexpr std::chrono::milliseconds kWaitForRoom{20};

}  // namespace

void MapKeeper::Start(core::MapSource& source, MapKeeperOptions options) {
  options_ = std::move(options);
  source_.store(&source, std::memory_order_release);
  for (int i = 0; i < options_.loads; ++i) {
    threads_.push_back(StartThread("map-loader", [this] { Run(); }));
  }
  if (store_.memory().max_bytes() != MemoryAccount::kNoLimit) {
    watch_.Start("map-keeper", options_.interval, [this] { MakeRoomIfNearlyFull(); });
  }
}

void MapKeeper::Stop() {
  watch_.Stop();
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    wake_.NotifyAll();
    stopped_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
  // Waits for a running MakeRoom, which uses the source.
  MutexLock making_room(making_room_);
  source_.store(nullptr, std::memory_order_release);
}

void MapKeeper::LoadSoon(absl::string_view id) {
  MutexLock lock(mutex_);
  if (!is_stopping_ && wanted_.emplace(id).second) {
    waiting_.emplace_back(id);
    wake_.NotifyOne();
  }
}

void MapKeeper::Run() {
  while (true) {
    std::string id;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !is_stopping_) {
        wake_.Wait(mutex_);
      }
      if (is_stopping_) {
        return;
      }
      id = std::move(waiting_.front());
      waiting_.pop_front();
    }
    Load(id);
  }
}

void MapKeeper::Load(const std::string& id) {
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<core::MapVersion> version = store_.UnloadedVersion(id);
  const absl::Status loaded = version ? LoadWhenThereIsRoom(id) : absl::OkStatus();
  if (absl::IsDataLoss(loaded)) {
    store_.NoteDamage(id, *version);
  }
  {
    MutexLock lock(mutex_);
    wanted_.erase(id);
    if (!loaded.ok()) {
      ++statistics_.failed_loads;
    } else if (version) {
      ++statistics_.loads;
    }
  }
  if (!loaded.ok() && options_.on_load_failure) {
    options_.on_load_failure(id, loaded);
  } else if (version && options_.on_load) {
    options_.on_load(id, absl::FromChrono(std::chrono::steady_clock::now() - begin));
  }
}

absl::Status MapKeeper::LoadWhenThereIsRoom(const std::string& id) {
  core::MapSource& source = *source_.load(std::memory_order_acquire);
  for (int i = 0; i < kMostWaitsForRoom; ++i) {
    absl::Status loaded = source.Load(id);
    if (!core::HasNoRoom(loaded)) {
      return loaded;
    }
    // Running queries still hold unloaded maps.
    const auto until = std::chrono::steady_clock::now() + kWaitForRoom;
    MutexLock lock(mutex_);
    while (!is_stopping_ && std::chrono::steady_clock::now() < until) {
      stopped_.WaitUntil(mutex_, until);
    }
    if (is_stopping_) {
      return loaded;
    }
  }
  return source.Load(id);
}

bool MapKeeper::MakeRoom(std::size_t bytes) {
  MutexLock making_room(making_room_);
  core::MapSource* const source = source_.load(std::memory_order_acquire);
  if (source == nullptr) {
    return false;
  }
  MemoryAccount& memory = store_.memory();
  bool has_unloaded = false;
  memory.Measure();
  for (const std::string& id : store_.LeastRecentlyUsed()) {
    if (memory.room() >= bytes || is_stopping_) {
      break;
    }
    if (!store_.CanUnload(id)) {
      continue;
    }
    const absl::StatusOr<core::MapVersion> kept = source->Keep(id);
    if (!kept.ok()) {
      if (!absl::IsNotFound(kept.status()) && options_.on_keep_failure) {
        options_.on_keep_failure(id, kept.status());
        break;
      }
      continue;
    }
    if (store_.Unload(id, *kept)) {
      has_unloaded = true;
      memory.Measure();
      MutexLock lock(mutex_);
      ++statistics_.evictions;
    }
  }
  return has_unloaded;
}

void MapKeeper::MakeRoomIfNearlyFull() {
  const MemoryAccount& memory = store_.memory();
  if (memory.taken() > memory.max_bytes() / 10 * 9) {
    MakeRoom(memory.max_bytes() / 8);
  }
}

MapKeeper::Statistics MapKeeper::GetStatistics() const {
  MutexLock lock(mutex_);
  return statistics_;
}

namespace {

// Small, so that few snapshots are kept alive meanwhile.
constexpr std::size_t kPage = 32;

}  // namespace

std::vector<MapUsage> UsageOf(const core::MapStore& store,
                              absl::FunctionRef<bool(absl::string_view id)> wanted) {
  std::vector<MapUsage> maps;
  std::vector<core::PinnedSnapshot> page;
  std::string last;
  do {
    page = store.List(last, kPage);
    for (const core::PinnedSnapshot& snapshot : page) {
      last = snapshot->id;
      if (wanted(snapshot->id)) {
        maps.push_back({.id = snapshot->id,
                        .version = snapshot->version(),
                        .bytes = snapshot->memory_bytes(),
                        .kind = snapshot->kind()});
      }
    }
  } while (page.size() == kPage);
  std::sort(maps.begin(), maps.end(), [](const MapUsage& a, const MapUsage& b) {
    return std::tie(b.bytes, a.id) < std::tie(a.bytes, b.id);
  });
  return maps;
}

}  // namespace waystar::maintenance
