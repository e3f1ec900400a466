#include "tests/e2e/kill_ledger.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "server/storage/folder/log_entry.h"
#include "server/storage/folder/log_history.h"
#include "tests/testing/patience.h"

namespace waystar::testing {

void KillLedger::Known::LoseAfter(std::uint64_t revision) {
  newest = revision;
  digests.erase(digests.upper_bound(revision), digests.end());
  request_ids.erase(request_ids.upper_bound(revision), request_ids.end());
  has_lost = true;
}

void KillLedger::NoteLocked(std::uint64_t epoch, std::uint64_t revision, std::uint64_t digest) {
  Known& known = known_[epoch];
  known.newest = std::max(known.newest, revision);
  const auto [it, is_new] = known.digests.emplace(revision, digest);
  EXPECT_EQ(it->second, digest) << "two states of revision " << revision;
}

void KillLedger::Saw(std::uint64_t epoch, std::uint64_t revision, std::uint64_t digest) {
  MutexLock lock(mutex_);
  NoteLocked(epoch, revision, digest);
}

void KillLedger::Acknowledged(const v1::UpdateMapResponse& answer, const std::string& request_id) {
  const std::uint64_t epoch = answer.version().epoch();
  const std::uint64_t revision = answer.version().revision();
  MutexLock lock(mutex_);
  NoteLocked(epoch, revision, answer.digest());
  const auto [it, is_new] = known_[epoch].request_ids.emplace(revision, request_id);
  EXPECT_EQ(it->second, request_id) << "two batches of revision " << revision;
  ++acknowledged_;
  changed_.NotifyAll();
}

std::uint64_t KillLedger::Newest(std::uint64_t epoch) const {
  MutexLock lock(mutex_);
  const auto it = known_.find(epoch);
  return it == known_.end() ? 0 : it->second.newest;
}

std::size_t KillLedger::acknowledged() const {
  MutexLock lock(mutex_);
  return acknowledged_;
}

void KillLedger::WaitForAcknowledged(std::size_t count) {
  const Patience patience("acknowledged batches");
  MutexLock lock(mutex_);
  while (acknowledged_ < count && patience.Wait(changed_, mutex_)) {
  }
}

bool KillLedger::HasLost(std::uint64_t epoch) const {
  MutexLock lock(mutex_);
  const auto it = known_.find(epoch);
  return it != known_.end() && it->second.has_lost;
}

std::map<std::string, std::uint64_t> KillLedger::CompareWith(const storage::Folder& folder,
                                                             bool may_lack_newest) {
  std::map<std::string, std::uint64_t> applied;
  const auto names = folder.List();
  const auto history = storage::ReadLogFiles(folder, *names);
  if (!history.ok()) {
    ADD_FAILURE() << history.status();
    return applied;
  }
  MutexLock lock(mutex_);
  for (const storage::LiveMap& map : history->next.maps) {
    Known& known = known_[map.epoch];
    if (may_lack_newest && map.revision < known.newest) {
      known.LoseAfter(map.revision);
    }
    EXPECT_GE(map.revision, known.newest) << "a revision of " << map.id << " that was seen is gone";
    std::uint64_t first = map.revision + 1;
    const auto entries = history->entries.find(map.id);
    for (std::size_t i = 0; entries != history->entries.end() && i < entries->second.size(); ++i) {
      const storage::LogEntry& entry = entries->second[i].entry;
      if (entry.kind != storage::LogEntry::Kind::kCommits) {
        continue;
      }
      first = std::min(first, entry.first_revision);
      const auto commits = storage::DecodeCommits(entry.body);
      for (const core::LoggedCommit& logged : *commits) {
        const std::uint64_t revision = logged.commit->revision;
        NoteLocked(map.epoch, revision, logged.commit->digest);
        if (const auto it = known.request_ids.find(revision); it != known.request_ids.end()) {
          EXPECT_EQ(logged.request_id, it->second) << "another batch has revision " << revision;
        }
        EXPECT_TRUE(applied.emplace(logged.request_id, revision).second)
            << logged.request_id << " was applied twice";
      }
    }
    // What the log has no longer is in an image; what nobody has acknowledged is there, too.
    for (auto it = known.request_ids.lower_bound(first); it != known.request_ids.end(); ++it) {
      EXPECT_EQ(applied.count(it->second), 1) << it->second << " was acknowledged and is gone";
    }
  }
  return applied;
}

}  // namespace waystar::testing
