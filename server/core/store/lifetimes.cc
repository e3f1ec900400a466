#include "server/core/store/lifetimes.h"

#include <variant>

namespace waystar::core {

void Lifetimes::Begin(const ObstacleTable& obstacles) {
  obstacles.VisitAfter("", [&](const Obstacle& obstacle) {
    if (obstacle.expiry != absl::InfiniteFuture()) {
      by_expiry_.emplace(obstacle.expiry, obstacle.id);
      expiry_of_.emplace(obstacle.id, obstacle.expiry);
    }
    return true;
  });
}

void Lifetimes::Follow(absl::Span<const Edit> edits, absl::Time now) {
  for (const Edit& edit : edits) {
    if (const auto* put = AsPutObstacle(edit)) {
      Forget(put->obstacle.id);
      if (put->lifetime) {
        by_expiry_.emplace(now + *put->lifetime, put->obstacle.id);
        expiry_of_.emplace(put->obstacle.id, now + *put->lifetime);
      }
    } else if (const auto* remove = std::get_if<RemoveObstacle>(&edit)) {
      Forget(remove->id);
    }
  }
}

std::vector<Edit> Lifetimes::TakeRemovalsDue(absl::Time now, std::size_t max) {
  std::vector<Edit> removals;
  while (next() <= now && removals.size() < max) {
    removals.emplace_back(RemoveObstacle{by_expiry_.begin()->second});
    expiry_of_.erase(by_expiry_.begin()->second);
    by_expiry_.erase(by_expiry_.begin());
  }
  return removals;
}

void Lifetimes::Forget(absl::string_view id) {
  if (const auto it = expiry_of_.find(id); it != expiry_of_.end()) {
    by_expiry_.erase({it->second, it->first});
    expiry_of_.erase(it);
  }
}

}  // namespace waystar::core
