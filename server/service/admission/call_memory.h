// Budget of the memory of large requests and unread answers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/runtime/metric_sink.h"
#include "server/service/auth/call_head.h"

namespace waystar::rpc {

// Counts bytes by connection and in total. A client that stops reading, or sends requests faster than it
// reads answers, is rejected before the library's buffers for it take the memory of others. Thread safety:
// any.
class CallMemory final : public runtime::MetricSource {
 public:
  // Minimum size that is counted. Smaller ones are less than the call itself takes.
  static constexpr std::size_t kCountedBytes = 4096;

  // Bytes that a connection may always hold, whatever the total: a few clients that do not read must not
  // block ordinary answers to others.
  static constexpr std::size_t kAlwaysAllowed = 64 << 10;

  CallMemory(std::size_t max_bytes, std::size_t max_connection_bytes)
      : max_bytes_(max_bytes),
        max_connection_bytes_(max_connection_bytes),
        held_(Quota<std::uint64_t>::Fixed(max_bytes, max_connection_bytes)) {}

  // Bytes held by one call, released on destruction. Thread safety: one thread at a time.
  class Share {
   public:
    // `memory` must outlive the share; the call must live as long as the share grows.
    Share(CallMemory& memory, const CallHead& head) : memory_(memory), head_(head) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { Release(); }

    // Sets the number of bytes of the share. Returns RESOURCE_EXHAUSTED / ANSWERS_UNREAD with a retry delay,
    // and changes nothing, if the connection or the total would exceed its limit. If no bytes at all are
    // held, it always succeeds, since the limits do not bound a single message.
    absl::Status Resize(std::size_t bytes) {
      const std::size_t counted = bytes < kCountedBytes ? 0 : bytes;
      return counted == bytes_ ? absl::OkStatus() : SetTo(counted);
    }
    std::size_t bytes() const { return bytes_; }
    void Release() { static_cast<void>(Resize(0)); }

   private:
    absl::Status SetTo(std::size_t bytes);

    CallMemory& memory_;
    const CallHead head_;
    // Set while bytes are held.
    std::uint64_t connection_ = 0;
    std::size_t bytes_ = 0;
  };

  // Returns the error of Resize if the call's connection has reached its limit: its client must read before
  // it sends further requests. Costs one load while all calls together hold less than the limit of one
  // connection.
  absl::Status CheckConnection(const CallHead& head) const {
    return total_.load(std::memory_order_relaxed) < max_connection_bytes_ ? absl::OkStatus()
                                                                          : LookUpConnection(head);
  }

  // Returns the bytes of all calls.
  std::size_t total() const { return total_.load(std::memory_order_relaxed); }

  void Collect(runtime::MetricSink& sink) const override;

 private:
  absl::Status LookUpConnection(const CallHead& head) const;
  absl::Status Add(std::uint64_t connection, std::size_t bytes);
  void Subtract(std::uint64_t connection, std::size_t bytes);

  const std::size_t max_bytes_;
  const std::size_t max_connection_bytes_;
  mutable std::atomic<std::uint64_t> refused_connection_ = 0;
  mutable std::atomic<std::uint64_t> refused_all_ = 0;
  mutable Mutex mutex_;
  // Copy of the total of held_, readable without the lock.
  std::atomic<std::size_t> total_ = 0;
  // Bytes by connection.
  Quota<std::uint64_t> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
