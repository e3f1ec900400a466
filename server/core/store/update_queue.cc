#include "server/core/store/update_queue.h"

#include <iterator>
#include <utility>

namespace waystar::core {

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
