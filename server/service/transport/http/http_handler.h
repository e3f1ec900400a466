// The handler of an HTTP server, how it answers, and the limits that its owner sets.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "server/base/mutex.h"
#include "server/service/transport/http/request.h"
#include "server/service/transport/net/connection_table.h"

namespace waystar::http {

struct HttpClient {
  net::Network network;
  // Such as "192.0.2.1" or "2001:db8::1"; empty for a unix socket.
  std::string address;
};

struct HttpAnswer {
  int code = 200;
  // Empty for none.
  std::string content_type;
  std::string body;
  // Header fields, except those of the connection and of the body's length, which the server adds. A field
  // with control characters is dropped: it could be read as several fields.
  std::vector<std::pair<std::string, std::string>> fields;
  // Closes the connection after the answer.
  bool closes = false;
  // For a stream: bytes sent after HttpLimits::heartbeat_time of silence, so that proxies keep it open and
  // dead clients are detected; empty for none.
  std::string heartbeat;
};

// Accepts the head of a request, so that its body is read.
struct HttpAcceptance {
  // A longer body is rejected with 413.
  std::size_t max_body_bytes = 0;
  // True if the client is authenticated. Its connection is evicted last.
  bool is_trusted = false;
  // Hash that identifies the client for fair queueing.
  std::uint64_t identity = 0;
};

struct HttpRequest {
  HttpClient client;
  // From HttpAcceptance.
  std::uint64_t identity = 0;
  RequestHead head;
  std::string body;
  // Counts the body's memory; give it back when the body is released.
  BodyShare body_share;
};

// The source of a stream is asked for more while less than this is unsent.
inline constexpr std::size_t kStreamRoomBytes = std::size_t{256} << 10;

// Holds the unsent bytes of an answer, which the handler gives as a whole or as a stream. Its calls out of
// order, or after the client or the server has gone, do nothing. May outlive the server.
//
// Thread safety: any method may be called from any thread. Callbacks run on a thread of the server and must
// return soon. They are called and destroyed without the lock, once called or no longer callable, so they may
// hold the exchange; only `wake` is called under the lock.
class Exchange {
 public:
  // Progress of the answer.
  enum class State : std::uint8_t { kNotBegun, kStreaming, kComplete, kAborted };

  // `wake` makes the connection look at the exchange, from any thread, and is not called after Detach.
  // Answers that begin while `is_draining` close the connection. `server_bytes` counts the unsent bytes of
  // all answers. Both must live until Detach. `head` is not kept.
  Exchange(const RequestHead& head, bool keep_alive, const std::atomic<bool>& is_draining,
           std::atomic<std::size_t>& server_bytes, std::function<void()> wake);

  // Returns the exchange for a handler. When the handler releases it without an answer, it answers 500;
  // within a stream, it aborts the stream.
  static std::shared_ptr<Exchange> ForHandler(std::shared_ptr<Exchange> exchange);

  // The handler calls these. Answer gives the whole answer at once.
  void Answer(HttpAnswer answer);
  // Starts a stream; the body of `head` is not sent. Any number of Write calls follow, and one Finish.
  void BeginStream(HttpAnswer head);
  // Appends to the body without blocking; see NotifyWhenRoom.
  void Write(std::string bytes);
  void Finish();
  // Calls back once when the stream has less than kStreamRoomBytes unsent. The callback runs after this
  // returns if this is called on the server's thread. Replaces a callback that was not called yet.
  void NotifyWhenRoom(std::function<void()> callback);
  // Calls back once if the client is gone before the answer is sent: its connection is broken, stalled or
  // closed by the server, or the client sends nothing any more. In the last case it may still read, and the
  // answer is sent. If the client is gone already, calls back within this call.
  void NotifyWhenGone(std::function<void()> callback);
  // Calls back if the answer has not begun at that time. Call it within HttpHandler::Serve, once. The
  // callback is kept until it is called or the answer is sent.
  void NotifyWhenLate(std::chrono::steady_clock::time_point deadline, std::function<void()> callback);
  // Returns the bytes not yet accepted by the operating system, including heads and chunk framing.
  std::size_t waiting_bytes() const { return waiting_.load(std::memory_order_relaxed); }
  bool is_gone() const;

