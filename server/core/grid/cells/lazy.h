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

// Index that answers queries faster than a search, but only for one state of a map.
class StaticIndex {
 public:
  StaticIndex() = default;
  StaticIndex(const StaticIndex&) = delete;
  StaticIndex& operator=(const StaticIndex&) = delete;
  virtual ~StaticIndex() = default;

  virtual std::size_t memory_bytes() const = 0;
};

// Slot for a StaticIndex: searches request it, a builder puts it, and later searches find it.
//
// Thread safety: thread-safe.
class StaticIndexSlot {
 public:
  explicit StaticIndexSlot(bool is_wanted = false) : is_wanted_(is_wanted) {}

  // Returns true if a search has requested the index for this state of the map or an earlier one.
  bool is_wanted() const { return is_wanted_.load(std::memory_order_relaxed); }
  void Want() {
    if (!is_wanted()) {
      is_wanted_.store(true, std::memory_order_relaxed);
    }
  }

  // True once the index is no longer needed, because the map changed or the index would not fit into memory.
  // Builders poll it.
  const std::atomic<bool>& is_given_up() const { return is_given_up_; }
  void GiveUp() { is_given_up_.store(true, std::memory_order_relaxed); }

  // Returns the index, or null before Put.
  const StaticIndex* index() const {
    const auto* index = index_.GetIfMade();
    return index != nullptr ? index->get() : nullptr;
  }
  // REQUIRES: Put has not been called.
  void Put(std::unique_ptr<const StaticIndex> index) { index_.Set(std::move(index)); }

 private:
  std::atomic<bool> is_wanted_;
  std::atomic<bool> is_given_up_ = false;
  Lazy<std::unique_ptr<const StaticIndex>> index_;
};

}  // namespace waystar::core
