// Limit on the memory that large requests and unread answers take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"

namespace waystar::rpc {

// Counts the bytes of requests from before they are parsed until their call ends, and of answers until the
// client has read them. Smaller messages than kSmallMessageBytes are not counted: limits on calls bound them.
//
// Thread safety: any.
class MessageMemory {
 public:
  static constexpr std::size_t kSmallMessageBytes = std::size_t{16} << 10;

  // One client, known by its hash in runtime::Flow, may have a quarter of `max_bytes`.
  explicit MessageMemory(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // A share of the memory, given back with the last of its owners.
  class Share {
   public:
    Share() = default;
    Share(MessageMemory& memory, std::uint64_t client, std::size_t bytes)
        : memory_(&memory), client_(client), bytes_(bytes) {}
    Share(Share&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), client_(other.client_), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(memory_, other.memory_);
      std::swap(client_, other.client_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (memory_ != nullptr) {
        memory_->GiveBack(client_, bytes_);
      }
    }

   private:
    MessageMemory* memory_ = nullptr;
    std::uint64_t client_ = 0;
    std::size_t bytes_ = 0;
  };

  // Takes a share for a message of that client. Returns RESOURCE_EXHAUSTED / MESSAGES_BUSY with a retry delay
  // if the client or all clients together would have more than they may.
  absl::StatusOr<Share> Take(std::uint64_t client, std::size_t bytes) {
    return bytes < kSmallMessageBytes ? Share() : TakeLarge(client, bytes);
  }

  struct Counts {
    std::size_t bytes = 0;
    std::uint64_t refused = 0;
  };
  Counts counts() const;

 private:
  absl::StatusOr<Share> TakeLarge(std::uint64_t client, std::size_t bytes);
  void GiveBack(std::uint64_t client, std::size_t bytes);

  const std::size_t max_bytes_;
  mutable Mutex mutex_;
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::uint64_t, std::size_t> clients_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
