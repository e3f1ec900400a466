#include "client/own_writes.h"

namespace waystar::client {

void OwnWrites::Note(const std::string& map, const v1::Version& version) {
  if (version.epoch() == 0) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (const auto found = by_map_.find(map); found != by_map_.end()) {
    v1::Version& known = found->second->second;
    if (known.epoch() != version.epoch() || known.revision() < version.revision()) {
      known = version;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    return;
  }
  if (most_maps_ == 0) {
    return;
  }
  if (entries_.size() == most_maps_) {
    by_map_.erase(entries_.back().first);
    entries_.pop_back();
  }
  entries_.emplace_front(map, version);
  by_map_.emplace(entries_.front().first, entries_.begin());
}

void OwnWrites::Forget(const std::string& map, std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  const auto found = by_map_.find(map);
  if (found != by_map_.end() && (epoch == 0 || found->second->second.epoch() == epoch)) {
    const auto entry = found->second;
    // It goes first, as its name is that of the entry.
    by_map_.erase(found);
    entries_.erase(entry);
  }
}

std::optional<v1::Version> OwnWrites::Of(const std::string& map) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_map_.find(map);
  return found == by_map_.end() ? std::nullopt : std::optional(found->second->second);
}

}  // namespace waystar::client
