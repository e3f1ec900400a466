// Running calls of one CallMaker.
#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "server/base/mutex.h"
#include "server/service/transport/http/any_call.h"

namespace waystar::http {

// Thread safety: any method may be called from any thread.
class OpenCalls : public std::enable_shared_from_this<OpenCalls> {
 public:
  // Counts a call until the returned guard is released. Returns null once CancelAndWait has begun.
  std::shared_ptr<void> Enter();
  // Registers an entered call for CancelAndWait.
  void Add(const std::shared_ptr<AnyCall>& call);

  // Cancels all calls, and waits until none is left.
  void CancelAndWait();

 private:
  Mutex mutex_;
  CondVar is_less_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::weak_ptr<AnyCall>> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::http
