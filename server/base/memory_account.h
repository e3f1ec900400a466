// Account of the memory that grows with what clients send, under one limit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "server/base/mutex.h"

namespace waystar {

// Bytes by kind.
struct MemoryUse {
  // Latest snapshots without what is derived from them for searches.
  std::size_t maps = 0;
  // Indexes over walkable cells.
  std::size_t indexes = 0;
  // What indexes will take that are built in the background soon, and were promised room.
  std::size_t promised = 0;
  // The maps as movement profiles and agents of more than one cell see them.
  std::size_t views = 0;
  // Replaced snapshots that are still read.
  std::size_t old_snapshots = 0;
  // Remembered request_ids.
  std::size_t requests = 0;
  // Remembered commits.
  std::size_t history = 0;

  std::size_t total() const { return maps + indexes + promised + views + old_snapshots + requests + history; }
};

// What is dropped for want of memory, each with what comes before it.
enum class MemoryDrop {
  // The views that were not asked for since the last drop.
  kUnusedViews,
  kViews,
  // Remembered commits and, as soon as their readers let go of them, old snapshots.
  kHistory,
};

// Whoever is about to take memory reserves an upper bound of it first. The account adds the bounds up. When
// they no longer fit it has the memory measured, which puts what was really taken in the place of the bounds;
// when that does not fit either it has dropped what can be made again, and measures once more. So a
// reservation costs two additions, as long as there is room.
//
// Thread safety: any method may be called from any thread.
class MemoryAccount {
 public:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  // What the owner of the memory can do. Both are called by one thread at a time, which may hold locks of its
  // own.
  struct Hooks {
    std::function<MemoryUse()> measure;
    std::function<void(MemoryDrop what)> drop;
  };

  explicit MemoryAccount(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  // Sets the hooks, or takes them away, after those that run.
  void SetHooks(Hooks hooks);

  // Room that was asked for. It goes back to the account with this; memory that was taken within it and stays
  // must be found by `measure` from then on.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept { Swap(other); }
    Reservation& operator=(Reservation&& other) noexcept {
      Swap(other);
      return *this;
    }
    ~Reservation();

    // Tells that the memory stays: what was reserved is counted until the next measurement.
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

  // Adds so many bytes to a reservation, if all together then stay `spared` bytes below the limit. Returns
  // false if there is no room even after a measurement and a drop.
  bool Reserve(std::size_t bytes, Reservation& reservation, std::size_t spared = 0);
  // Counts bytes that are taken at once, until the next measurement, if they fit as in Reserve. It neither
  // measures nor drops.
  bool TryAdd(std::size_t bytes, std::size_t spared);
  // Counts them in any case.
  void Add(std::size_t bytes) { taken_.fetch_add(Signed(bytes), std::memory_order_relaxed); }

  void Measure();

  std::size_t max_bytes() const { return max_bytes_; }
  // Returns about what is taken: at least what the last measurement found, with what was reserved since.
  std::size_t taken() const;
  // Returns how much may be reserved without a measurement.
  std::size_t room() const;

  // Returns how often Reserve has returned false.
  std::uint64_t refusals() const { return refusals_.load(std::memory_order_relaxed); }
  // Returns how often something was dropped.
  std::uint64_t drops() const { return drops_.load(std::memory_order_relaxed); }

 private:
  bool TryReserve(std::size_t bytes, Reservation& reservation, std::size_t spared);
  static std::int64_t Signed(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }
  // Returns whether so many bytes fit once `droppable` are gone.
  bool Fits(std::size_t bytes, std::size_t spared, std::size_t droppable = 0) const;
  MemoryUse MeasureLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(measuring_);

  const std::size_t max_bytes_;
  // What was measured last, and what was reserved since.
  std::atomic<std::int64_t> taken_ = 0;
  // What is reserved now, some of which a measurement may find as well.
  std::atomic<std::int64_t> reserved_ = 0;
  std::atomic<std::uint64_t> refusals_ = 0;
  std::atomic<std::uint64_t> drops_ = 0;
  // Held while the hooks run.
  Mutex measuring_;
  Hooks hooks_ ABSL_GUARDED_BY(measuring_);
};

}  // namespace waystar
