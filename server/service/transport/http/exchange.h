// Answer to one HTTP request, given by its handler.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/service/transport/http/answer_queue.h"
#include "server/service/transport/http/http_handler.h"

namespace waystar::http {

// Answers one request, either as a whole or as a stream. Calls out of order, or after the client or the
// server has gone, do nothing. May outlive the server.
//
// If destroyed without an answer, answers 500; if destroyed within a stream, aborts it.
//
// Thread safety: any method may be called from any thread. Callbacks run on a thread of the server and must
// return soon. They are destroyed once called or no longer callable, so they may hold the exchange.
class Exchange {
 public:
  explicit Exchange(std::shared_ptr<AnswerQueue> queue) : queue_(std::move(queue)) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() { queue_->Abandon(); }

  void Answer(HttpAnswer answer) { queue_->Answer(std::move(answer)); }

  // Starts a stream; the body of `head` is not sent. Any number of Write calls follow, and one Finish.
  void BeginStream(HttpAnswer head) { queue_->BeginStream(std::move(head)); }
  // Does not block; see NotifyWhenRoom.
  void Write(std::string bytes) { queue_->Write(std::move(bytes)); }
  void Finish() { queue_->Finish(); }

  // Returns the bytes not yet accepted by the operating system, including heads and chunk framing.
  std::size_t waiting_bytes() const { return queue_->waiting_bytes(); }

  // Calls back once when the stream has less than kStreamRoomBytes unsent. The callback runs after this
  // returns if this is called on the server's thread. Replaces a callback that was not called yet.
  void NotifyWhenRoom(std::function<void()> callback) { queue_->NotifyWhenRoom(std::move(callback)); }

  // Calls back once if the client is gone before the answer is sent: its connection is broken, stalled or
  // closed by the server, or the client sends nothing any more. In the last case it may still read, and the
  // answer is sent. If the client is gone already, calls back within this call.
  void NotifyWhenGone(std::function<void()> callback) { queue_->NotifyWhenGone(std::move(callback)); }
  bool is_gone() const { return queue_->is_gone(); }

 private:
  const std::shared_ptr<AnswerQueue> queue_;
};

}  // namespace waystar::http
