#include "tests/core/store/held_log.h"

#include <utility>

#include "gtest/gtest.h"
#include "server/base/error.h"
#include "server/core/codec/map_image.h"
#include "tests/testing/patience.h"

namespace waystar::core {

absl::Status StorageFailure() { return MakeError(ErrorReason::kStorageFailed, "", "the disk is gone"); }

bool LogEntry::Follows(MapVersion before) const {
  switch (kind) {
    case Kind::kCreation:
      return before.epoch == 0 && version.revision == 1;
    case Kind::kCommits:
      return version.epoch == before.epoch && commits.front().commit->revision == before.revision + 1;
    case Kind::kDeletion:
      return version == before;
    case Kind::kReplacement:
      return before.epoch != 0 && replaced == before && version.epoch != before.epoch &&
             version.revision == 1;
  }
  return false;
}

MapVersion LogEntry::VersionAfter() const {
  return kind == Kind::kDeletion ? MapVersion{.epoch = 0} : version;
}

MapSnapshot CopyOf(const MapSnapshot& snapshot) {
  MapSnapshot copy{.id = snapshot.id,
                   .epoch = snapshot.epoch,
                   .revision = snapshot.revision,
                   .create_time = snapshot.create_time,
                   .latest_commit_time = snapshot.latest_commit_time,
                   .map = *DecodeImage(EncodeImage(snapshot.map))};
  EXPECT_EQ(copy.digest(), snapshot.digest());
  return copy;
}

void EntryLog::AppendCreation(const MapSnapshot& first, const CreationRequest& request, Done done) {
  Append({.entry = {.kind = LogEntry::Kind::kCreation,
                    .map = first.id,
                    .version = first.version(),
                    .first = first,
                    .request = request,
                    .owner = this},
          .done = std::move(done)});
}

void EntryLog::AppendReplacement(const MapSnapshot& first, MapVersion replaced, Done done) {
  Append({.entry = {.kind = LogEntry::Kind::kReplacement,
                    .map = first.id,
                    .version = first.version(),
                    .first = first,
                    .replaced = replaced,
                    .owner = this},
          .done = std::move(done)});
}

void EntryLog::AppendCommits(absl::string_view id, std::uint64_t epoch, std::vector<LoggedCommit> commits,
                             Done done) {
  const std::uint64_t last = commits.back().commit->revision;
  Append({.entry = {.map = std::string(id),
                    .version = {.epoch = epoch, .revision = last},
                    .commits = std::move(commits),
                    .owner = this},
          .done = std::move(done)});
}

void EntryLog::AppendDeletion(absl::string_view id, MapVersion last, Done done) {
  Append(
      {.entry = {.kind = LogEntry::Kind::kDeletion, .map = std::string(id), .version = last, .owner = this},
       .done = std::move(done)});
}

HeldLog::~HeldLog() { EXPECT_EQ(waiting(), 0U); }

absl::Status HeldLog::WhyRefusing() const {
  MutexLock lock(mutex_);
  return refusal_;
}

void HeldLog::Refuse(absl::Status refusal) {
  MutexLock lock(mutex_);
  refusal_ = std::move(refusal);
}

void HeldLog::Append(Waiting next) {
  MutexLock lock(mutex_);
  waiting_.push_back(std::move(next));
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
  const Patience patience("appends");
  MutexLock lock(mutex_);
  while (appends_ < count) {
    if (!patience.Wait(is_appended_, mutex_)) {
      return false;
    }
  }
  return true;
}

bool HeldLog::LandNext(absl::Status status) {
  Done done;
  {
    MutexLock lock(mutex_);
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    done = std::move(next.done);
    const auto version = versions_.emplace(next.entry.map, MapVersion{.epoch = 0}).first;
    if (status.ok() && !next.entry.Follows(version->second)) {
      status = StorageFailure();
    }
    if (status.ok()) {
      version->second = next.entry.VersionAfter();
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

std::vector<LogEntry> HeldLog::durable() const {
  MutexLock lock(mutex_);
  return durable_;
}

MapVersion HeldLog::DurableVersion(absl::string_view id) const {
  MutexLock lock(mutex_);
  const auto it = versions_.find(id);
  return it == versions_.end() ? MapVersion{.revision = 0} : it->second;
}

}  // namespace waystar::core
