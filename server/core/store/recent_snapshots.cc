#include "server/core/store/recent_snapshots.h"

#include <algorithm>
#include <utility>

namespace waystar::core {

void RecentSnapshots::Prune(Asked& map, absl::Time now, std::vector<PinnedSnapshot>& dropped) {
  const bool is_asked = now - map.last <= kAskedFor;
  std::erase_if(map.kept, [&](const Kept& kept) {
    const bool ends = !is_asked || now - kept.replaced > kKept || kept.snapshot->eviction.is_set();
    if (ends) {
      dropped.push_back(kept.snapshot);
    }
    return ends;
  });
}

void RecentSnapshots::Add(PinnedSnapshot replaced, absl::Time now) {
  std::vector<PinnedSnapshot> dropped;
  MutexLock lock(mutex_);
  const auto map = maps_.find(replaced->id);
  if (map == maps_.end()) {
    return;
  }
  map->second.kept.push_back({std::move(replaced), now});
  Prune(map->second, now, dropped);
  if (map->second.kept.size() > kMost) {
    dropped.push_back(std::move(map->second.kept.front().snapshot));
    map->second.kept.pop_front();
  }
}

bool RecentSnapshots::Ask(absl::string_view id, absl::Time now, std::vector<PastSnapshot>& past) {
  std::vector<PinnedSnapshot> dropped;
  MutexLock lock(mutex_);
  const auto [map, is_new] = maps_.try_emplace(id);
  Asked& asked = map->second;
  Prune(asked, now, dropped);
  asked.last = std::max(asked.last, now);
  for (auto kept = asked.kept.rbegin(); kept != asked.kept.rend(); ++kept) {
    past.push_back({.snapshot = kept->snapshot, .age = std::max(absl::ZeroDuration(), now - kept->replaced)});
  }
  return is_new;
}

absl::Time RecentSnapshots::Drop(absl::Time now) {
  std::vector<PinnedSnapshot> dropped;
  MutexLock lock(mutex_);
  absl::erase_if(maps_, [&](auto& entry) {
    Prune(entry.second, now, dropped);
    return now - entry.second.last > kAskedFor;
  });
  return maps_.empty() ? absl::InfiniteFuture() : now + kKept;
}

}  // namespace waystar::core
