#include "server/service/handlers/watch/map_watch.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/service/auth/check_access.h"
#include "server/service/call/call_context.h"
#include "server/service/call/request_parser.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_edits.h"

namespace waystar::rpc {
namespace {

// Upper bound on the bytes of a revision apart from its edits.
constexpr std::size_t kEventEnvelopeBytes = 16;

absl::Status Deleted(const std::string& map) {
  return MakeError(ErrorReason::kMapNotFound, "map", absl::StrCat("map \"", map, "\" has been deleted"));
}

}  // namespace

void MapWatches::Add(const std::string& map, std::shared_ptr<MapWatcher> watcher) {
  MutexLock lock(mutex_);
  watchers_[map].insert(std::move(watcher));
}

void MapWatches::Remove(const std::string& map, const std::shared_ptr<MapWatcher>& watcher) {
  MutexLock lock(mutex_);
  const auto it = watchers_.find(map);
  if (it == watchers_.end()) {
    return;
  }
  it->second.erase(watcher);
  if (it->second.empty()) {
    watchers_.erase(it);
  }
}

void MapWatches::OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::CommitPtr> /*commits*/,
                          const core::MapChanges& /*changes*/) {
  Note(snapshot->id, 0);
}

void MapWatches::OnLoad(const core::PinnedSnapshot& snapshot) { Note(snapshot->id, 0); }

bool MapWatches::Needs(const core::MapSnapshot& latest) const {
  MutexLock lock(mutex_);
  return watchers_.contains(latest.id);
}

void MapWatches::OnDelete(const core::PinnedSnapshot& last) { Note(last->id, last->epoch); }

void MapWatches::Note(const std::string& map, std::uint64_t ended_epoch) {
  MutexLock lock(mutex_);
  if (!watchers_.contains(map)) {
    return;
  }
  std::vector<std::uint64_t>& ended_epochs = news_[map];
  if (ended_epoch != 0) {
    ended_epochs.push_back(ended_epoch);
  }
  thread_.Wake();
}

void MapWatches::Run() {
  struct Told {
    std::vector<std::shared_ptr<MapWatcher>> watchers;
    std::vector<std::uint64_t> ended_epochs;
  };
  std::vector<Told> to_tell;
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!thread_.is_stopping() && news_.empty()) {
        thread_.Wait(mutex_);
      }
      if (thread_.is_stopping()) {
        return;
      }
      for (auto& [map, ended_epochs] : news_) {
        if (const auto it = watchers_.find(map); it != watchers_.end()) {
          to_tell.push_back({{it->second.begin(), it->second.end()}, std::move(ended_epochs)});
        }
      }
      news_.clear();
    }
    for (const Told& told : to_tell) {
      for (const std::shared_ptr<MapWatcher>& watcher : told.watchers) {
        for (const std::uint64_t epoch : told.ended_epochs) {
          watcher->OnDelete(epoch);
        }
        watcher->OnNews();
      }
    }
    to_tell.clear();
  }
}

absl::Status MapWatch::Admit() {
  WAYSTAR_RETURN_IF_ERROR(ParseRequest(request_bytes_, request_, memory_));
  WAYSTAR_RETURN_IF_ERROR(
      caller_.Require([this](const Caller& caller) { return CheckAccess(caller, request_); }));
  WAYSTAR_RETURN_IF_ERROR(TakeSlot(server_.watches));
  // Subscribes before the map is read, so that later changes are reported.
  context_.watches.Add(request_.map(), Self());
  is_added_ = true;
  {
    MutexLock lock(mutex_);
    const absl::Status status = SendFirst();
    if (!awaits_version_) {
      return status;
    }
  }
  AwaitNewest();
  return absl::OkStatus();
}

bool MapWatch::MayHaveNewer() const {
  return request_.after().epoch() != 0 && server_.fleet.is_fleet() && !has_asked_fleet_;
}

void MapWatch::AwaitNewest() {
  server_.fleet.Newest(request_.map(), [self = Self()](const absl::StatusOr<std::int64_t>& revision) {
    const auto until =
        std::min(CallHead(self->rpc_).Deadline(), VersionWaits::Clock::now() + VersionWaits::kMostWait);
    if (!revision.ok() || !self->server_.version_waits
                               .BeginFollowing(*self, HolderOf(self->caller_.Get(), self->rpc_), *revision,
                                               until, self->cancelled_)
                               .ok()) {
      self->BeginAgain();
    }
  });
}

void MapWatch::BeginAgain() {
  const Change change(*this);
  awaits_version_ = false;
  if (const absl::Status status = SendFirst(); !status.ok()) {
    SetEnd(status);
  }
}

