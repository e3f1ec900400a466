// Lazily computed values.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "server/base/mutex.h"

namespace waystar::core {

// Lazily computed, immutable value.
//
// Thread safety: thread-safe. Reads take no lock once the value exists.
template <typename T>
class Lazy {
 public:
  // REQUIRES: there is no value, and no other thread is computing it.
  void Set(T value) const {
    MutexLock lock(mutex_);
    value_ = std::make_unique<const T>(std::move(value));
    published_.store(value_.get(), std::memory_order_release);
  }

  // Stores the value unless one exists or another thread is computing it. Does not block.
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

  // Returns the value. The first call computes it with make(); concurrent calls wait for it.
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

  // Waits for a computation in progress, if any. Returns the value, or null if there is none.
  const T* Wait() const {
    MutexLock lock(mutex_);
    return value_.get();
  }

  // Returns the value, or null before it is computed.
  const T* GetIfMade() const { return published_.load(std::memory_order_acquire); }

 private:
  mutable Mutex mutex_;
  mutable std::unique_ptr<const T> value_ ABSL_GUARDED_BY(mutex_);
  mutable std::atomic<const T*> published_ = nullptr;
};

}  // namespace waystar::core
