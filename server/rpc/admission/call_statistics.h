// What there was of calls since the server started, for whoever asks the server itself.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "server/runtime/latency_buckets.h"

namespace waystar::rpc {

inline constexpr std::size_t kStatusCodes = 17;

// Totals of one method.
struct MethodCounts {
  // Calls that have not ended.
  std::int64_t open = 0;
  // Requests that were answered or refused, by the code of their status; the first is OK.
  std::array<std::uint64_t, kStatusCodes> by_code{};
  // The same by how long they took.
  std::array<std::uint64_t, runtime::kLatencyBuckets> by_latency{};

  std::uint64_t requests() const;
};

// Counts the calls of one method, and the requests in them: a call is a request, or each query and batch of
// a stream of them is one.
//
// Thread safety: any. Counts that are read meanwhile may miss some of what goes on.
class MethodStatistics {
 public:
  void OpenCall() { Add(opened_, 1); }
  void CloseCall() { Add(closed_, 1); }
  void CountRequest(absl::StatusCode code, std::chrono::nanoseconds took) {
    Add(by_latency_[runtime::LatencyBucketOf(took)], 1);
    if (code != absl::StatusCode::kOk) {
      const auto index = static_cast<std::size_t>(code);
      constexpr auto kUnknown = static_cast<std::size_t>(absl::StatusCode::kUnknown);
      Add(failed_[index < kStatusCodes ? index : kUnknown], 1);
    }
  }

  MethodCounts Counts() const;

 private:
  using Counter = std::atomic<std::uint64_t>;

  static void Add(Counter& counter, std::uint64_t n) { counter.fetch_add(n, std::memory_order_relaxed); }

  Counter opened_ = 0;
  Counter closed_ = 0;
  std::array<Counter, runtime::kLatencyBuckets> by_latency_{};
  std::array<Counter, kStatusCodes> failed_{};
};

// A call that is a request: open from here on.
//
// Thread safety: End from any thread.
class CountedCall {
 public:
  using Clock = std::chrono::steady_clock;

  // `statistics` must live until End.
  explicit CountedCall(MethodStatistics& statistics) : statistics_(statistics) { statistics_.OpenCall(); }

  Clock::time_point begin() const { return begin_; }

  // REQUIRES: called once.
  void End(absl::StatusCode code) {
    statistics_.CountRequest(code, Clock::now() - begin_);
    statistics_.CloseCall();
  }

 private:
  MethodStatistics& statistics_;
  const Clock::time_point begin_ = Clock::now();
};

// Of all methods of Waystar's services.
//
// Thread safety: any.
class CallStatistics {
 public:
  CallStatistics();

  // Of the method that takes such requests. Lives as long as this.
  template <typename Request>
  MethodStatistics& Of() {
    static const std::size_t index = IndexOf(Request::descriptor());
    return *methods_[index];
  }

  struct Method {
    const google::protobuf::MethodDescriptor* descriptor;
    MethodCounts counts;
  };
  // Those that were called, in the order of their services and of their names in them.
  std::vector<Method> Called() const;

 private:
  // The same in every object. One behind the last if no method takes such requests.
  static std::size_t IndexOf(const google::protobuf::Descriptor* request);

  // And one that is told of by nobody, for what is none of these.
  std::vector<std::unique_ptr<MethodStatistics>> methods_;
};

}  // namespace waystar::rpc
