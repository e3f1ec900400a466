// A reader-writer lock whose readers do not get in each other's way: a mutex a stripe, of which a reader
// locks its own and a writer locks all.
//
// Wilson C. Hsieh and William E. Weihl, "Scalable Reader-Writer Locks for Parallel Systems", 1992, where it
// is the static algorithm; long known in Linux as the big-reader lock ("brlock").
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "server/base/mutex.h"
#include "server/base/thread_number.h"

namespace waystar {

// For what is read by many threads all the time, for moments, and written rarely. A reader's cost is that of
// one mutex that it shares with few; a writer's is that of `stripes` of them. Readers on threads of different
// stripes write to no cache line in common.
//
// Threads are given stripes in turn, for good, when they first ask. Readers of one stripe exclude each other:
// a thread that holds the lock, to read or to write, must not take it again.
//
// Who reads after another has read what a writer wrote reads that or newer, on whichever stripe.
//
// Thread safety: any.
class ABSL_LOCKABLE StripedMutex {
 public:
  // As many stripes as there are processors, rounded up to a power of two, but at most kMaxStripes.
  StripedMutex() : StripedMutex(DefaultStripes()) {}
  // REQUIRES: a power of two.
  explicit StripedMutex(std::size_t stripes);
  StripedMutex(const StripedMutex&) = delete;
  StripedMutex& operator=(const StripedMutex&) = delete;

  static constexpr std::size_t kMaxStripes = 16;
  static std::size_t DefaultStripes();

  std::size_t stripes() const { return mask_ + 1; }
  // Of the calling thread; less than stripes(), always the same.
  std::size_t OwnStripe() const { return ThreadNumber() & mask_; }

  // `stripe` is the calling thread's own.
  void LockToRead(std::size_t stripe) ABSL_SHARED_LOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    stripes_[stripe].mutex.Lock();
  }
  void UnlockAfterRead(std::size_t stripe) ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    stripes_[stripe].mutex.Unlock();
  }

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void Unlock() ABSL_UNLOCK_FUNCTION();

 private:
  // A cache line of its own.
  struct alignas(ABSL_CACHELINE_SIZE) Stripe {
    Mutex mutex;
  };

  const std::size_t mask_;
  const std::unique_ptr<Stripe[]> stripes_;
};

// Holds the calling thread's stripe for the scope it is declared in.
class ABSL_SCOPED_LOCKABLE StripedReaderLock {
 public:
  explicit StripedReaderLock(StripedMutex& mutex) ABSL_SHARED_LOCK_FUNCTION(mutex)
      : mutex_(mutex), stripe_(mutex.OwnStripe()) {
    mutex_.LockToRead(stripe_);
  }
  ~StripedReaderLock() ABSL_UNLOCK_FUNCTION() { mutex_.UnlockAfterRead(stripe_); }
  StripedReaderLock(const StripedReaderLock&) = delete;
  StripedReaderLock& operator=(const StripedReaderLock&) = delete;

  std::size_t stripe() const { return stripe_; }

  // Tells the compiler, where a lock was handed down, of what it is. REQUIRES: `mutex` is the one it holds.
  void AssertHolds([[maybe_unused]] const StripedMutex& mutex) const ABSL_ASSERT_SHARED_LOCK(mutex) {
    assert(&mutex == &mutex_);
  }

 private:
  StripedMutex& mutex_;
  const std::size_t stripe_;
};

// Holds all stripes for the scope it is declared in.
class ABSL_SCOPED_LOCKABLE StripedWriterLock {
 public:
  explicit StripedWriterLock(StripedMutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~StripedWriterLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  StripedWriterLock(const StripedWriterLock&) = delete;
  StripedWriterLock& operator=(const StripedWriterLock&) = delete;

 private:
  StripedMutex& mutex_;
};

}  // namespace waystar
