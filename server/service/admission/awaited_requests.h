// Bound on the calls whose headers are here and whose request is not.
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
#include "server/base/periodic_thread.h"
#include "server/base/quota.h"
#include "server/runtime/metric_sink.h"

namespace waystar::rpc {

// A call that has begun takes some 14 KiB of the RPC library until its request is there. So it has a place
// here meanwhile, of which a holder has a share by the rule of Quota::Shared, and a time in which its request
// must arrive. A holder that begins one more than its share loses its oldest: the request of an honest call
// arrives within moments, and so is never the oldest.
//
// The library also keeps what has arrived of a request. It does not say how much that is, but the system says
// how much a connection has received since its oldest call began to wait. Where that is more than all may
// hold together, the connection that has most loses the calls that have waited for a while.
//
// A stream may wait for its next message for as long as its client likes, and its connection may carry other
// calls meanwhile. So what has arrived of that message is what the connection has received since then, but
// for the messages that have arrived whole. Streams lose their place by the same rule once the process has
// used more than half of its memory, and then what arrives may take a quarter of what is left.
//
// Thread safety: any.
class AwaitedRequests final : public runtime::MetricSource {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    std::size_t max_requests = 8192;
    // From the headers on.
    Clock::duration patience = std::chrono::seconds(10);
    // What has arrived of all requests may take so much, and one request at the most so much.
    std::uint64_t max_bytes = std::uint64_t{128} << 20;
    std::uint64_t max_request_bytes = std::uint64_t{4} << 20;
  };

  // Returns how many bytes of memory the process has left, if it has used more than half.
  using MemoryLeft = std::function<std::optional<std::uint64_t>()>;

  // Returns how many bytes those peers, as PeerOf names them, have sent over their connections, in the same
  // order; 0 for those that are not known.
  using BytesSent = std::function<std::vector<std::uint64_t>(const std::vector<std::string>& peers)>;

  // What streams of one connection have to know.
  class Connection {
   public:
    void Count(std::uint64_t bytes) { whole_.fetch_add(bytes, std::memory_order_relaxed); }
    std::uint64_t whole() const { return whole_.load(std::memory_order_relaxed); }

   private:
    std::atomic<std::uint64_t> whole_ = 0;
  };

  // `kind` names the calls in metrics, such as "requests". It lives as long as the program.
  AwaitedRequests(absl::string_view kind, const Limits& limits)
      : kind_(kind), limits_(limits), shares_(Quota<std::uint64_t>::Shared(limits.max_requests)) {}

  // A call that waits. Thread safety: as the call that it is for, one Enter and one Leave.
  class Place {
   public:
    Place() = default;
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    friend AwaitedRequests;
    std::list<Place*>::iterator position_;
    grpc_call* call_ = nullptr;
    const std::string* peer_ = nullptr;
    // What its connection had sent when EndLarge first saw it.
    std::optional<std::uint64_t> sent_before_;
    std::uint64_t holder_ = 0;
    Clock::time_point begin_;
    bool is_waiting_ = false;
  };

  // Counts a call of that holder and that peer, whose name must live as long, until Leave. Where there is no
  // room, another call is cancelled with RESOURCE_EXHAUSTED: the oldest of the holder if it has its share,
  // else the oldest of all.
  void Enter(std::uint64_t holder, const std::string& peer, grpc_call* call, Clock::time_point now,
             Place& place);
  // Returns false if the call was cancelled here.
  bool Leave(Place& place);

  // A call that reads messages until it ends. Thread safety: as the call that it is for, one EnterStream and
  // one LeaveStream.
  class Stream {
   public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // Tells that a message of so many bytes has arrived whole. REQUIRES: EnterStream.
    void CountMessage(std::uint64_t bytes) {
      messages_.fetch_add(1, std::memory_order_relaxed);
      connection_->Count(bytes + kMessageHead);
    }

   private:
    friend AwaitedRequests;
    // What the RPC library puts in front of each message.
    static constexpr std::uint64_t kMessageHead = 5;
    std::list<Stream*>::iterator position_;
    grpc_call* call_ = nullptr;
    const std::string* peer_ = nullptr;
    std::shared_ptr<Connection> connection_;
    std::atomic<std::uint64_t> messages_ = 0;
    // As EndLarge saw it first since the last message.
    std::uint64_t seen_messages_ = 0;
    std::uint64_t sent_before_ = 0;
    std::uint64_t whole_before_ = 0;
    bool is_seen_ = false;
    bool is_inside_ = false;
  };

  // Counts a stream of that peer, whose name must live as long, until LeaveStream.
  void EnterStream(const std::string& peer, grpc_call* call, Stream& stream);
  void LeaveStream(Stream& stream);
  // Tells that a message of so many bytes has arrived whole from that peer, on a call that is no such stream.
  // It is needed while there are streams.
  bool HasStreams() const { return stream_count() > 0; }
  int stream_count() const { return stream_count_.load(std::memory_order_relaxed); }
  void CountMessage(const std::string& peer, std::uint64_t bytes);

  // Cancels the calls that have waited for too long, with DEADLINE_EXCEEDED.
  void EndLate(Clock::time_point now);

  // Cancels calls whose requests hold more than they may with RESOURCE_EXHAUSTED: of those that an earlier
  // call of this has seen all of the connection that has most, and so on. Streams count while memory is
  // short.
  void EndLarge(const BytesSent& bytes_sent, std::optional<std::uint64_t> memory_left);

  // Calls EndLate and EndLarge again and again from now on.
  void StartEnding(BytesSent bytes_sent, MemoryLeft memory_left);

  void Collect(runtime::MetricSink& sink) const override;

 private:
  // In the order of their arrival.
  using Line = std::list<Place*>;

  // Returns the call, which the caller is to cancel and let go of.
  grpc_call* Take(Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  grpc_call* Take(Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the peers of those that wait, each once.
  std::vector<std::string> Peers(bool with_streams) const ABSL_LOCKS_EXCLUDED(mutex_);
  // REQUIRES: a call waits.
  Place& Oldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const absl::string_view kind_;
  const Limits limits_;
  mutable Mutex mutex_;
  Quota<std::uint64_t> shares_ ABSL_GUARDED_BY(mutex_);
  // Of each holder that has any.
  absl::flat_hash_map<std::uint64_t, Line> lines_ ABSL_GUARDED_BY(mutex_);
  std::list<Stream*> streams_ ABSL_GUARDED_BY(mutex_);
  // Of each peer that has a stream.
  struct KnownConnection {
    std::shared_ptr<Connection> connection = std::make_shared<Connection>();
    int streams = 0;
  };
  absl::flat_hash_map<std::string, KnownConnection> connections_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> stream_count_ = 0;
  std::uint64_t crowded_out_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t late_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t large_ ABSL_GUARDED_BY(mutex_) = 0;
  PeriodicThread ending_;
};

}  // namespace waystar::rpc
