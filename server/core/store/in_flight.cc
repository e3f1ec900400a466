#include "server/core/store/in_flight.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace waystar::core {
namespace {

// Groups in flight at which the commit loop waits: one is being written, and the next is ready.
constexpr std::size_t kFewGroups = 2;
// Queued batches that justify another group nevertheless.
constexpr std::size_t kManyBatches = 64;

// Answers all batches with the error; none is kept for a retry.
void Fail(std::vector<UpdateAnswer>& answers, const absl::Status& status) {
  for (UpdateAnswer& answer : answers) {
    answer.result = status;
    answer.kept.reset();
  }
}

}  // namespace

bool InFlight::MustWait(std::size_t waiting) const {
  return is_held_ || !loss_.is_durable() || batches_ >= max_batches_ || bytes_ >= max_bytes_ ||
         (groups_.size() >= kFewGroups && waiting < kManyBatches);
}

bool InFlight::Park(std::size_t waiting) {
  MutexLock lock(mutex_);
  is_parked_ = MustWait(waiting);
  return is_parked_;
}

bool InFlight::Unpark(std::size_t waiting) {
  MutexLock lock(mutex_);
  return !MustWait(waiting) && std::exchange(is_parked_, false);
}

bool InFlight::Add(ComposedGroup& group) {
  MutexLock lock(mutex_);
  if (!loss_.is_durable()) {
    group.expiry_to_tell.reset();
    if (!loss_.is_conflict()) {
      Fail(group.answers, loss_.status());
    }
  } else if (group.next != nullptr) {
    batches_ += group.batches;
    bytes_ += group.bytes;
    groups_.push_back(std::move(group));
    return true;
  }
  if (!groups_.empty()) {
    // These answers may depend on changes in flight.
    groups_.back().batches += group.batches;
    batches_ += group.batches;
    JoinLocked(group.answers);
  }
  return false;
}

void InFlight::Join(std::vector<UpdateAnswer>& answers) {
  MutexLock lock(mutex_);
  if (!groups_.empty()) {
    JoinLocked(answers);
  }
}

void InFlight::JoinLocked(std::vector<UpdateAnswer>& answers) {
  std::ranges::move(answers, std::back_inserter(groups_.back().answers));
  answers.clear();
}

ComposedGroup& InFlight::First() {
  MutexLock lock(mutex_);
  // A reference into a deque stays valid while elements are appended.
  return groups_.front();
}

bool InFlight::Lose(const absl::Status& status) {
  MutexLock lock(mutex_);
  loss_ = status;
  ComposedGroup& first = groups_.front();
  first.expiry_to_tell.reset();
  Fail(first.answers, status);
  return groups_.size() == 1;
}

bool InFlight::LoseToConflict() {
  MutexLock lock(mutex_);
  loss_ = AppendOutcome::Conflict();
  ComposedGroup& first = groups_.front();
  first.expiry_to_tell.reset();
  if (groups_.size() == 1) {
    return true;
  }
  std::vector<UpdateAnswer>& next = groups_[1].answers;
  next.insert(next.begin(), std::make_move_iterator(first.answers.begin()),
              std::make_move_iterator(first.answers.end()));
  first.answers.clear();
  return false;
}

bool InFlight::Doom() {
  MutexLock lock(mutex_);
  if (groups_.empty()) {
    return false;
  }
  loss_ = AppendOutcome::Conflict();
  return true;
}

std::vector<WaitingBatch> InFlight::TakeLost() {
  std::vector<UpdateAnswer> answers;
  {
    MutexLock lock(mutex_);
    answers.swap(groups_.front().answers);
  }
  std::vector<WaitingBatch> lost;
  lost.reserve(answers.size());
  for (UpdateAnswer& answer : answers) {
    if (answer.kept != nullptr) {
      WaitingBatch& batch = lost.emplace_back(std::move(answer.kept->batch));
      if (answer.kept->commit != nullptr) {
        batch.batch.edits = answer.kept->commit->edits;
      }
      batch.done = std::move(answer.done);
    }
  }
  // Answers with errors are still given.
  std::erase_if(answers, [](const UpdateAnswer& answer) { return answer.kept != nullptr; });
  Join(answers);
  return lost;
}

