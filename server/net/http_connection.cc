#include "server/net/http_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace waystar::net {
namespace {

constexpr std::size_t kMaxHeadBytes = 8192;
constexpr std::chrono::seconds kHeadTime(5);
constexpr std::chrono::seconds kAnswerTime(10);
constexpr std::chrono::seconds kEndTime(1);

bool MustWait() { return errno == EAGAIN || errno == EINTR; }

std::string AnswerTo(absl::string_view head, const HttpConnection::Responder& respond) {
  const std::vector<absl::string_view> words = absl::StrSplit(head.substr(0, head.find('\r')), ' ');
  if (words.size() != 3 || words[2].substr(0, 5) != "HTTP/") {
    return HttpAnswer("400 Bad Request", "text/plain", "This is no HTTP request.\n");
  }
  return respond(words[0], words[1].substr(0, words[1].find('?')));
}

}  // namespace

HttpConnection::HttpConnection(Descriptor socket, TimePoint now)
    : socket_(std::move(socket)), network_(Network::OfPeer(socket_.fd())), deadline_(now + kHeadTime) {}

short HttpConnection::events() const { return step_ == Step::kAnswer ? POLLOUT : POLLIN; }

bool HttpConnection::Continue(TimePoint now, const Responder& respond) {
  switch (step_) {
    case Step::kHead:
      return ReadHead(now, respond);
    case Step::kAnswer:
      return WriteAnswer(now);
    case Step::kEnd:
      return AwaitEnd();
  }
  return false;
}

bool HttpConnection::ReadHead(TimePoint now, const Responder& respond) {
  std::array<char, kMaxHeadBytes> buffer;
  const ssize_t read = ::recv(fd(), buffer.data(), buffer.size() - head_.size(), 0);
  if (read <= 0) {
    return read < 0 && MustWait();
  }
  head_.append(buffer.data(), static_cast<std::size_t>(read));
  if (head_.find("\r\n\r\n") != std::string::npos) {
    answer_ = AnswerTo(head_, respond);
  } else if (head_.size() == kMaxHeadBytes) {
    answer_ = HttpAnswer("431 Request Header Fields Too Large", "text/plain", "This request is too long.\n");
  } else {
    return true;
  }
  step_ = Step::kAnswer;
  deadline_ = now + kAnswerTime;
  return WriteAnswer(now);
}

bool HttpConnection::WriteAnswer(TimePoint now) {
  const ssize_t sent = ::send(fd(), answer_.data() + written_, answer_.size() - written_, MSG_NOSIGNAL);
  if (sent < 0) {
    return MustWait();
  }
  written_ += static_cast<std::size_t>(sent);
  if (written_ < answer_.size()) {
    return true;
  }
  // Closing with bytes that were not read would reset the connection, and might take the answer with it.
  ::shutdown(fd(), SHUT_WR);
  answer_ = std::string();
  step_ = Step::kEnd;
  deadline_ = now + kEndTime;
  return AwaitEnd();
}

bool HttpConnection::AwaitEnd() {
  std::array<char, kMaxHeadBytes> buffer;
  const ssize_t read = ::recv(fd(), buffer.data(), buffer.size(), 0);
  return read > 0 || (read < 0 && MustWait());
}

std::string HttpAnswer(absl::string_view status, absl::string_view content_type, absl::string_view body) {
  return absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: ", content_type,
                      "; charset=utf-8\r\nContent-Length: ", body.size(), "\r\nConnection: close\r\n\r\n",
                      body);
}

}  // namespace waystar::net
