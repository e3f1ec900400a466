// Background thread that removes obstacles at the end of their lifetime.
#pragma once

#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/core/store/map_store.h"

namespace waystar::maintenance {

// One thread that sleeps until the next obstacle expires. It must not start before the store's log is set,
// since removals would not be logged.
//
// Thread safety: Wake may be called from any thread; all else by one thread.
class ObstacleExpirer {
 public:
  // `store` and `clock` must outlive this.
  // REQUIRES: the store is not shared between threads yet, and its OnEarlierExpiry is not set.
  // REQUIRES: this outlives the updates of the store's maps.
  ObstacleExpirer(core::MapStore& store, const Clock& clock);
  ObstacleExpirer(const ObstacleExpirer&) = delete;
  ObstacleExpirer& operator=(const ObstacleExpirer&) = delete;
  ~ObstacleExpirer() { Stop(); }

  // Starts the thread.
  // REQUIRES: it was not started before.
  void Start();

  // Ends the thread after the current removals. Expired obstacles then stay.
  void Stop() { thread_.Stop(mutex_); }

  // Reads the clock again. Call it after the clock has jumped.
  void Wake();

 private:
  void Run();
  void WakeBy(absl::Time expiry);
  // Returns false when stopping.
  bool WaitUntilDue();

  core::MapStore& store_;
  const Clock& clock_;
  Mutex mutex_;
  // Time of the next check for expired obstacles.
  absl::Time next_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  StoppableThread thread_;
};

}  // namespace waystar::maintenance