void InFlight::Recover() {
  MutexLock lock(mutex_);
  loss_ = absl::OkStatus();
  has_recovered_.NotifyAll();
}

ComposedGroup InFlight::Land() {
  while (true) {
    std::vector<UpdateAnswer> answers;
    {
      MutexLock lock(mutex_);
      ComposedGroup& first = groups_.front();
      answers.swap(first.answers);
      // The group counts as in flight until every answer is given, so that later answers cannot overtake.
      if (answers.empty()) {
        ComposedGroup landed = std::move(first);
        groups_.pop_front();
        batches_ -= landed.batches;
        bytes_ -= landed.bytes;
        return landed;
      }
    }
    for (UpdateAnswer& answer : answers) {
      std::move(answer.done)(std::move(answer.result));
    }
  }
}

AppendOutcome InFlight::Hold() {
  MutexLock lock(mutex_);
  is_held_ = loss_.is_durable();
  return loss_;
}

void InFlight::AwaitRecovery() {
  MutexLock lock(mutex_);
  while (!loss_.is_durable()) {
    has_recovered_.Wait(mutex_);
  }
}

void InFlight::Release() {
  MutexLock lock(mutex_);
  is_held_ = false;
}

bool InFlight::IsIdle() const {
  MutexLock lock(mutex_);
  return groups_.empty() && !is_held_ && !is_parked_;
}

PinnedSnapshot InFlight::Newest() const {
  MutexLock lock(mutex_);
  return groups_.empty() ? nullptr : groups_.back().next;
}

std::size_t InFlight::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

UpdateQueue::Place UpdateQueue::Push(WaitingBatch& batch) {
  MutexLock lock(mutex_);
  if (is_closed_) {
    return Place::kClosed;
  }
  if (batch.due) {
    if (has_due_) {
      return Place::kWait;
    }
    // A single batch may exceed the byte limit.
  } else if (!waiting_.empty() && (waiting_.size() >= max_batches_ || bytes_ + batch.bytes > max_bytes_)) {
    return Place::kBusy;
  }
  waiting_.push_back(std::move(batch));
  bytes_ += waiting_.back().bytes;
  has_due_ = has_due_ || waiting_.back().due;
  return std::exchange(has_leader_, true) ? Place::kWait : Place::kLead;
}

UpdateQueue::Place UpdateQueue::PushFront(std::vector<WaitingBatch> batches) {
  MutexLock lock(mutex_);
  for (const WaitingBatch& batch : batches) {
    bytes_ += batch.bytes;
  }
  waiting_.insert(waiting_.begin(), std::make_move_iterator(batches.begin()),
                  std::make_move_iterator(batches.end()));
  if (waiting_.empty()) {
    return Place::kWait;
  }
  return std::exchange(has_leader_, true) ? Place::kWait : Place::kLead;
}

std::optional<WaitingBatch> UpdateQueue::Pop(bool takes_large) {
  MutexLock lock(mutex_);
  if (waiting_.empty() || (waiting_.front().is_large && !takes_large)) {
    return std::nullopt;
  }
  std::optional<WaitingBatch> first = std::move(waiting_.front());
  waiting_.pop_front();
  bytes_ -= first->bytes;
  if (first->due) {
    has_due_ = false;
  }
  return first;
}

UpdateQueue::Front UpdateQueue::front() const {
  MutexLock lock(mutex_);
  return waiting_.empty()
             ? Front()
             : Front{.is_large = waiting_.front().is_large, .client = waiting_.front().batch.client};
}

bool UpdateQueue::Yield() {
  MutexLock lock(mutex_);
  has_leader_ = !waiting_.empty();
  return !has_leader_;
}

std::deque<WaitingBatch> UpdateQueue::Close() {
  MutexLock lock(mutex_);
  is_closed_ = true;
  bytes_ = 0;
  return std::exchange(waiting_, {});
}

bool UpdateQueue::CloseIfIdle() {
  MutexLock lock(mutex_);
  if (!waiting_.empty() || has_leader_) {
    return false;
  }
  is_closed_ = true;
  return true;
}

}  // namespace waystar::core
