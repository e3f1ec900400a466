#include "server/base/memory_account.h"

#include <algorithm>

namespace waystar {

MemoryAccount::Reservation::~Reservation() {
  if (account_ == nullptr) {
    return;
  }
  account_->reserved_.fetch_sub(Signed(bytes_), std::memory_order_relaxed);
  if (!is_kept_) {
    account_->taken_.fetch_sub(Signed(bytes_), std::memory_order_relaxed);
  }
}

void MemoryAccount::SetHooks(Hooks hooks) {
  MutexLock lock(measuring_);
  hooks_ = std::move(hooks);
}

std::size_t MemoryAccount::taken() const {
  return static_cast<std::size_t>(std::max<std::int64_t>(taken_.load(std::memory_order_relaxed), 0));
}

std::size_t MemoryAccount::room() const { return max_bytes_ - std::min(max_bytes_, taken()); }

bool MemoryAccount::Fits(std::size_t bytes, std::size_t spared, std::size_t droppable) const {
  return taken_.load(std::memory_order_relaxed) + Signed(bytes) + Signed(spared) - Signed(droppable) <=
         Signed(max_bytes_);
}

bool MemoryAccount::TryReserve(std::size_t bytes, Reservation& reservation, std::size_t spared) {
  if (max_bytes_ == kNoLimit) {
    return true;
  }
  if (!Fits(bytes, spared)) {
    return false;
  }
  reserved_.fetch_add(Signed(bytes), std::memory_order_relaxed);
  taken_.fetch_add(Signed(bytes), std::memory_order_relaxed);
  reservation.account_ = this;
  reservation.bytes_ += bytes;
  return true;
}

bool MemoryAccount::TryAdd(std::size_t bytes, std::size_t spared) {
  const bool fits = max_bytes_ == kNoLimit || Fits(bytes, spared);
  if (fits) {
    Add(bytes);
  }
  return fits;
}

bool MemoryAccount::Reserve(std::size_t bytes, Reservation& reservation, std::size_t spared) {
  if (TryReserve(bytes, reservation, spared)) {
    return true;
  }
  // Serialized from here on, so that room made for one caller is not taken by another.
  MutexLock lock(measuring_);
  MemoryUse use = MeasureLocked();
  for (const MemoryDrop what : {MemoryDrop::kUnusedViews, MemoryDrop::kViews, MemoryDrop::kHistory}) {
    if (TryReserve(bytes, reservation, spared)) {
      return true;
    }
    const std::size_t droppable =
        use.views + (what == MemoryDrop::kHistory ? use.history + use.old_snapshots : 0);
    if (!hooks_.drop || !Fits(bytes, spared, droppable)) {
      continue;
    }
    hooks_.drop(what);
    drops_.fetch_add(1, std::memory_order_relaxed);
    use = MeasureLocked();
  }
  if (TryReserve(bytes, reservation, spared)) {
    return true;
  }
  refusals_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void MemoryAccount::Measure() {
  MutexLock lock(measuring_);
  MeasureLocked();
}

MemoryUse MemoryAccount::MeasureLocked() {
  if (!hooks_.measure) {
    return {};
  }
  // Reservations made meanwhile stay counted, possibly twice until the next measurement.
  const std::int64_t before = taken_.load(std::memory_order_relaxed);
  const std::int64_t reserved = reserved_.load(std::memory_order_relaxed);
  const MemoryUse use = hooks_.measure();
  taken_.fetch_add(Signed(use.total()) + reserved - before, std::memory_order_relaxed);
  return use;
}

}  // namespace waystar
