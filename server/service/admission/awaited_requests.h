// Bound on calls whose headers have arrived but whose request has not.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "grpc/grpc.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/base/thread.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

// A call that has begun takes about 14 KiB in the RPC library until its request arrives. Until then it has a
// place here, and a time limit. Holders share the places by the rule of Quota::Shared. A holder that exceeds
// its share loses its oldest call: the requests of honest calls arrive within moments.
//
// The library also buffers the received part of a request, of unknown size. The OS reports how much a
// connection has received since its oldest waiting call began. If the total exceeds the limit, the connection
// with the most bytes loses the calls that have waited for a while.
//
// A stream may wait for its next message indefinitely, and its connection may carry other calls meanwhile. So
// the messages that have arrived completely are subtracted from the bytes received. Streams lose their place
// by the same rule once the process has used more than half of its memory; partial messages may then take a
// quarter of the rest.
//
// Thread safety: any.
class AwaitedRequests final : public runtime::MetricSource {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    std::size_t max_requests = 8192;
    // Time from the headers to the request.
    Clock::duration patience = std::chrono::seconds(10);
    // Limits on the received parts of all requests together, and of one request.
    std::uint64_t max_bytes = std::uint64_t{128} << 20;
    std::uint64_t max_request_bytes = std::uint64_t{4} << 20;
  };

  // Returns how many bytes of memory the process may still use, once it has used half of them.
  using MemoryLeft = std::function<std::optional<std::uint64_t>()>;

  // Returns how many bytes those peers, named as by CallHead::Peer, have sent over their connections, in the
  // same order; 0 for unknown peers.
  using BytesSent = std::function<std::vector<std::uint64_t>(const std::vector<std::string>& peers)>;

  // Shared state of the streams of one connection.
  struct Connection {
    // Bytes that have arrived as whole messages.
    std::atomic<std::uint64_t> whole = 0;
    // Streams that have entered. Guarded by the lock of AwaitedRequests.
    int streams = 0;
  };

  // `kind` names the calls in metrics, such as "requests". It must live as long as the program.
  AwaitedRequests(absl::string_view kind, const Limits& limits)
      : kind_(kind), limits_(limits), shares_(Quota<std::uint64_t>::Shared(limits.max_requests)) {}

  // A waiting call, or a stream. Thread safety: that of the call, with one Enter or EnterStream and one
  // Leave.
  class Place {
   public:
    Place() = default;
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Counts a completely received message of a stream. REQUIRES: EnterStream.
    void CountMessage(std::uint64_t bytes) {
      messages_.fetch_add(1, std::memory_order_relaxed);
      connection_->whole.fetch_add(bytes + kMessageHead, std::memory_order_relaxed);
    }

   private:
    friend AwaitedRequests;
    // Bytes that the RPC library prepends to each message.
    static constexpr std::uint64_t kMessageHead = 5;
    std::list<Place*>::iterator position_;
    grpc_call* call_ = nullptr;
    const std::string* peer_ = nullptr;
    bool is_inside_ = false;
    // Only a call that is not a stream has these two.
    std::uint64_t holder_ = 0;
    Clock::time_point begin_;
    // Only a stream has these two.
    std::shared_ptr<Connection> connection_;
    std::atomic<std::uint64_t> messages_ = 0;
    // Values when EndLarge first saw the call since its last message; bytes sent are those of its connection.
    std::optional<std::uint64_t> sent_before_;
    std::uint64_t seen_messages_ = 0;
    std::uint64_t whole_before_ = 0;
  };

  // Counts a call of that holder and that peer until Leave; `peer` must live until then. If there is no room,
  // another call is cancelled with RESOURCE_EXHAUSTED: the oldest of the holder if it has any here, else the
  // oldest of all.
  void Enter(std::uint64_t holder, const std::string& peer, grpc_call* call, Clock::time_point now,
             Place& place);
  // Counts a stream of that peer until Leave; `peer` must live until then.
  void EnterStream(const std::string& peer, grpc_call* call, Place& place);
  // Ends the wait of a call, or does nothing if it has not entered. Returns false if AwaitedRequests has
  // cancelled it.
  bool Leave(Place& place);

  // Counts a completely received message from that peer on a call that is not a stream. Needed only while
  // there are streams.
  bool HasStreams() const { return stream_count() > 0; }
  int stream_count() const { return stream_count_.load(std::memory_order_relaxed); }
  void CountMessage(const std::string& peer, std::uint64_t bytes);

  // Cancels the calls that have waited too long, with DEADLINE_EXCEEDED.
  void EndLate(Clock::time_point now);

  // If arriving requests hold more than the limit, cancels calls with RESOURCE_EXHAUSTED: all of the
  // connection with the most bytes, then of the next, until the rest is within the limit. Only calls that an
  // earlier EndLarge has seen are counted and cancelled; streams only while memory is short.
  void EndLarge(const BytesSent& bytes_sent, std::optional<std::uint64_t> memory_left);

  // Starts to call EndLate and EndLarge periodically.
  void StartEnding(BytesSent bytes_sent, MemoryLeft memory_left);

  void Collect(runtime::MetricSink& sink) const override;

 private:
  // Calls in order of arrival.
  using Line = std::list<Place*>;

  // Removes the place and returns its call, which the caller must cancel and unref.
  grpc_call* Take(Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // REQUIRES: a call is waiting.
  Place& Oldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const absl::string_view kind_;
  const Limits limits_;
  mutable Mutex mutex_;
  Quota<std::uint64_t> shares_ ABSL_GUARDED_BY(mutex_);
  // Waiting calls by holder.
  absl::flat_hash_map<std::uint64_t, Line> lines_ ABSL_GUARDED_BY(mutex_);
  Line streams_ ABSL_GUARDED_BY(mutex_);
  // Connections with streams, by peer.
  absl::flat_hash_map<std::string, std::shared_ptr<Connection>> connections_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> stream_count_ = 0;
  std::uint64_t crowded_out_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t late_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t large_ ABSL_GUARDED_BY(mutex_) = 0;
  PeriodicThread ending_;
};

}  // namespace waystar::rpc
