// Checks that end long work whose caller no longer waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "absl/status/status.h"

namespace waystar {

// Tells long work whether to stop. Work asks once per row of cells, per 64 KiB or so, never per cell: a check
// takes some tens of nanoseconds. Work that stops returns the error, or leaves a partial result that its
// caller drops because the check still fails.
//
// Thread safety: any thread may call Check, unless a derived class says otherwise.
class StopCheck {
 public:
  virtual ~StopCheck() = default;

  // Returns OK while the work is wanted, else why it is not: DEADLINE_EXCEEDED or CANCELLED. Once it has
  // returned an error, it returns one for good.
  virtual absl::Status Check() const = 0;
};

// A null check never stops the work.
inline absl::Status CheckStop(const StopCheck* stop) {
  return stop == nullptr ? absl::OkStatus() : stop->Check();
}
// Asks once in 256 times, for work that is counted in small steps.
inline absl::Status CheckStopAt(const StopCheck* stop, std::size_t step) {
  return step % 256 == 0 ? CheckStop(stop) : absl::OkStatus();
}
inline bool IsStopped(const StopCheck* stop) { return stop != nullptr && !stop->Check().ok(); }

// Stops work when its caller's deadline has passed or the caller has cancelled it.
class CallerStop final : public StopCheck {
 public:
  // Never stops the work.
  CallerStop() = default;
  // `cancelled` may be null; else it must outlive this, and once set it stays set.
  CallerStop(std::chrono::steady_clock::time_point deadline, const std::atomic<bool>* cancelled)
      : deadline_(deadline), cancelled_(cancelled) {}

  absl::Status Check() const override;

 private:
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool>* cancelled_ = nullptr;
};

}  // namespace waystar
