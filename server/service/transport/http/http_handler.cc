#include "server/service/transport/http/http_handler.h"

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace waystar::http {
namespace {

// Small pieces are joined up to this size.
constexpr std::size_t kTogetherBytes = std::size_t{64} << 10;

// Returns false for text that would end the line of its field.
bool IsOneLine(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return absl::ascii_iscntrl(c); });
}

std::string Reason(int code) {
  const auto status = boost::beast::http::int_to_status(static_cast<unsigned>(code));
  const auto reason = boost::beast::http::obsolete_reason(status);
  return std::string(reason.data(), reason.size());
}

// Returns the status line and all fields, with the empty line at the end. `framing` is a line that says how
// the body ends.
std::string AnswerHead(const HttpAnswer& answer, std::string_view framing, bool is_version_1_0,
                       bool keep_alive) {
  std::string head =
      absl::StrCat("HTTP/1.1 ", answer.code, " ", Reason(answer.code), "\r\nDate: ",
                   absl::FormatTime("%a, %d %b %E4Y %H:%M:%S GMT", absl::Now(), absl::UTCTimeZone()), "\r\n");
  if (!answer.content_type.empty() && IsOneLine(answer.content_type)) {
    absl::StrAppend(&head, "Content-Type: ", answer.content_type, "\r\n");
  }
  for (const auto& [name, value] : answer.fields) {
    if (IsOneLine(name) && IsOneLine(value)) {
      absl::StrAppend(&head, name, ": ", value, "\r\n");
    }
  }
  head += framing;
  if (!keep_alive) {
    absl::StrAppend(&head, "Connection: close\r\n");
  } else if (is_version_1_0) {
    absl::StrAppend(&head, "Connection: keep-alive\r\n");
  }
  head += "\r\n";
  return head;
}

}  // namespace

Exchange::Exchange(const RequestHead& head, bool keep_alive, const std::atomic<bool>& is_draining,
                   std::atomic<std::size_t>& server_bytes, std::function<void()> wake)
    : is_head_method_(head.method == "HEAD"),
      is_version_1_0_(head.is_version_1_0),
      is_draining_(is_draining),
      server_bytes_(server_bytes),
      keep_alive_(keep_alive),
      wake_(std::move(wake)) {}

std::shared_ptr<Exchange> Exchange::ForHandler(std::shared_ptr<Exchange> exchange) {
  Exchange* const lent = exchange.get();
  return {lent, [owner = std::move(exchange)](Exchange* given_up) { given_up->Abandon(); }};
}

void Exchange::Answer(HttpAnswer answer) {
  MutexLock lock(mutex_);
  if (state_ != State::kNotBegun || is_detached_) {
    return;
  }
  keep_alive_ = keep_alive_ && !answer.closes && !is_draining_;
  const bool may_have_body = answer.code != 204 && answer.code != 304;
  const std::string framing =
      may_have_body ? absl::StrCat("Content-Length: ", answer.body.size(), "\r\n") : "";
  Push(AnswerHead(answer, framing, is_version_1_0_, keep_alive_));
  if (!is_head_method_ && may_have_body) {
    Push(std::move(answer.body));
  }
  state_ = State::kComplete;
  Wake();
}

void Exchange::BeginStream(HttpAnswer head) {
  MutexLock lock(mutex_);
  if (state_ != State::kNotBegun || is_detached_) {
    return;
  }
  keep_alive_ = keep_alive_ && !head.closes && !is_draining_ && !is_version_1_0_;
  Push(AnswerHead(head, is_version_1_0_ ? "" : "Transfer-Encoding: chunked\r\n", is_version_1_0_,
                  keep_alive_));
  heartbeat_ = std::move(head.heartbeat);
  state_ = State::kStreaming;
  Wake();
}

void Exchange::Write(std::string bytes) {
  if (bytes.empty()) {
    return;
  }
  if (!is_version_1_0_) {
    bytes = absl::StrCat(absl::Hex(bytes.size()), "\r\n", bytes, "\r\n");
  }
  MutexLock lock(mutex_);
  if (state_ == State::kStreaming && !is_detached_ && !is_head_method_) {
    Push(std::move(bytes));
    Wake();
  }
}

void Exchange::Finish() {
  MutexLock lock(mutex_);
  if (state_ != State::kStreaming || is_detached_) {
    return;
  }
  if (!is_version_1_0_ && !is_head_method_) {
    Push("0\r\n\r\n");
  }
  state_ = State::kComplete;
  Wake();
}

