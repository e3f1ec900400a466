#include "tests/core/store/shared_log.h"

#include <algorithm>
#include <utility>

#include "gtest/gtest.h"
#include "server/base/thread.h"
#include "server/core/codec/map_image.h"
#include "tests/core/store/held_log.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

bool Follows(MapVersion before, const SharedLog::Entry& entry) {
  switch (entry.kind) {
    case SharedLog::Kind::kCreation:
      return before.epoch == 0;
    case SharedLog::Kind::kCommits:
      return entry.version.epoch == before.epoch &&
             entry.commits.front().commit->revision == before.revision + 1;
    case SharedLog::Kind::kDeletion:
      return entry.version == before;
    case SharedLog::Kind::kReplacement:
      return before.epoch != 0 && entry.replaced == before;
  }
  return false;
}

MapVersion VersionAfter(const SharedLog::Entry& entry) {
  return entry.kind == SharedLog::Kind::kDeletion ? MapVersion{.epoch = 0} : entry.version;
}

std::string ImageOf(const MapSnapshot& first) { return EncodeImage(first.map); }

}  // namespace

void SharedLog::Begin(const std::string& id, MapVersion version) {
  MutexLock lock(mutex_);
  lists_[id].version = version;
  for (Client* const client : clients_) {
    client->maps_[id].version = version;
  }
}

std::vector<SharedLog::SharedEntry> SharedLog::entries(const std::string& id) const {
  MutexLock lock(mutex_);
  const auto it = lists_.find(id);
  return it == lists_.end() ? std::vector<SharedEntry>() : it->second.entries;
}

void SharedLog::AwaitQuiet() const {
  const testing::Patience patience("quiet in the log");
  MutexLock lock(mutex_);
  while (std::ranges::any_of(clients_,
                             [](const Client* client) { return client->is_busy_ || client->HasWork(); })) {
    if (!patience.Wait(changed_, mutex_)) {
      return;
    }
  }
}

SharedLog::Client::Client(SharedLog& log, std::uint64_t seed) : log_(log), random_(seed) {
  MutexLock lock(log_.mutex_);
  log_.clients_.push_back(this);
}

SharedLog::Client::~Client() {
  Stop();
  MutexLock lock(log_.mutex_);
  std::erase(log_.clients_, this);
}

void SharedLog::Client::Start() {
  thread_ = StartThread("shared-log", [this] {
    while (true) {
      if (Step()) {
        std::this_thread::yield();
        continue;
      }
      MutexLock lock(log_.mutex_);
      while (!HasWork() && !is_stopping_) {
        log_.changed_.Wait(log_.mutex_);
      }
      if (!HasWork()) {
        return;
      }
    }
  });
}

void SharedLog::Client::Stop() {
  if (thread_.joinable()) {
    {
      MutexLock lock(log_.mutex_);
      is_stopping_ = true;
      log_.changed_.NotifyAll();
    }
    thread_.join();
  }
}

void SharedLog::Client::AppendCreation(const MapSnapshot& first, const CreationRequest& request, Done done) {
  Append({.kind = Kind::kCreation,
          .map = first.id,
          .version = first.version(),
          .image = ImageOf(first),
          .create_time = first.create_time,
          .request = request},
         std::move(done));
}

void SharedLog::Client::AppendReplacement(const MapSnapshot& first, MapVersion replaced, Done done) {
  Append({.kind = Kind::kReplacement,
          .map = first.id,
          .version = first.version(),
          .image = ImageOf(first),
          .create_time = first.create_time,
          .replaced = replaced},
         std::move(done));
}

void SharedLog::Client::AppendCommits(absl::string_view id, std::uint64_t epoch,
                                      std::vector<LoggedCommit> commits, Done done) {
  const std::uint64_t last = commits.back().commit->revision;
  Append(
      {.map = std::string(id), .version = {.epoch = epoch, .revision = last}, .commits = std::move(commits)},
      std::move(done));
}

void SharedLog::Client::AppendDeletion(absl::string_view id, MapVersion last, Done done) {
  Append({.kind = Kind::kDeletion, .map = std::string(id), .version = last}, std::move(done));
}

void SharedLog::Client::Append(Entry entry, Done done) {
  entry.owner = this;
  MutexLock lock(log_.mutex_);
  MapState& state = maps_[entry.map];
  state.waiting.push_back({.entry = std::move(entry), .done = std::move(done)});
  ++appends_;
  log_.changed_.NotifyAll();
}

void SharedLog::Client::AwaitAppends(int count) const {
  const testing::Patience patience("appends");
  MutexLock lock(log_.mutex_);
  while (appends_ < count && patience.Wait(log_.changed_, log_.mutex_)) {
  }
}

int SharedLog::Client::conflicts() const {
  MutexLock lock(log_.mutex_);
  return conflicts_;
}

bool SharedLog::Client::HasWork() const {
  return std::ranges::any_of(log_.lists_, [this](const auto& list) { return HasWork(list.first); }) ||
         std::ranges::any_of(maps_, [this](const auto& map) { return HasWork(map.first); });
}

bool SharedLog::Client::HasWork(const std::string& id) const {
  const auto state = maps_.find(id);
  const auto list = log_.lists_.find(id);
  const std::size_t heard = state == maps_.end() ? 0 : state->second.heard;
  return (list != log_.lists_.end() && heard < list->second.entries.size()) ||
         (state != maps_.end() && !state->second.waiting.empty());
}

