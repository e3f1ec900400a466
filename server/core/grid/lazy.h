// A value that is computed when it is first asked for.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "server/base/mutex.h"

namespace waystar::core {

// Lazily computed, immutable value.
//
// Thread safety: any method may be called from any thread. Reading takes no lock once the value is there.
template <typename T>
class Lazy {
 public:
  // Stores the value. REQUIRES: it has not been made, and no other thread is making it.
  void Set(T value) const {
    MutexLock lock(mutex_);
    value_ = std::make_unique<const T>(std::move(value));
    published_.store(value_.get(), std::memory_order_release);
  }

  // Stores the value, unless there is one or another call is computing it, which this does not wait for.
  void TrySet(T value) const {
    auto made = std::make_unique<const T>(std::move(value));
    if (!mutex_.TryLock()) {
      return;
    }
    if (value_ == nullptr) {
      value_ = std::move(made);
      published_.store(value_.get(), std::memory_order_release);
    }
    mutex_.Unlock();
  }

  // Returns the value. The first call computes it by make(); calls from other threads wait meanwhile.
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

  // Waits while another call computes the value. Returns null if none has been asked to.
  const T* Wait() const {
    MutexLock lock(mutex_);
    return value_.get();
  }

  // Returns the value, or null before it is made.
  const T* GetIfMade() const { return published_.load(std::memory_order_acquire); }

 private:
  mutable Mutex mutex_;
  mutable std::unique_ptr<const T> value_ ABSL_GUARDED_BY(mutex_);
  mutable std::atomic<const T*> published_ = nullptr;
};

}  // namespace waystar::core
