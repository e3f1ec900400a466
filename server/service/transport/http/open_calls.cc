#include "server/service/transport/http/open_calls.h"

#include <cstddef>
#include <utility>

namespace waystar::http {

std::shared_ptr<void> OpenCalls::Enter() {
  MutexLock lock(mutex_);
  if (is_closed_) {
    return nullptr;
  }
  ++count_;
  return {this, [self = shared_from_this()](void* /*place*/) {
            MutexLock leaving(self->mutex_);
            --self->count_;
            self->is_less_.NotifyAll();
          }};
}

void OpenCalls::Add(const std::shared_ptr<AnyCall>& call) {
  {
    MutexLock lock(mutex_);
    if (!is_closed_) {
      if (calls_.size() > 2 * static_cast<std::size_t>(count_) + 16) {
        std::erase_if(calls_, [](const std::weak_ptr<AnyCall>& each) { return each.expired(); });
      }
      calls_.push_back(call);
      return;
    }
  }
  call->Cancel();
}

void OpenCalls::CancelAndWait() {
  std::vector<std::weak_ptr<AnyCall>> calls;
  {
    MutexLock lock(mutex_);
    is_closed_ = true;
    calls = std::move(calls_);
  }
  for (const std::weak_ptr<AnyCall>& each : calls) {
    if (const std::shared_ptr<AnyCall> call = each.lock(); call != nullptr) {
      call->Cancel();
    }
  }
  MutexLock lock(mutex_);
  while (count_ > 0) {
    is_less_.Wait(mutex_);
  }
}

}  // namespace waystar::http
