// Background thread that removes the obstacles of all maps when their lifetime is over.
#pragma once

#include <thread>

#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"

namespace waystar::maintenance {

// Runs one thread, which sleeps until the next obstacle is due. It begins with Start, since a removal before
// the store's log is set would not be in the log.
//
// Thread safety: Wake from any thread; the rest by one thread.
class ObstacleExpirer {
 public:
  // Both must outlive the updates of the store's maps, as this must. REQUIRES: the store is not shared
  // between threads yet, and its OnEarlierExpiry is free.
  ObstacleExpirer(core::MapStore& store, const Clock& clock);
  ObstacleExpirer(const ObstacleExpirer&) = delete;
  ObstacleExpirer& operator=(const ObstacleExpirer&) = delete;
  ~ObstacleExpirer() { Stop(); }

  // Starts the thread. REQUIRES: it was not started before.
  void Start();

  // Ends the thread, after the removals under way. Obstacles then stay for longer than their lifetime.
  void Stop();

  // Reads the clock now: to be called when it has jumped.
  void Wake();

 private:
  void Run();
  void WakeBy(absl::Time expiry);
  // Returns false if it is time to stop.
  bool WaitUntilDue();

  core::MapStore& store_;
  const Clock& clock_;
  Mutex mutex_;
  CondVar wake_;
  // When to look for obstacles that are due.
  absl::Time next_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar::maintenance
