// The answer to a request, given by whoever serves it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/http/answer_queue.h"
#include "server/http/http_handler.h"

namespace waystar::http {

// Answers one request: either once as a whole, or by a stream. What does not fit to what was called before,
// and what comes after the client or the server has gone, does nothing. It may outlive the server.
//
// Destroyed without an answer it answers 500, and destroyed in a stream it cuts that off.
//
// Thread safety: any. Callbacks are called on a thread of the server, and must return soon; they are
// destroyed when they have been called or can be called no more, so they may hold the exchange.
class Exchange {
 public:
  explicit Exchange(std::shared_ptr<AnswerQueue> queue) : queue_(std::move(queue)) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() { queue_->Abandon(); }

  void Answer(HttpAnswer answer) { queue_->Answer(std::move(answer)); }

  // Begins a stream; the body of `head` is not sent. Any number of Write follow, and one Finish.
  void BeginStream(HttpAnswer head) { queue_->BeginStream(std::move(head)); }
  // Never waits: see NotifyWhenRoom.
  void Write(std::string bytes) { queue_->Write(std::move(bytes)); }
  void Finish() { queue_->Finish(); }

  // Returns how much waits to be taken by the system, heads and chunks included.
  std::size_t waiting_bytes() const { return queue_->waiting_bytes(); }

  // Calls back once as soon as less than kStreamRoomBytes wait in the stream, never before this returns to
  // the server's thread. It replaces a callback that has not been called.
  void NotifyWhenRoom(std::function<void()> callback) { queue_->NotifyWhenRoom(std::move(callback)); }

  // Calls back once when the client is gone before the answer has been sent: its connection is broken, does
  // not read or was ended by the server, or the client sends nothing any more. In the last case it may still
  // read: what is answered is sent. If the client is gone already it is called at once, in this call.
  void NotifyWhenGone(std::function<void()> callback) { queue_->NotifyWhenGone(std::move(callback)); }
  bool is_gone() const { return queue_->is_gone(); }

 private:
  const std::shared_ptr<AnswerQueue> queue_;
};

}  // namespace waystar::http