  // The connection calls these, on its strand. OnWoken acknowledges a call of `wake`: the next change calls
  // it again.
  void OnWoken();
  // Returns the next bytes to send; empty if there are none yet.
  std::string Take();
  // Counts that many of the taken bytes as sent, and calls AskSource.
  void OnSent(std::size_t bytes);
  // Asks the source of a stream for more if there is room.
  void AskSource();
  // Returns true for a stream with a heartbeat.
  bool has_heartbeat() const;
  void SendHeartbeat();
  // Returns the time of NotifyWhenLate; the clock's max if the answer has begun.
  std::chrono::steady_clock::time_point deadline() const;
  // Takes note that it is past the deadline.
  void OnLate();
  // Takes note that the client has gone, or at least sends nothing any more.
  void OnGone();
  // Drops everything unsent. The connection does not use the exchange afterwards.
  void Detach();
  State state() const;
  bool keep_alive() const;

 private:
  // Ends an answer that the handler will not complete.
  void Abandon();
  void Push(std::string bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Subtracts from both counters.
  void Uncount(std::size_t bytes);

  const bool is_head_method_;
  const bool is_version_1_0_;
  const std::atomic<bool>& is_draining_;
  std::atomic<std::size_t>& server_bytes_;
  std::atomic<std::size_t> waiting_ = 0;

  mutable Mutex mutex_;
  std::deque<std::string> pieces_ ABSL_GUARDED_BY(mutex_);
  State state_ ABSL_GUARDED_BY(mutex_) = State::kNotBegun;
  bool keep_alive_ ABSL_GUARDED_BY(mutex_);
  std::string heartbeat_ ABSL_GUARDED_BY(mutex_);
  bool is_gone_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_wake_under_way_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_detached_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> wake_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> when_room_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> when_gone_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> when_late_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point deadline_ ABSL_GUARDED_BY(mutex_) =
      std::chrono::steady_clock::time_point::max();
};

// Admits clients and answers their requests. Called on the server's thread. All methods must return soon,
// since other connections wait meanwhile.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // Called when a client connects. If false, the connection is reset.
  virtual bool Admits(const HttpClient& /*client*/) { return true; }

  // Called when the head of a request has arrived, before "100 Continue" and before the body is read. Returns
  // an HttpAnswer to reject the request; if it has a body, the connection is closed.
  virtual std::variant<HttpAcceptance, HttpAnswer> Judge(const HttpClient& client,
                                                         const RequestHead& head) = 0;

  // Called with a complete accepted request. Answers it by the exchange, now or later, from any thread. An
  // exchange destroyed without an answer answers 500.
  virtual void Serve(HttpRequest request, std::shared_ptr<Exchange> exchange) = 0;

  // Returns the answer to a request that the server rejects itself. `head` is null if it is malformed or
  // incomplete. The connection is closed after the answer.
  virtual HttpAnswer Refuse(int code, const RequestHead* head);
};

// Answers probes, which need no token: /healthz with 200, and /readyz with 200 if `is_ready`, or else with
// 503. Returns nothing for other paths.
std::optional<HttpAnswer> ProbeAnswer(const RequestHead& head, const std::function<bool()>& is_ready);

// Time and resource limits on the clients of an HTTP server.
struct HttpLimits {
  std::size_t max_connections = 1024;
  // Limit per network (net::Network).
  std::size_t max_network_connections = 256;
  // Memory of request bodies, until their handlers give it back.
  std::size_t max_body_bytes = std::size_t{256} << 20;
  std::size_t max_network_body_bytes = std::size_t{64} << 20;

  // Time to receive a head, from its first byte or from the start of the connection, handshake included.
  std::chrono::milliseconds head_time = std::chrono::seconds(5);
  // Time to receive a whole body.
  std::chrono::milliseconds body_time = std::chrono::seconds(10);
  // Time between two requests.
  std::chrono::milliseconds idle_time = std::chrono::seconds(10);
  // Time in which the bytes unsent at its start, at most kStreamRoomBytes of them, must be sent.
  std::chrono::milliseconds stall_time = std::chrono::seconds(10);
  // Silence in a stream before a heartbeat is sent.
  std::chrono::milliseconds heartbeat_time = std::chrono::seconds(5);
  // How long, and how many bytes, a connection reads after its last answer, so that a client that is still
  // sending sees the answer.
  std::chrono::milliseconds linger_time = std::chrono::seconds(2);
  std::size_t linger_bytes = std::size_t{8} << 20;
  // Socket send buffer per connection. The kernel allocates twice as much.
  int send_buffer_bytes = 128 << 10;
};

}  // namespace waystar::http
