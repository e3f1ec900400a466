// Statistics of calls since the server started, by method, for their metrics.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

inline constexpr std::size_t kStatusCodes = 17;

// Totals of the calls of one method, or of their requests.
struct MethodCounts {
  // Calls begun.
  std::uint64_t begun = 0;
  // Calls in progress.
  std::int64_t open = 0;
  // Ended calls by status code; the first is OK.
  std::array<std::uint64_t, kStatusCodes> by_code{};
  // How long ended calls took.
  runtime::HistogramCounts seconds;
  // Messages of streams.
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

// Counts the calls of one method, or their requests.
//
// Thread safety: any. Concurrent reads may miss some updates.
class MethodStatistics {
 public:
  MethodStatistics();

  void CountBegin() { Add(begun_); }
  void CountEnd(absl::StatusCode code, std::chrono::nanoseconds took) {
    seconds_.Observe(std::chrono::duration<double>(took).count());
    if (code != absl::StatusCode::kOk) {
      const auto index = static_cast<std::size_t>(code);
      constexpr auto kUnknown = static_cast<std::size_t>(absl::StatusCode::kUnknown);
      Add(failed_[index < kStatusCodes ? index : kUnknown]);
    }
  }
  // Counts one message of a stream. A direction with a single message is not counted.
  void CountReceived() { Add(received_); }
  void CountSent() { Add(sent_); }

  MethodCounts Counts() const;

 private:
  using Counter = std::atomic<std::uint64_t>;

  static void Add(Counter& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

  Counter begun_ = 0;
  Counter received_ = 0;
  Counter sent_ = 0;
  runtime::Histogram seconds_;
  std::array<Counter, kStatusCodes> failed_{};
};

// Call that is counted as open from its construction to End.
//
// Thread safety: any.
class CountedCall {
 public:
  using Clock = std::chrono::steady_clock;

  // `statistics` must live until End.
  explicit CountedCall(MethodStatistics& statistics) : statistics_(statistics) { statistics_.CountBegin(); }

  Clock::time_point begin() const { return begin_; }

  void CountReceived() { statistics_.CountReceived(); }
  void CountSent() { statistics_.CountSent(); }

  // REQUIRES: called once.
  void End(absl::StatusCode code) { statistics_.CountEnd(code, Clock::now() - begin_); }

 private:
  MethodStatistics& statistics_;
  const Clock::time_point begin_ = Clock::now();
};

// Counts of all methods of the server: those of Waystar's services, whose calls count themselves, and those
// of the RPC library, health and reflection, whose calls an interceptor counts. All other methods share one
// row, so that clients cannot grow the table. Takes half a KiB per method.
//
// Thread safety: any.
class CallStatistics {
 public:
  CallStatistics();

  // Returns the counters of the method of Waystar that takes such requests. They live as long as this.
  template <typename Request>
  MethodStatistics& Of() {
    return RowOf<Request>().calls;
  }
  // Returns the counters of the requests in those calls. REQUIRES: the method streams both ways.
  template <typename Request>
  MethodStatistics& RequestsIn() {
    return *RowOf<Request>().requests;
  }
  // Counts a call that was rejected before it reached a service. `path` is as for OfLibrary.
  void CountRefused(absl::string_view path, absl::StatusCode code);
  // Returns the counters of the calls of a method that is not Waystar's, or null for Waystar's methods.
  // `path` is as in gRPC: "/grpc.health.v1.Health/Check".
  MethodStatistics* OfLibrary(absl::string_view path);

  // Statistics of a method.
  struct Row {
    explicit Row(const google::protobuf::MethodDescriptor* method);

    // Null for the row of unknown methods.
    const google::protobuf::MethodDescriptor* const descriptor;
    MethodStatistics calls;
    // Null unless the method is Waystar's and streams both ways.
    const std::unique_ptr<MethodStatistics> requests;
  };
  // Returns all methods, called or not, and the row of unknown ones.
  const std::vector<std::unique_ptr<Row>>& rows() const { return rows_; }

 private:
  template <typename Request>
  Row& RowOf() {
    static const std::size_t index = IndexOf(Request::descriptor());
    return *rows_[index];
  }
  Row& RowAt(absl::string_view path);
  // Returns an index that is the same in every object; that of the last row if no method takes such requests.
  static std::size_t IndexOf(const google::protobuf::Descriptor* request);

  // Rows of Waystar's methods, of the library's, and one for all others.
  std::vector<std::unique_ptr<Row>> rows_;
  // All rows but the last.
  absl::flat_hash_map<std::string, Row*> by_path_;
};

}  // namespace waystar::rpc
