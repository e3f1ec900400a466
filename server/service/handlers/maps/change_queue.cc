#include "server/service/handlers/maps/change_queue.h"

#include <new>
#include <utility>

#include "absl/time/time.h"
#include "server/base/error.h"
#include "server/base/thread.h"
#include "server/core/edit/edit_memory.h"

namespace waystar::rpc {
namespace {

// A change takes about as long as a sync, unless the disk hangs.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(500);

absl::Status Make(ChangeQueue::Change change) {
  try {
    return std::move(change)();
  } catch (const std::bad_alloc&) {
    return core::SystemMemoryFull();
  }
}

}  // namespace

ChangeQueue::ChangeQueue() : thread_(StartThread("changes", [this] { Run(); })) {}

ChangeQueue::~ChangeQueue() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

void ChangeQueue::Submit(Change change, Done done) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() < kMaxWaiting) {
      Add(std::move(change), std::move(done));
      return;
    }
  }
  std::move(done)(Refusal(ErrorReason::kUpdatesBusy, kRetryDelay,
                          "as many creations and deletions of maps wait as the server lets wait"));
}

void ChangeQueue::SubmitOwed(Change change, Done done) {
  MutexLock lock(mutex_);
  Add(std::move(change), std::move(done));
}

void ChangeQueue::Add(Change change, Done done) {
  waiting_.push_back({.change = std::move(change), .done = std::move(done)});
  wake_.NotifyAll();
}

void ChangeQueue::Run() {
  while (true) {
    Waiting next;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !is_stopping_) {
        wake_.Wait(mutex_);
      }
      if (waiting_.empty()) {
        return;
      }
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    const absl::Status status = Make(std::move(next.change));
    std::move(next.done)(status);
  }
}

}  // namespace waystar::rpc
