// Budget of the memory that calls hold for large requests, and for answers that their clients have not read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

// Counts bytes by connection and in all. A client that stops reading, or asks faster than it reads, is
// refused before what the library keeps for it takes the memory of others. Thread safety: any.
class CallMemory final : public runtime::MetricSource {
 public:
  // What takes fewer bytes is not counted: it is less than the call itself takes.
  static constexpr std::size_t kCountedBytes = 4096;

  // Whatever all together hold, a connection may hold this much: a few that do not read must not keep others
  // from answers of an ordinary size.
  static constexpr std::size_t kAlwaysAllowed = 64 << 10;

  CallMemory(std::size_t max_bytes, std::size_t max_connection_bytes)
      : max_bytes_(max_bytes),
        max_connection_bytes_(max_connection_bytes),
        held_(Quota<std::uint64_t>::Fixed(max_bytes, max_connection_bytes)) {}

  // Bytes that one call holds, which are given back when it is destroyed. Thread safety: one at a time.
  class Share {
   public:
    // `memory` must outlive this; `rpc` as long as the share grows.
    Share(CallMemory& memory, const grpc::CallbackServerContext& rpc) : memory_(memory), rpc_(rpc) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { Release(); }

    // Makes the share hold so many bytes. Returns RESOURCE_EXHAUSTED / ANSWERS_UNREAD with a retry delay, and
    // changes nothing, if the connection or all together would hold more than they may. One that would be
    // alone is never refused, as the limits are no limits of a message.
    absl::Status Resize(std::size_t bytes) {
      const std::size_t counted = bytes < kCountedBytes ? 0 : bytes;
      return counted == bytes_ ? absl::OkStatus() : SetTo(counted);
    }
    std::size_t bytes() const { return bytes_; }
    void Release() { static_cast<void>(Resize(0)); }

   private:
    absl::Status SetTo(std::size_t bytes);

    CallMemory& memory_;
    const grpc::CallbackServerContext& rpc_;
    // Set while it holds any.
    std::uint64_t connection_ = 0;
    std::size_t bytes_ = 0;
  };

  // Returns the error of Resize if the connection of that call holds as much as it may already: it is to read
  // before it asks for more. Costs a load while all calls together hold less than one connection may.
  absl::Status CheckConnection(const grpc::CallbackServerContext& rpc) const {
    return total_.load(std::memory_order_relaxed) < max_connection_bytes_ ? absl::OkStatus()
                                                                          : LookUpConnection(rpc);
  }

  // Returns the bytes that all calls hold.
  std::size_t total() const { return total_.load(std::memory_order_relaxed); }

  void Collect(runtime::MetricSink& sink) const override;

 private:
  absl::Status LookUpConnection(const grpc::CallbackServerContext& rpc) const;
  absl::Status Add(std::uint64_t connection, std::size_t bytes);
  void Subtract(std::uint64_t connection, std::size_t bytes);

  const std::size_t max_bytes_;
  const std::size_t max_connection_bytes_;
  mutable std::atomic<std::uint64_t> refused_connection_ = 0;
  mutable std::atomic<std::uint64_t> refused_all_ = 0;
  mutable Mutex mutex_;
  // That of held_, for who has no lock.
  std::atomic<std::size_t> total_ = 0;
  // By connection.
  Quota<std::uint64_t> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
