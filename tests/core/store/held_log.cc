#include "tests/core/store/held_log.h"

#include <utility>

#include "gtest/gtest.h"
#include "server/base/error.h"
#include "tests/testing/patience.h"

namespace waystar::core {

absl::Status StorageFailure() { return MakeError(ErrorReason::kStorageFailed, "", "the disk is gone"); }

HeldLog::~HeldLog() { EXPECT_EQ(waiting(), 0U); }

absl::Status HeldLog::WhyRefusing() const {
  MutexLock lock(mutex_);
  return refusal_;
}

void HeldLog::Refuse(absl::Status refusal) {
  MutexLock lock(mutex_);
  refusal_ = std::move(refusal);
}

void HeldLog::AppendCreation(const MapSnapshot& first, const CreationRequest& /*request*/, Done done) {
  Append({.kind = Kind::kCreation, .map = first.id, .version = first.version(), .first = first},
         std::move(done));
}

void HeldLog::AppendReplacement(const MapSnapshot& first, MapVersion replaced, Done done) {
  Append({.kind = Kind::kReplacement,
          .map = first.id,
          .version = first.version(),
          .first = first,
          .replaced = replaced},
         std::move(done));
}

void HeldLog::AppendCommits(absl::string_view id, std::uint64_t epoch, std::vector<LoggedCommit> commits,
                            Done done) {
  const std::uint64_t last = commits.back().commit->revision;
  Append(
      {.map = std::string(id), .version = {.epoch = epoch, .revision = last}, .commits = std::move(commits)},
      std::move(done));
}

void HeldLog::AppendDeletion(absl::string_view id, MapVersion last, Done done) {
  Append({.kind = Kind::kDeletion, .map = std::string(id), .version = last}, std::move(done));
}

void HeldLog::Append(Entry entry, Done done) {
  MutexLock lock(mutex_);
  waiting_.push_back({.entry = std::move(entry), .done = std::move(done)});
  ++appends_;
  is_appended_.NotifyAll();
}

void HeldLog::Begin(absl::string_view id, MapVersion version) {
  MutexLock lock(mutex_);
  versions_[std::string(id)] = version;
}

std::size_t HeldLog::waiting() const {
  MutexLock lock(mutex_);
  return waiting_.size();
}

std::size_t HeldLog::appends() const {
  MutexLock lock(mutex_);
  return appends_;
}

bool HeldLog::WaitForAppends(std::size_t count) const {
  const testing::Patience patience("appends");
  MutexLock lock(mutex_);
  while (appends_ < count) {
    if (!patience.Wait(is_appended_, mutex_)) {
      return false;
    }
  }
  return true;
}

bool HeldLog::FollowsLocked(const Entry& entry) const {
  const auto it = versions_.find(entry.map);
  const MapVersion before = it == versions_.end() ? MapVersion() : it->second;
  switch (entry.kind) {
    case Kind::kCreation:
      return before.epoch == 0 && entry.version.revision == 1;
    case Kind::kCommits:
      return entry.version.epoch == before.epoch &&
             entry.commits.front().commit->revision == before.revision + 1;
    case Kind::kDeletion:
      return entry.version == before;
    case Kind::kReplacement:
      return before.epoch != 0 && entry.replaced == before && entry.version.epoch != before.epoch &&
             entry.version.revision == 1;
  }
  return false;
}

bool HeldLog::LandNext(absl::Status status) {
  Done done;
  {
    MutexLock lock(mutex_);
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    done = std::move(next.done);
    if (status.ok() && !FollowsLocked(next.entry)) {
      status = StorageFailure();
    }
    if (status.ok()) {
      MapVersion& version = versions_[next.entry.map];
      version = next.entry.version;
      if (next.entry.kind == Kind::kDeletion) {
        version.epoch = 0;
      }
      durable_.push_back(std::move(next.entry));
    }
  }
  std::move(done)(status);
  return status.ok();
}

void HeldLog::LandAll() {
  while (waiting() > 0) {
    LandNext();
  }
}

void HeldLog::FailAll() {
  while (waiting() > 0) {
    FailNext();
  }
}

std::vector<HeldLog::Entry> HeldLog::durable() const {
  MutexLock lock(mutex_);
  return durable_;
}

MapVersion HeldLog::DurableVersion(absl::string_view id) const {
  MutexLock lock(mutex_);
  const auto it = versions_.find(id);
  return it == versions_.end() ? MapVersion{.revision = 0} : it->second;
}

}  // namespace waystar::core
