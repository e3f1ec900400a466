#include "tests/core/store/shared_log.h"

#include <algorithm>
#include <utility>

#include "gtest/gtest.h"
#include "server/base/thread.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {

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
  const Patience patience("quiet in the log");
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

void SharedLog::Client::Append(Waiting next) {
  MutexLock lock(log_.mutex_);
  maps_[next.entry.map].waiting.push_back(std::move(next));
  ++appends_;
  log_.changed_.NotifyAll();
}

void SharedLog::Client::AwaitAppends(int count) const {
  const Patience patience("appends");
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
         (state.sent == 0 || state.waiting[state.sent].entry.Follows(list.version));
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
      if (next.entry.Follows(list.version)) {
        // What commits hold is shared, as it is with what a store has published.
        list.entries.push_back(std::make_shared<const LogEntry>(next.entry));
        list.version = next.entry.VersionAfter();
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
        state.sent == 0 && !state.waiting.empty() && !state.waiting.front().entry.Follows(state.version);
    if (!is_lost) {
      entry = list.entries[state.heard];
      ++state.heard;
      state.version = entry->VersionAfter();
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
    EXPECT_THAT(Follow(*entry), IsOk());
    Drop(id, AppendOutcome::Conflict());
  }
}

absl::Status SharedLog::Client::Follow(const LogEntry& entry) {
  switch (entry.kind) {
    case LogEntry::Kind::kCommits:
      return store_->FollowCommits(entry.map, entry.version.epoch, entry.commits);
    case LogEntry::Kind::kDeletion:
      return store_->FollowDeletion(entry.map, entry.version);
    case LogEntry::Kind::kReplacement:
      return store_->FollowReplacement({.snapshot = CopyOf(*entry.first)}, entry.replaced);
    case LogEntry::Kind::kCreation:
      break;
  }
  std::vector<AppliedRequest> requests;
  if (!entry.request.request_id.empty()) {
    requests.push_back(RequestOf(*entry.first, entry.request));
  }
  return store_->FollowCreation({.snapshot = CopyOf(*entry.first), .requests = std::move(requests)});
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
      state.version = list.entries.at(state.heard++)->VersionAfter();
    }
  }
  EXPECT_THAT(
      store_->FollowImage(
          {.snapshot = CopyOf(later), .requests = map.requests, .request_horizon = map.request_horizon}),
      IsOk());
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
          (!at_least_once && state.waiting.front().entry.Follows(state.version))) {
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
