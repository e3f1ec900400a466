// A map's commits on their way to the durable log and back.

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/base/thread.h"
#include "server/core/store/map_record.h"

namespace waystar::core {

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
      outcome = CallAndWait<AppendOutcome>([&](DurableLog::Done done) {
        append(last, [&, done = std::move(done)](AppendOutcome appended) mutable {
          // On the log's thread, before it delivers a new map with that id.
          if (appended.is_durable()) {
            MutexLock committing(committing_);
            EndLocked(ended, change_table);
          }
          std::move(done)(std::move(appended));
        });
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

}  // namespace waystar::core
