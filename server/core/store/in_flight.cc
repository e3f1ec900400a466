#include "server/core/store/in_flight.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace waystar::core {
namespace {

// While these are in flight, one is being written and one is ready to be.
constexpr std::size_t kFewGroups = 2;
// So many batches are worth another group even so.
constexpr std::size_t kManyBatches = 64;

}  // namespace

bool InFlight::MustWait(std::size_t waiting) const {
  return is_held_ || !loss_.ok() || batches_ >= max_batches_ || bytes_ >= max_bytes_ ||
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
  if (!loss_.ok()) {
    group.expiry_to_tell.reset();
    for (UpdateAnswer& answer : group.answers) {
      answer.result = loss_;
    }
  } else if (group.next != nullptr) {
    batches_ += group.batches;
    bytes_ += group.bytes;
    groups_.push_back(std::move(group));
    return true;
  }
  if (!groups_.empty()) {
    // What they say stands upon what is in flight.
    ComposedGroup& last = groups_.back();
    last.batches += group.batches;
    batches_ += group.batches;
    std::ranges::move(group.answers, std::back_inserter(last.answers));
    group.answers.clear();
  }
  return false;
}

ComposedGroup& InFlight::First() {
  MutexLock lock(mutex_);
  // It stays in its place while others are added.
  return groups_.front();
}

bool InFlight::Lose(const absl::Status& status) {
  MutexLock lock(mutex_);
  loss_ = status;
  ComposedGroup& first = groups_.front();
  first.expiry_to_tell.reset();
  for (UpdateAnswer& answer : first.answers) {
    answer.result = status;
  }
  return groups_.size() == 1;
}

void InFlight::Recover() {
  MutexLock lock(mutex_);
  loss_ = absl::OkStatus();
}

ComposedGroup InFlight::Land() {
  while (true) {
    std::vector<UpdateAnswer> answers;
    {
      MutexLock lock(mutex_);
      ComposedGroup& first = groups_.front();
      answers.swap(first.answers);
      // It is in flight until all are answered, so that nobody else answers before.
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

absl::Status InFlight::Hold() {
  MutexLock lock(mutex_);
  is_held_ = loss_.ok();
  return loss_;
}

void InFlight::Release() {
  MutexLock lock(mutex_);
  is_held_ = false;
}

PinnedSnapshot InFlight::Newest() const {
  MutexLock lock(mutex_);
  return groups_.empty() ? nullptr : groups_.back().next;
}

std::size_t InFlight::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace waystar::core