void Exchange::Abandon() {
  // Does nothing once an answer has begun.
  Answer({.code = 500, .content_type = "text/plain", .closes = true});
  MutexLock lock(mutex_);
  if (state_ == State::kStreaming && !is_detached_) {
    state_ = State::kAborted;
    Wake();
  }
}

void Exchange::NotifyWhenRoom(std::function<void()> callback) {
  MutexLock lock(mutex_);
  if (is_detached_) {
    return;
  }
  std::swap(when_room_, callback);
  // The replaced callback is destroyed with `callback`, after the lock is released.
  Wake();
}

void Exchange::NotifyWhenGone(std::function<void()> callback) {
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

void Exchange::NotifyWhenLate(std::chrono::steady_clock::time_point deadline,
                              std::function<void()> callback) {
  MutexLock lock(mutex_);
  if (!is_detached_) {
    std::swap(when_late_, callback);
    deadline_ = deadline;
  }
}

bool Exchange::is_gone() const {
  MutexLock lock(mutex_);
  return is_gone_;
}

void Exchange::OnWoken() {
  MutexLock lock(mutex_);
  is_wake_under_way_ = false;
}

std::string Exchange::Take() {
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

void Exchange::OnSent(std::size_t bytes) {
  Uncount(bytes);
  AskSource();
}

void Exchange::AskSource() {
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

bool Exchange::has_heartbeat() const {
  MutexLock lock(mutex_);
  return state_ == State::kStreaming && !heartbeat_.empty();
}

void Exchange::SendHeartbeat() {
  std::string heartbeat;
  {
    MutexLock lock(mutex_);
    heartbeat = heartbeat_;
  }
  Write(std::move(heartbeat));
}

std::chrono::steady_clock::time_point Exchange::deadline() const {
  MutexLock lock(mutex_);
  return state_ == State::kNotBegun ? deadline_ : std::chrono::steady_clock::time_point::max();
}

void Exchange::OnLate() {
  std::function<void()> tell;
  {
    MutexLock lock(mutex_);
    if (state_ == State::kNotBegun) {
      std::swap(tell, when_late_);
      deadline_ = std::chrono::steady_clock::time_point::max();
    }
  }
  if (tell) {
    tell();
  }
}

void Exchange::OnGone() {
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

void Exchange::Detach() {
  std::deque<std::string> pieces;
  std::function<void()> wake;
  std::function<void()> when_room;
  std::function<void()> when_gone;
  std::function<void()> when_late;
  MutexLock lock(mutex_);
  is_detached_ = true;
  std::swap(pieces, pieces_);
  std::swap(wake, wake_);
  std::swap(when_room, when_room_);
  std::swap(when_gone, when_gone_);
  std::swap(when_late, when_late_);
  Uncount(waiting_bytes());
}

Exchange::State Exchange::state() const {
  MutexLock lock(mutex_);
  return state_;
}

bool Exchange::keep_alive() const {
  MutexLock lock(mutex_);
  return keep_alive_;
}

void Exchange::Push(std::string bytes) {
  waiting_ += bytes.size();
  server_bytes_ += bytes.size();
  if (!bytes.empty()) {
    pieces_.push_back(std::move(bytes));
  }
}

void Exchange::Wake() {
  if (wake_ && !std::exchange(is_wake_under_way_, true)) {
    wake_();
  }
}

void Exchange::Uncount(std::size_t bytes) {
  waiting_ -= bytes;
  server_bytes_ -= bytes;
}

HttpAnswer HttpHandler::Refuse(int code, const RequestHead* /*head*/) {
  return {.code = code, .content_type = "text/plain", .body = absl::StrCat(code, " ", Reason(code), "\n")};
}

std::optional<HttpAnswer> ProbeAnswer(const RequestHead& head, const std::function<bool()>& is_ready) {
  if (head.path != "/healthz" && head.path != "/readyz") {
    return std::nullopt;
  }
  HttpAnswer answer{.content_type = "text/plain", .body = "ok\n", .fields = {{"Cache-Control", "no-store"}}};
  if (head.path == "/readyz" && !is_ready()) {
    answer.code = 503;
    answer.body = "not serving\n";
  }
  return answer;
}

}  // namespace waystar::http
