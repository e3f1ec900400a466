// A value that is made when it is first asked for.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "server/base/mutex.h"

namespace waystar::core {

// Thread safety: any method from any thread. Once the value is there, reading it takes no lock.
template <typename T>
class Lazy {
 public:
  // Gives the value. REQUIRES: it is not made yet, and nobody else is at it.
  void Set(T value) const {
    MutexLock lock(mutex_);
    value_ = std::make_unique<const T>(std::move(value));
    published_.store(value_.get(), std::memory_order_release);
  }

  // The value; calls make() for it the first time. Who comes meanwhile waits.
  template <typename Maker>
  const T& Get(Maker make) const {
    if (const T* value = GetIfMade()) {
      return *value;
    }
    MutexLock lock(mutex_);
    if (value_ == nullptr) {
      value_ = std::make_unique<const T>(make());
      published_.store(value_.get(), std::memory_order_release);
    }
    return *value_;
  }

  // Null before it is made.
  const T* GetIfMade() const { return published_.load(std::memory_order_acquire); }

 private:
  mutable Mutex mutex_;
  mutable std::unique_ptr<const T> value_ ABSL_GUARDED_BY(mutex_);
  mutable std::atomic<const T*> published_ = nullptr;
};

}  // namespace waystar::core
