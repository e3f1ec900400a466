// Checks that end long work whose caller no longer waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "absl/status/status.h"

namespace waystar {

// Stop condition that long work polls. A check takes tens of nanoseconds: poll it once per row of cells or
// per 64 KiB, never per cell. Work that stops returns the error, or a partial result that its caller drops
// because the check still fails.
//
// Thread safety: any thread may call Check, unless a derived class says otherwise.
class StopCheck {
 public:
  virtual ~StopCheck() = default;

  // Returns OK while the work is wanted, else DEADLINE_EXCEEDED or CANCELLED. After the first error, every
  // call returns an error.
  virtual absl::Status Check() const = 0;
};

// Returns OK if `stop` is null.
inline absl::Status CheckStop(const StopCheck* stop) {
  return stop == nullptr ? absl::OkStatus() : stop->Check();
}
// Polls `stop` every 256 steps, for work that is counted in small steps.
inline absl::Status CheckStopAt(const StopCheck* stop, std::size_t step) {
  return step % 256 == 0 ? CheckStop(stop) : absl::OkStatus();
}
inline bool IsStopped(const StopCheck* stop) { return stop != nullptr && !stop->Check().ok(); }

// Stops work after its caller's deadline, or when the caller has cancelled it.
class CallerStop final : public StopCheck {
 public:
  // Makes a check that never stops the work.
  CallerStop() = default;
  // `cancelled` may be null; otherwise it must outlive this, and never be reset.
  CallerStop(std::chrono::steady_clock::time_point deadline, const std::atomic<bool>* cancelled)
      : deadline_(deadline), cancelled_(cancelled) {}

  absl::Status Check() const override;

 private:
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool>* cancelled_ = nullptr;
};

}  // namespace waystar
