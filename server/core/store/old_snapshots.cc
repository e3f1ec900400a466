#include "server/core/store/old_snapshots.h"

#include <algorithm>
#include <utility>

namespace waystar::core {
namespace {

bool IsSameMap(const MapSnapshot& a, const MapSnapshot& b) { return a.epoch == b.epoch && a.id == b.id; }

// Returns the bytes held by `old` but not by `newer`; all bytes if `newer` is null or of another map.
std::size_t BytesBeyond(const MapSnapshot& old, const MapSnapshot* newer) {
  return newer == nullptr || !IsSameMap(old, *newer) ? old.memory_bytes() : old.BytesBeyond(*newer);
}

}  // namespace

void OldSnapshots::Add(const PinnedSnapshot& replaced, absl::Time now) {
  MutexLock lock(mutex_);
  entries_.insert_or_assign(Key(replaced->id, replaced->epoch, replaced->revision), Entry{replaced, now});
  if (entries_.size() >= prune_at_) {
    PruneLocked();
  }
}

void OldSnapshots::PruneLocked() {
  absl::erase_if(entries_, [](const auto& entry) { return entry.second.snapshot.expired(); });
  prune_at_ = std::max(kMinPruneAt, 2 * entries_.size());
}

std::vector<OldSnapshots::Held> OldSnapshots::Hold(const std::string* id) const {
  std::vector<Held> held;
  MutexLock lock(mutex_);
  for (auto it = id == nullptr ? entries_.begin() : entries_.lower_bound(Key(*id, 0, 0));
       it != entries_.end() && (id == nullptr || std::get<0>(it->first) == *id); ++it) {
    if (PinnedSnapshot snapshot = it->second.snapshot.lock(); snapshot != nullptr) {
      held.push_back({.snapshot = std::move(snapshot), .replaced = it->second.replaced});
    }
  }
  return held;
}

void OldSnapshots::Measure(std::vector<Held>& held, LatestOf latest_of) {
  for (std::size_t i = 0; i < held.size(); ++i) {
    const MapSnapshot& old = *held[i].snapshot;
    const bool is_last = i + 1 == held.size() || !IsSameMap(old, *held[i + 1].snapshot);
    const PinnedSnapshot newer = is_last ? latest_of(old.id) : held[i + 1].snapshot;
    held[i].bytes = BytesBeyond(old, newer.get());
  }
}

bool OldSnapshots::EvictIfDue(absl::Time now, LatestOf latest_of) {
  {
    MutexLock lock(mutex_);
    if (entries_.empty() || now < next_check_) {
      return false;
    }
    next_check_ = now + check_interval_;
    PruneLocked();
  }
  // Released outside the lock: this may be the last reference to some of them.
  std::vector<Held> held = Hold(nullptr);
  Measure(held, latest_of);
  std::erase_if(held, [](const Held& old) { return old.snapshot->eviction.is_set(); });
  // A stable sort keeps snapshots of one map in order if they were replaced at the same time.
  std::stable_sort(held.begin(), held.end(),
                   [](const Held& a, const Held& b) { return a.replaced < b.replaced; });
  std::size_t bytes = 0;
  for (const Held& old : held) {
    bytes += old.bytes;
  }
  bool has_flagged = false;
  for (const Held& old : held) {
    if (bytes <= max_bytes_) {
      break;
    }
    old.snapshot->eviction.Set();
    has_flagged = true;
    bytes -= old.bytes;
  }
  return has_flagged;
}

void OldSnapshots::EvictAll() {
  for (const Held& old : Hold(nullptr)) {
    old.snapshot->eviction.Set();
  }
}

OldSnapshotsInfo OldSnapshots::InfoOf(absl::string_view id, LatestOf latest_of) const {
  const std::string key(id);
  std::vector<Held> held = Hold(&key);
  Measure(held, latest_of);
  const PinnedSnapshot latest = held.empty() ? nullptr : latest_of(id);
  OldSnapshotsInfo info{.count = held.size()};
  for (const Held& old : held) {
    if (info.oldest_revision == 0 && latest != nullptr && IsSameMap(*old.snapshot, *latest)) {
      info.oldest_revision = old.snapshot->revision;
    }
    info.bytes += old.bytes;
  }
  return info;
}

OldSnapshotsTotal OldSnapshots::Total(absl::Time now, LatestOf latest_of) const {
  std::vector<Held> held = Hold(nullptr);
  Measure(held, latest_of);
  OldSnapshotsTotal total{.count = held.size()};
  for (const Held& old : held) {
    total.bytes += old.bytes;
    total.oldest_age = std::max(total.oldest_age, now - old.replaced);
  }
  return total;
}

}  // namespace waystar::core
