#include "server/maintenance/obstacle_expirer.h"

#include <algorithm>
#include <chrono>

namespace waystar::maintenance {

ObstacleExpirer::ObstacleExpirer(core::MapStore& store, const Clock& clock) : store_(store), clock_(clock) {
  store_.OnEarlierExpiry([this](absl::Time expiry) { WakeBy(expiry); });
}

void ObstacleExpirer::Start() {
  thread_.Start("expirer", [this] { Run(); });
}

void ObstacleExpirer::Wake() {
  MutexLock lock(mutex_);
  thread_.Wake();
}

void ObstacleExpirer::WakeBy(absl::Time expiry) {
  MutexLock lock(mutex_);
  if (expiry < next_) {
    next_ = expiry;
    thread_.Wake();
  }
}

void ObstacleExpirer::Run() {
  while (WaitUntilDue()) {
    const absl::Time next = store_.ExpireDue(clock_.Now());
    WakeBy(next);
  }
}

bool ObstacleExpirer::WaitUntilDue() {
  constexpr absl::Duration kLongestWait = absl::Hours(1);
  MutexLock lock(mutex_);
  for (absl::Time now = clock_.Now(); now < next_ && !thread_.is_stopping(); now = clock_.Now()) {
    const absl::Duration wait = std::min(next_ - now, kLongestWait);
    thread_.WaitUntil(mutex_, std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(wait));
  }
  // Earlier expiries reported from here on shorten the next wait.
  next_ = absl::InfiniteFuture();
  return !thread_.is_stopping();
}

}  // namespace waystar::maintenance