absl::Status MapWatch::SendFirst() {
  if (end().has_value()) {
    return absl::OkStatus();
  }
  // The pinned snapshot is released at once. The end of its map has not been reported yet, and will be.
  const v1::Version& after = request_.after();
  const absl::StatusOr<core::PinnedSnapshot> pinned = context_.store.Pin(request_.map());
  const bool is_missing = absl::IsNotFound(pinned.status());
  if (MayHaveNewer() && (is_missing || (pinned.ok() && ((*pinned)->epoch != after.epoch() ||
                                                        (*pinned)->revision < after.revision())))) {
    has_asked_fleet_ = true;
    awaits_version_ = true;
    return absl::OkStatus();
  }
  WAYSTAR_RETURN_IF_ERROR(pinned.status());
  const core::PinnedSnapshot& latest = *pinned;
  epoch_ = latest->epoch;
  coordinates_ = HexCoordinates(*latest);
  WAYSTAR_RETURN_IF_ERROR(CheckVersion(after, "after"));
  const bool is_given = after.epoch() != 0;
  const bool is_replaced = is_given && after.epoch() != epoch_;
  const bool is_known = is_given && !is_replaced;
  if (is_known && after.revision() > latest->revision) {
    return MakeError(ErrorReason::kFutureRevision, "after",
                     absl::StrCat("there is no revision ", after.revision(), " yet: map \"", request_.map(),
                                  "\" is at revision ", latest->revision));
  }
  next_ = (is_known ? after.revision() : latest->revision) + 1;
  v1::WatchMapResponse message;
  WAYSTAR_ASSIGN_OR_RETURN(const core::History history, context_.store.ReadHistory(request_.map(), next_, 1));
  if (history.epoch != epoch_) {
    return Deleted(request_.map());
  }
  if (is_replaced || history.kind == core::History::Kind::kGone) {
    Resynchronize(*latest, message);
  } else {
    FillVersion(latest->version(), *message.mutable_watching()->mutable_version());
    message.mutable_watching()->set_digest(latest->digest());
  }
  Write(Serialize(message));
  return absl::OkStatus();
}

void MapWatch::OnDelete(std::uint64_t epoch) {
  const Change change(*this);
  if (epoch == epoch_) {
    SetEnd(Deleted(request_.map()));
  }
}

void MapWatch::OnDetached() {
  if (is_added_) {
    context_.watches.Remove(request_.map(), Self());
  }
}

void MapWatch::Advance() {
  if (end().has_value() && awaits_version_) {
    cancelled_.store(true, std::memory_order_relaxed);
    server_.version_waits.CancelSoon(*this);
  }
  if (is_writing() || end().has_value() || next_ == 0) {
    return;
  }
  const absl::StatusOr<core::History> history = context_.store.ReadHistory(request_.map(), next_, 1);
  if (!history.ok()) {
    SetEnd(history.status());
    return;
  }
  // The notification of the deletion is still pending.
  if (history->epoch != epoch_) {
    SetEnd(Deleted(request_.map()));
    return;
  }
  v1::WatchMapResponse message;
  if (history->kind == core::History::Kind::kGone) {
    const absl::StatusOr<core::PinnedSnapshot> latest = context_.store.Pin(request_.map());
    if (!latest.ok() || (*latest)->epoch != epoch_) {
      SetEnd(Deleted(request_.map()));
      return;
    }
    Resynchronize(**latest, message);
  } else if (!history->commits.empty()) {
    FillRevision(*history->commits.front(), *message.mutable_commit());
    ++next_;
  } else {
    return;
  }
  Write(Serialize(message));
}

void MapWatch::Resynchronize(const core::MapSnapshot& latest, v1::WatchMapResponse& message) {
  FillVersion(latest.version(), *message.mutable_resynchronize()->mutable_version());
  message.mutable_resynchronize()->set_digest(latest.digest());
  next_ = latest.revision + 1;
}

void MapWatch::FillRevision(const core::Commit& commit, v1::MapRevision& out) const {
  FillCommit(commit, coordinates_, out);
  out.mutable_version()->set_epoch(epoch_);
  if (!request_.with_edits()) {
    return;
  }
  for (const core::Edit& edit : commit.edits) {
    FillEdit(edit, coordinates_, *out.add_edits());
  }
  if (out.ByteSizeLong() + kEventEnvelopeBytes > context_.max_message_bytes) {
    out.clear_edits();
    out.set_edits_omitted(true);
  }
}

}  // namespace waystar::rpc
