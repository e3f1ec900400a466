// Account of the memory that grows with client data, under one limit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "server/base/mutex.h"

namespace waystar {

// Bytes by category.
struct MemoryUse {
  // Latest snapshots, without derived search data.
  std::size_t maps = 0;
  // Indexes over walkable cells.
  std::size_t indexes = 0;
  // Memory promised to indexes that will be built in the background.
  std::size_t promised = 0;
  // Maps as seen by movement profiles and larger agents.
  std::size_t views = 0;
  // Replaced snapshots that are still pinned.
  std::size_t old_snapshots = 0;
  // Remembered request_ids.
  std::size_t requests = 0;
  // Remembered commits.
  std::size_t history = 0;

  std::size_t total() const { return maps + indexes + promised + views + old_snapshots + requests + history; }
};

// Data dropped to free memory. Each value includes those before it.
enum class MemoryDrop {
  // Views not used since the last drop.
  kUnusedViews,
  kViews,
  // Remembered commits and, once unpinned, old snapshots.
  kHistory,
};

// Account of memory under a limit. Memory is reserved by upper bounds before it is allocated. When their sum
// no longer fits, the account measures the memory, replacing the bounds by the real sizes; if that does not
// suffice, it drops views and history (MemoryDrop), and measures again. While there is room, a reservation
// costs two additions.
//
// Thread safety: any method may be called from any thread.
class MemoryAccount {
 public:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  // Callbacks into the owner of the memory. They are never called concurrently; the calling thread may hold
  // locks of its own.
  struct Hooks {
    std::function<MemoryUse()> measure;
    std::function<void(MemoryDrop what)> drop;
  };

  explicit MemoryAccount(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  // Sets or clears the hooks, after running calls have ended.
  void SetHooks(Hooks hooks);

  // Reserved bytes, returned to the account on destruction. Memory that stays allocated must be included in
  // `measure` from then on.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept { Swap(other); }
    Reservation& operator=(Reservation&& other) noexcept {
      Swap(other);
      return *this;
    }
    ~Reservation();

    // Keeps the bytes counted until the next measurement, because the memory stays allocated.
    void Keep() { is_kept_ = true; }

   private:
    friend class MemoryAccount;
    void Swap(Reservation& other) {
      std::swap(account_, other.account_);
      std::swap(bytes_, other.bytes_);
      std::swap(is_kept_, other.is_kept_);
    }

    MemoryAccount* account_ = nullptr;
    std::size_t bytes_ = 0;
    bool is_kept_ = false;
  };

  // Adds bytes to a reservation if the total stays at least `spared` bytes below the limit. Returns false if
  // the room is not enough even after measuring and dropping.
  bool Reserve(std::size_t bytes, Reservation& reservation, std::size_t spared = 0);
  // Counts bytes, until the next measurement, if they fit as in Reserve. Neither measures nor drops.
  bool TryAdd(std::size_t bytes, std::size_t spared);
  // Counts bytes without a check.
  void Add(std::size_t bytes) { taken_.fetch_add(Signed(bytes), std::memory_order_relaxed); }

  void Measure();

  std::size_t max_bytes() const { return max_bytes_; }
  // Returns the approximate memory in use: at least the last measurement plus all reservations since.
  std::size_t taken() const;
  // Returns the bytes that can be reserved without a measurement.
  std::size_t room() const;

  // Returns the number of failed Reserve calls.
  std::uint64_t refusals() const { return refusals_.load(std::memory_order_relaxed); }
  std::uint64_t drops() const { return drops_.load(std::memory_order_relaxed); }

 private:
  bool TryReserve(std::size_t bytes, Reservation& reservation, std::size_t spared);
  static std::int64_t Signed(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }
  // Returns true if the bytes fit once `droppable` bytes are freed.
  bool Fits(std::size_t bytes, std::size_t spared, std::size_t droppable = 0) const;
  MemoryUse MeasureLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(measuring_);

  const std::size_t max_bytes_;
  // Last measurement plus reservations since.
  std::atomic<std::int64_t> taken_ = 0;
  // Current reservations; a measurement may include some of them too.
  std::atomic<std::int64_t> reserved_ = 0;
  std::atomic<std::uint64_t> refusals_ = 0;
  std::atomic<std::uint64_t> drops_ = 0;
  // Held while the hooks run.
  Mutex measuring_;
  Hooks hooks_ ABSL_GUARDED_BY(measuring_);
};

}  // namespace waystar
