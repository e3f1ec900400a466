// The ways of a map's commits to its durable log and back.

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/base/status_macros.h"
#include "server/core/store/map_record.h"

namespace waystar::core {

ComposedGroup MapRecord::SendToLog(ComposedGroup group) {
  std::vector<LoggedCommit> logged = std::move(group.logged);
  if (!in_flight_.Add(group)) {
    return group;
  }
  context_.log->AppendCommits(id_, composed_->epoch, std::move(logged),
                              [self = shared_from_this()](absl::Status status) { self->OnLogged(status); });
  return {};
}

void MapRecord::OnLogged(const absl::Status& status) noexcept {
  if (status.ok()) {
    Publish(in_flight_.First());
  } else if (in_flight_.Lose(status)) {
    if (const absl::Time next = RollBack(); next != absl::InfiniteFuture()) {
      in_flight_.First().expiry_to_tell = next;
    }
  }
  Conclude(in_flight_.Land());
  ResumeIfParked();
}

absl::Time MapRecord::RollBack() {
  MutexLock committing(committing_);
  composed_ = PinLatest();
  Mend();
  // Obstacles that were due are there again; the log that could not remove them needs time.
  const absl::Time next = std::max(lifetimes_.next(), context_.options.clock->Now() + kRetryDelayOfRemovals);
  SetNextExpiry(next);
  in_flight_.Recover();
  return next;
}

void MapRecord::ResumeIfParked() {
  if (!in_flight_.Unpark(queue_.size())) {
    return;
  }
  if (!DeferLoop()) {
    RunCommitLoop(Takes::kAny);
  }
}

absl::Status MapRecord::LogEnd(const ExpectedVersion& expected, AppendEnd append) {
  MapVersion last;
  {
    MutexLock committing(committing_);
    if (composed_ == nullptr) {
      return absl::OkStatus();
    }
    WAYSTAR_RETURN_IF_ERROR(in_flight_.Hold());
    last = composed_->version();
  }
  const auto go_on = [this] {
    in_flight_.Release();
    ResumeIfParked();
  };
  if (absl::Status status = CheckVersion(id_, last, expected); !status.ok()) {
    go_on();
    return status;
  }
  // Nothing is composed meanwhile. If what is in flight is lost, the log refuses what is appended upon it.
  absl::Status status;
  try {
    status = AppendAndWait([&](DurableLog::Done done) { append(last, std::move(done)); });
  } catch (const std::bad_alloc&) {
    go_on();
    throw;
  }
  if (!status.ok()) {
    go_on();
  }
  return status;
}

}  // namespace waystar::core
