#include "server/service/transport/http/answer_queue.h"

#include <utility>

#include "server/service/transport/http/answer_head.h"

namespace waystar::http {
namespace {

// Small pieces are joined up to this size.
constexpr std::size_t kTogetherBytes = std::size_t{64} << 10;

}  // namespace

AnswerQueue::AnswerQueue(const RequestHead& head, bool keep_alive, const std::atomic<bool>& is_draining,
                         std::atomic<std::size_t>& server_bytes, std::function<void()> wake)
    : is_head_method_(head.method == "HEAD"),
      is_version_1_0_(head.is_version_1_0),
      is_draining_(is_draining),
      server_bytes_(server_bytes),
      keep_alive_(keep_alive),
      wake_(std::move(wake)) {}

void AnswerQueue::Answer(HttpAnswer answer) {
  MutexLock lock(mutex_);
  if (state_ != State::kNotBegun || is_detached_) {
    return;
  }
  keep_alive_ = keep_alive_ && !answer.closes && !is_draining_;
  Push(AnswerHead(answer, AnswerFraming::kLength, is_version_1_0_, keep_alive_));
  if (!is_head_method_ && answer.code != 204 && answer.code != 304) {
    Push(std::move(answer.body));
  }
  state_ = State::kComplete;
  Wake();
}

void AnswerQueue::BeginStream(HttpAnswer head) {
  MutexLock lock(mutex_);
  if (state_ != State::kNotBegun || is_detached_) {
    return;
  }
  keep_alive_ = keep_alive_ && !head.closes && !is_draining_ && !is_version_1_0_;
  Push(AnswerHead(head, is_version_1_0_ ? AnswerFraming::kClose : AnswerFraming::kChunks, is_version_1_0_,
                  keep_alive_));
  heartbeat_ = std::move(head.heartbeat);
  state_ = State::kStreaming;
  Wake();
}

void AnswerQueue::Write(std::string bytes) {
  if (bytes.empty()) {
    return;
  }
  if (!is_version_1_0_) {
    bytes = Chunk(bytes);
  }
  MutexLock lock(mutex_);
  if (state_ == State::kStreaming && !is_detached_ && !is_head_method_) {
    Push(std::move(bytes));
    Wake();
  }
}

void AnswerQueue::Finish() {
  MutexLock lock(mutex_);
  if (state_ != State::kStreaming || is_detached_) {
    return;
  }
  if (!is_version_1_0_ && !is_head_method_) {
    Push(std::string(kLastChunk));
  }
  state_ = State::kComplete;
  Wake();
}

void AnswerQueue::Abort() {
  MutexLock lock(mutex_);
  if (state_ != State::kComplete && !is_detached_) {
    state_ = State::kAborted;
    Wake();
  }
}

void AnswerQueue::Abandon() {
  if (state() == State::kNotBegun) {
    Answer({.code = 500, .content_type = "text/plain", .closes = true});
  } else {
    Abort();
  }
}

void AnswerQueue::NotifyWhenRoom(std::function<void()> callback) {
  MutexLock lock(mutex_);
  if (is_detached_) {
    return;
  }
  std::swap(when_room_, callback);
  // The replaced callback is destroyed with `callback`, after the lock is released.
  Wake();
}

void AnswerQueue::NotifyWhenGone(std::function<void()> callback) {
  {
    MutexLock lock(mutex_);
    if (!is_gone_) {
      if (!is_detached_) {
        std::swap(when_gone_, callback);
      }
      return;
    }
  }
  callback();
}

bool AnswerQueue::is_gone() const {
  MutexLock lock(mutex_);
  return is_gone_;
}

void AnswerQueue::OnWoken() {
  MutexLock lock(mutex_);
  is_wake_under_way_ = false;
}

std::string AnswerQueue::Take() {
  MutexLock lock(mutex_);
  if (pieces_.empty()) {
    return "";
  }
  std::string taken = std::move(pieces_.front());
  pieces_.pop_front();
  while (!pieces_.empty() && taken.size() + pieces_.front().size() <= kTogetherBytes) {
    taken += pieces_.front();
    pieces_.pop_front();
  }
  return taken;
}

void AnswerQueue::OnSent(std::size_t bytes) {
  Uncount(bytes);
  AskSource();
}

void AnswerQueue::AskSource() {
  std::function<void()> ask;
  {
    MutexLock lock(mutex_);
    if (state_ == State::kStreaming && !is_detached_ && waiting_bytes() < kStreamRoomBytes) {
      ask = std::exchange(when_room_, nullptr);
    }
  }
  if (ask) {
    ask();
  }
}

bool AnswerQueue::has_heartbeat() const {
  MutexLock lock(mutex_);
  return state_ == State::kStreaming && !heartbeat_.empty();
}

void AnswerQueue::SendHeartbeat() {
  std::string heartbeat;
  {
    MutexLock lock(mutex_);
    heartbeat = heartbeat_;
  }
  Write(std::move(heartbeat));
}

void AnswerQueue::OnGone() {
  std::function<void()> tell;
  {
    MutexLock lock(mutex_);
    is_gone_ = true;
    tell = std::exchange(when_gone_, nullptr);
  }
  if (tell) {
    tell();
  }
}

void AnswerQueue::Detach() {
  std::deque<std::string> pieces;
  std::function<void()> wake;
  std::function<void()> when_room;
  std::function<void()> when_gone;
  MutexLock lock(mutex_);
  is_detached_ = true;
  std::swap(pieces, pieces_);
  std::swap(wake, wake_);
  std::swap(when_room, when_room_);
  std::swap(when_gone, when_gone_);
  Uncount(waiting_bytes());
}

AnswerQueue::State AnswerQueue::state() const {
  MutexLock lock(mutex_);
  return state_;
}

bool AnswerQueue::keep_alive() const {
  MutexLock lock(mutex_);
  return keep_alive_;
}

void AnswerQueue::Push(std::string bytes) {
  waiting_ += bytes.size();
  server_bytes_ += bytes.size();
  if (!bytes.empty()) {
    pieces_.push_back(std::move(bytes));
  }
}

void AnswerQueue::Wake() {
  if (wake_ && !std::exchange(is_wake_under_way_, true)) {
    wake_();
  }
}

void AnswerQueue::Uncount(std::size_t bytes) {
  waiting_ -= bytes;
  server_bytes_ -= bytes;
}

}  // namespace waystar::http