// Whether nothing has come between what was sent before and the next.
bool SharedLog::Client::CanSend(const std::string& id) const {
  const MapState& state = maps_.at(id);
  const List& list = log_.lists_.at(id);
  return state.sent < state.waiting.size() && state.heard + state.sent == list.entries.size() &&
         (state.sent == 0 || Follows(list.version, state.waiting[state.sent].entry));
}

bool SharedLog::Client::Step() {
  std::string id;
  {
    MutexLock lock(log_.mutex_);
    std::vector<std::string> busy;
    for (const auto& [map, state] : maps_) {
      log_.lists_[map];
    }
    for (const auto& [map, list] : log_.lists_) {
      maps_[map];
      if (HasWork(map)) {
        busy.push_back(map);
      }
    }
    if (busy.empty()) {
      return false;
    }
    id = busy[static_cast<std::size_t>(random_.Between(0, static_cast<int>(busy.size()) - 1))];
    MapState& state = maps_[id];
    List& list = log_.lists_[id];
    if (CanSend(id) && (state.heard == list.entries.size() || random_.Chance(0.5))) {
      Waiting& next = state.waiting[state.sent];
      if (Follows(list.version, next.entry)) {
        // What commits hold is shared, as it is with what a store has published.
        list.entries.push_back(std::make_shared<const Entry>(next.entry));
        list.version = VersionAfter(next.entry);
        ++state.sent;
        log_.changed_.NotifyAll();
        return true;
      }
    }
    is_busy_ = true;
  }
  Deliver(id);
  MutexLock lock(log_.mutex_);
  is_busy_ = false;
  log_.changed_.NotifyAll();
  return true;
}

void SharedLog::Client::Deliver(const std::string& id) {
  SharedEntry entry;
  Done done;
  bool is_lost = false;
  {
    MutexLock lock(log_.mutex_);
    MapState& state = maps_[id];
    const List& list = log_.lists_[id];
    is_lost =
        state.sent == 0 && !state.waiting.empty() && !Follows(state.version, state.waiting.front().entry);
    if (!is_lost) {
      entry = list.entries[state.heard];
      ++state.heard;
      state.version = VersionAfter(*entry);
      if (entry->owner == this) {
        done = std::move(state.waiting.front().done);
        state.waiting.pop_front();
        --state.sent;
      }
    }
  }
  if (is_lost) {
    Drop(id, AppendOutcome::Conflict());
  } else if (done) {
    std::move(done)(absl::OkStatus());
  } else {
    EXPECT_THAT(Follow(*entry), testing::IsOk());
    Drop(id, AppendOutcome::Conflict());
  }
}

absl::Status SharedLog::Client::Follow(const Entry& entry) {
  if (entry.kind == Kind::kCommits) {
    return store_->FollowCommits(entry.map, entry.version.epoch, entry.commits);
  }
  if (entry.kind == Kind::kDeletion) {
    return store_->FollowDeletion(entry.map, entry.version);
  }
  MapSnapshot first{.id = entry.map,
                    .epoch = entry.version.epoch,
                    .revision = entry.version.revision,
                    .create_time = entry.create_time,
                    .map = *DecodeImage(entry.image)};
  if (entry.kind == Kind::kReplacement) {
    return store_->FollowReplacement(std::move(first), {}, {}, entry.replaced);
  }
  std::vector<AppliedRequest> requests;
  if (!entry.request.request_id.empty()) {
    requests.push_back(RequestOf(first, entry.request));
  }
  return store_->FollowCreation(std::move(first), std::move(requests), {});
}

void SharedLog::Client::FailUnsent(const std::string& id) {
  {
    MutexLock lock(log_.mutex_);
    if (maps_[id].sent > 0 || maps_[id].waiting.empty()) {
      return;
    }
  }
  Drop(id, StorageFailure(), true);
}

bool SharedLog::Client::Skip(const StoredMap& map) {
  const MapSnapshot& later = *map.snapshot;
  {
    MutexLock lock(log_.mutex_);
    MapState& state = maps_[later.id];
    const List& list = log_.lists_[later.id];
    if (state.sent > 0 || later.revision <= state.version.revision) {
      return false;
    }
    while (state.version != later.version()) {
      state.version = VersionAfter(*list.entries.at(state.heard++));
    }
  }
  MapSnapshot copy{.id = later.id,
                   .epoch = later.epoch,
                   .revision = later.revision,
                   .create_time = later.create_time,
                   .latest_commit_time = later.latest_commit_time,
                   .map = *DecodeImage(ImageOf(later))};
  EXPECT_EQ(copy.digest(), later.digest());
  EXPECT_THAT(store_->FollowImage(std::move(copy), map.requests, map.request_horizon), testing::IsOk());
  Drop(later.id, AppendOutcome::Conflict());
  return true;
}

void SharedLog::Client::Drop(const std::string& id, const AppendOutcome& outcome, bool at_least_once) {
  while (true) {
    std::deque<Waiting> dropped;
    {
      MutexLock lock(log_.mutex_);
      MapState& state = maps_[id];
      if (state.sent > 0 || state.waiting.empty() ||
          (!at_least_once && Follows(state.version, state.waiting.front().entry))) {
        return;
      }
      dropped.swap(state.waiting);
      if (outcome.is_conflict()) {
        conflicts_ += static_cast<int>(dropped.size());
      }
    }
    at_least_once = false;
    for (Waiting& waiting : dropped) {
      std::move(waiting.done)(outcome);
    }
  }
}

}  // namespace waystar::core
