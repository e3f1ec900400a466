// A map's commits on their way to the durable log and back, and commits of other servers from a shared log.

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/thread.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/store/map_record.h"

namespace waystar::core {
namespace {

absl::Status DoesNotFollow(const MapSnapshot& base, std::uint64_t epoch, std::uint64_t revision) {
  return absl::FailedPreconditionError(absl::StrCat("revision ", revision, " of epoch ", epoch,
                                                    " does not follow revision ", base.revision, " of epoch ",
                                                    base.epoch, " of map \"", base.id, "\""));
}

// Applies commits that directly follow `base`.
absl::StatusOr<ComposedGroup> Replay(const MapSnapshot& base, std::uint64_t epoch,
                                     absl::Span<const LoggedCommit> commits) {
  ComposedGroup group;
  MapEditor editor(base);
  for (const LoggedCommit& logged : commits) {
    const Commit& commit = *logged.commit;
    if (epoch != base.epoch || commit.revision != base.revision + group.commits.size() + 1) {
      return DoesNotFollow(base, epoch, commit.revision);
    }
    WAYSTAR_RETURN_IF_ERROR(editor.Apply(commit.edits, commit.time).status());
    if (editor.digest() != commit.digest) {
      return absl::DataLossError(absl::StrCat("the digest of map \"", base.id, "\" at revision ",
                                              commit.revision, " is not that of the log"));
    }
    group.commits.push_back(logged.commit);
  }
  MapEditor::Result edited = std::move(editor).Finish();
  group.next = std::make_shared<const MapSnapshot>(std::move(edited.snapshot));
  group.changes = std::move(edited.changes);
  return group;
}

}  // namespace

AppendOutcome AppendAndWait(absl::FunctionRef<void(DurableLog::Done done)> append,
                            absl::FunctionRef<void()> on_durable) {
  return CallAndWait<AppendOutcome>([&](DurableLog::Done done) {
    append([&, done = std::move(done)](AppendOutcome outcome) mutable {
      if (outcome.is_durable()) {
        on_durable();
      }
      std::move(done)(std::move(outcome));
    });
  });
}

void MapRecord::OnLogged(const AppendOutcome& outcome) noexcept {
  bool leads = false;
  if (outcome.is_durable()) {
    Publish(in_flight_.First());
  } else if (!outcome.is_conflict()) {
    if (in_flight_.Lose(outcome.status())) {
      TellNextExpiry(RollBack());
    }
  } else if (HasEnded()) {
    if (in_flight_.Lose(NoSuchMap(id_))) {
      in_flight_.Recover();
    }
  } else if (in_flight_.LoseToConflict()) {
    leads = TryAgain();
  }
  Conclude(in_flight_.Land());
  if (leads || in_flight_.Unpark(queue_.size())) {
    RunOrDeferLoop();
  }
}

void MapRecord::TellNextExpiry(absl::Time next) {
  if (next != absl::InfiniteFuture()) {
    in_flight_.First().expiry_to_tell = next;
  }
}

bool MapRecord::HasEnded() const {
  MutexLock committing(committing_);
  return composed_ == nullptr;
}

absl::Time MapRecord::RollBack() {
  MutexLock committing(committing_);
  absl::Time next = absl::InfiniteFuture();
  if (composed_ != nullptr) {
    GoBackToPublished();
    // The rollback has restored expired obstacles. Wait before removing them again, since the log has just
    // failed.
    next = std::max(lifetimes_.next(), context_.options.clock->Now() + kRetryDelayOfRemovals);
    SetNextExpiry(next);
  }
  in_flight_.Recover();
  return next;
}

void MapRecord::GoBackToPublished() {
  composed_ = PinLatest();
  Mend();
}

bool MapRecord::TryAgain() {
  MutexLock committing(committing_);
  // If they are equal, another server's commits were followed and composed_ is already right.
  if (composed_ != PinLatest()) {
    GoBackToPublished();
  }
  SetNextExpiry(lifetimes_.next());
  TellNextExpiry(lifetimes_.next());
  const UpdateQueue::Place place = queue_.PushFront(in_flight_.TakeLost());
  in_flight_.Recover();
  return place == UpdateQueue::Place::kLead;
}

void MapRecord::RunOrDeferLoop() {
  if (!DeferLoop()) {
    RunCommitLoop(Takes::kAny);
  }
}

MapRecord::Ended MapRecord::EndByLog(const ExpectedVersion& expected, AppendEnd append,
                                     ChangeTable change_table) {
  const auto go_on = [this] {
    in_flight_.Release();
    if (in_flight_.Unpark(queue_.size())) {
      RunOrDeferLoop();
    }
  };
  Ended ended;
  AppendOutcome outcome = AppendOutcome::Conflict();
  while (outcome.is_conflict()) {
    MapVersion last;
    {
      MutexLock committing(committing_);
      if (composed_ == nullptr) {
        break;
      }
      outcome = in_flight_.Hold();
      last = composed_->version();
    }
    if (outcome.is_conflict()) {
      in_flight_.AwaitRecovery();
      continue;
    }
    if (!outcome.is_durable()) {
      ended.status = outcome.status();
      return ended;
    }
    ended.status = CheckVersion(id_, last, expected);
    if (!ended.status.ok()) {
      break;
    }
    // Hold keeps the loop from composing. If a group in flight is lost, the log fails this append too.
    try {
      outcome = AppendAndWait([&](DurableLog::Done done) { append(last, std::move(done)); },
                              [&] {
                                MutexLock committing(committing_);
                                EndLocked(ended, change_table);
                              });
    } catch (const std::bad_alloc&) {
      go_on();
      throw;
    }
    ended.status = outcome.is_conflict() ? absl::OkStatus() : outcome.status();
  }
  if (ended.last == nullptr) {
    go_on();
  }
  return ended;
}

absl::Status MapRecord::Follow(std::uint64_t epoch, absl::Span<const LoggedCommit> commits) {
  absl::StatusOr<ComposedGroup> group;
  {
    // Only one editor may work on the map at a time.
    MutexLock committing(committing_);
    const PinnedSnapshot base = PinLatest();
    if (base == nullptr) {
      return Gone();
    }
    try {
      group = Replay(*base, epoch, commits);
    } catch (const std::bad_alloc&) {
      return context_.system_memory_full;
    }
    WAYSTAR_RETURN_IF_ERROR(group.status());
    TakeIn(*group, *base, commits);
  }
  Publish(*group);
  Conclude(*std::move(group));
  return absl::OkStatus();
}

void MapRecord::TakeIn(ComposedGroup& group, const MapSnapshot& base,
                       absl::Span<const LoggedCommit> commits) noexcept {
  if (in_flight_.Doom() || is_torn_) {
    applied_.TakeBackAfter(base.revision);
    lifetimes_ = Lifetimes();
    lifetimes_.Begin(group.next->obstacles());
    is_torn_ = false;
  } else {
    for (const LoggedCommit& logged : commits) {
      lifetimes_.Follow(logged.commit->edits, logged.commit->time);
    }
  }
  composed_ = group.next;
  for (const LoggedCommit& logged : commits) {
    const Commit& commit = *logged.commit;
    context_.memory->Add(kTableFactor * ApproximateBytes(commit.edits));
    if (!logged.request_id.empty()) {
      applied_.Follow(logged.request_id, logged.fingerprint, logged.request_time,
                      ResultOf(commit, composed_->epoch), commit.time);
    }
  }
  request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
  if (NoteNextExpiry(false)) {
    group.expiry_to_tell = NextExpiry();
  }
}

absl::Status MapRecord::FollowImage(StoredMap later) {
  ComposedGroup group{.next = std::move(later.snapshot), .changes = {.is_everything = true}};
  {
    MutexLock committing(committing_);
    const PinnedSnapshot base = PinLatest();
    if (base == nullptr) {
      return Gone();
    }
    if (group.next->epoch != base->epoch || group.next->revision <= base->revision) {
      return DoesNotFollow(*base, group.next->epoch, group.next->revision);
    }
    try {
      AppliedRequests applied(context_.options.request_ids);
      applied.Restore(std::move(later.requests), later.request_horizon);
      Lifetimes lifetimes;
      lifetimes.Begin(group.next->obstacles());
      applied_ = std::move(applied);
      lifetimes_ = std::move(lifetimes);
    } catch (const std::bad_alloc&) {
      return context_.system_memory_full;
    }
    in_flight_.Doom();
    is_torn_ = false;
    composed_ = group.next;
    request_bytes_.store(applied_.bytes(), std::memory_order_relaxed);
    if (NoteNextExpiry(false)) {
      group.expiry_to_tell = NextExpiry();
    }
  }
  Publish(group);
  Conclude(std::move(group));
  return absl::OkStatus();
}

MapRecord::Ended MapRecord::FollowEnd(MapVersion last, ChangeTable change_table) {
  Ended ended;
  {
    MutexLock committing(committing_);
    const PinnedSnapshot latest = PinLatest();
    if (latest == nullptr) {
      ended.status = Gone();
    } else if (latest->version() != last) {
      ended.status = DoesNotFollow(*latest, last.epoch, last.revision);
    }
    if (!ended.status.ok()) {
      return ended;
    }
    in_flight_.Doom();
    composed_ = latest;
    EndLocked(ended, change_table);
  }
  AnswerWaiting(ended);
  return ended;
}

}  // namespace waystar::core
