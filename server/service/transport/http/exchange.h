// Answer to one HTTP request, between its handler and its connection.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "server/base/mutex.h"
#include "server/service/transport/http/http_handler.h"
#include "server/service/transport/http/request_head.h"

namespace waystar::http {

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
  // Takes note that the client has gone, or at least sends nothing any more.
  void OnGone();
  // Drops everything unsent. The connection does not use the exchange afterwards.
  void Detach();
  State state() const;
  bool keep_alive() const;

 private:
  // Ends an answer that the handler will not complete.
  void Abandon();
  void Abort();
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
};

}  // namespace waystar::http
