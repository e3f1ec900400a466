#include "server/service/transport/http/http_connection.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <exception>
#include <string_view>
#include <variant>

namespace waystar::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
// Fits most heads; an idle connection holds no more.
constexpr std::size_t kFirstReadBytes = 1024;
constexpr std::size_t kReadBytes = std::size_t{16} << 10;

}  // namespace

HttpConnection::HttpConnection(asio::ip::tcp::socket socket, HttpClient client,
                               std::shared_ptr<asio::ssl::context> tls, HttpService& service)
    : socket_(std::move(socket)),
      tls_context_(std::move(tls)),
      client_(std::move(client)),
      service_(service),
      timer_(socket_.get_executor()) {
  if (tls_context_ != nullptr) {
    tls_.emplace(socket_, *tls_context_);
  }
}

void HttpConnection::Start() {
  SetDeadline(service_.limits.head_time);
  if (!tls_) {
    step_ = Step::kHead;
    Continue();
    return;
  }
  tls_->async_handshake(asio::ssl::stream_base::server, [self = shared_from_this()](const error_code& error) {
    if (self->step_ != Step::kHandshake) {
      return;
    }
    if (error) {
      self->Close(false);
      return;
    }
    // The deadline still counts from the start of the connection.
    self->step_ = Step::kHead;
    self->Continue();
  });
}

void HttpConnection::Enter(Step step, std::chrono::milliseconds time) {
  step_ = step;
  SetDeadline(time);
}

void HttpConnection::SetDeadline(std::chrono::milliseconds time) {
  if (time == std::chrono::milliseconds::max()) {
    timer_.expires_at(asio::steady_timer::time_point::max());
    return;
  }
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    // The deadline may have been set again after the time was over.
    if (!error && self->timer_.expiry() <= std::chrono::steady_clock::now()) {
      self->OnDeadline();
    }
  });
}

void HttpConnection::Continue() {
  if (step_ == Step::kHead) {
    ReadHead();
  } else if (step_ == Step::kBody) {
    ReadBody();
  } else if (step_ == Step::kAnswer) {
    if (has_input_ended_) {
      exchange_->OnGone();
    }
    Read();
  } else if (step_ == Step::kLinger) {
    lingered_ += input_.size();
    input_.clear();
    if (has_input_ended_ || lingered_ > service_.limits.linger_bytes) {
      Close(false);
    } else {
      Read();
    }
  }
}

void HttpConnection::ReadHead() {
  const std::size_t end = input_.find("\r\n\r\n");
  if (end == std::string::npos && input_.size() < kMaxHeadBytes) {
    if (has_input_ended_) {
      Close(false);
    } else {
      Read();
    }
    return;
  }
  head_ = RequestHead();
  std::variant<RequestHead, int> parsed = 431;
  if (end != std::string::npos) {
    parsed = ParseRequestHead(std::string_view(input_).substr(0, end + 4));
  }
  if (std::holds_alternative<int>(parsed)) {
    Answer(service_.handler.Refuse(std::get<int>(parsed), nullptr));
    return;
  }
  input_.erase(0, end + 4);
  head_ = std::get<RequestHead>(std::move(parsed));
  ++service_.requests;
  Judge();
}

void HttpConnection::Judge() {
  std::variant<HttpAcceptance, HttpAnswer> verdict;
  try {
    verdict = service_.handler.Judge(client_, head_);
  } catch (const std::exception&) {
    verdict = HttpAnswer{.code = 500, .closes = true};
  }
  if (std::holds_alternative<HttpAnswer>(verdict)) {
    Answer(std::get<HttpAnswer>(std::move(verdict)));
    return;
  }
  const auto& acceptance = std::get<HttpAcceptance>(verdict);
  is_trusted_ = is_trusted_ || acceptance.is_trusted;
  identity_ = acceptance.identity;
  if (head_.content_length > acceptance.max_body_bytes) {
    Refuse(413);
    return;
  }
  Enter(Step::kBody, service_.limits.body_time);
  body_.emplace(head_, acceptance.max_body_bytes);
  body_share_ = BodyShare(service_.bodies, client_.network);
  // A client that already sends the body does not wait for it.
  if (head_.expects_continue && head_.has_body() && input_.empty()) {
    output_ = kContinue;
    sent_ = 0;
    is_continue_ = true;
    Write();
  }
  ReadBody();
}

void HttpConnection::ReadBody() {
  const RequestBody::Progress progress = body_->Put(input_);
  input_.erase(0, progress.used);
  if (progress.refusal != 0) {
    Refuse(progress.refusal);
  } else if (!body_share_.GrowTo(body_->size())) {
    Refuse(503);
  } else if (body_->is_done()) {
    Serve();
  } else if (has_input_ended_) {
    Close(false);
  } else {
    Read();
  }
}

void HttpConnection::Serve() {
  is_serving_ = true;
  Enter(Step::kAnswer, std::chrono::milliseconds::max());
  exchange_ = MakeExchange(head_.keep_alive);
  HttpRequest request{.client = client_,
                      .identity = identity_,
                      .head = std::move(head_),
                      .body = body_->Take(),
                      .body_share = std::move(body_share_)};
  body_.reset();
  try {
    service_.handler.Serve(std::move(request), Exchange::ForHandler(exchange_));
  } catch (const std::exception&) {
    // The destroyed exchange has answered 500.
  }
  SetDeadline(QuietTime());
  Continue();
}

void HttpConnection::Answer(HttpAnswer answer) {
  const bool is_legal = !head_.method.empty();
  Enter(Step::kAnswer, std::chrono::milliseconds::max());
  body_.reset();
  body_share_.GiveBack();
  // The unread body hides where the next request begins.
  exchange_ = MakeExchange(is_legal && head_.keep_alive && !head_.has_body());
  exchange_->Answer(std::move(answer));
  Send();
  Continue();
}

void HttpConnection::Refuse(int code) { Answer(service_.handler.Refuse(code, &head_)); }

void HttpConnection::NextRequest() {
  const bool is_kept = exchange_->keep_alive();
  exchange_->Detach();
  exchange_.reset();
  must_leave_ = 0;
  output_ = std::string();
  is_serving_ = false;
  if (!is_kept || service_.is_draining) {
    error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    Enter(Step::kLinger, service_.limits.linger_time);
    Continue();
    return;
  }
  head_ = RequestHead();
  is_idle_ = input_.empty();
  Enter(Step::kHead, is_idle_ ? service_.limits.idle_time : service_.limits.head_time);
  if (is_idle_) {
    input_.shrink_to_fit();
  }
  ReadHead();
}

void HttpConnection::OnDeadline() {
  if ((step_ == Step::kHead && !input_.empty()) || step_ == Step::kBody) {
    Answer(service_.handler.Refuse(408, step_ == Step::kBody ? &head_ : nullptr));
    return;
  }
  if (step_ == Step::kAnswer && must_leave_ == 0) {
    SetDeadline(std::chrono::milliseconds::max());
    if (exchange_->has_heartbeat()) {
      exchange_->SendHeartbeat();
    } else {
      exchange_->OnLate();
    }
    return;
  }
  if (step_ == Step::kAnswer) {
    ++service_.stalled;
  }
  // A reset drops unread bytes, which the kernel would otherwise keep for minutes.
  int unread = 0;
  ::ioctl(socket_.native_handle(), TIOCOUTQ, &unread);
  Close(step_ == Step::kAnswer || unread > 0);
}

std::chrono::milliseconds HttpConnection::QuietTime() const {
  using std::chrono::steady_clock;
  if (exchange_->has_heartbeat()) {
    return service_.limits.heartbeat_time;
  }
  const steady_clock::time_point deadline = exchange_->deadline();
  return deadline == steady_clock::time_point::max()
             ? std::chrono::milliseconds::max()
             : std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
}

void HttpConnection::Close(bool is_reset) {
  if (std::exchange(step_, Step::kEnded) == Step::kEnded) {
    return;
  }
  SetDeadline(std::chrono::milliseconds::max());
  error_code ignored;
  if (is_reset) {
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  }
  socket_.close(ignored);
  if (exchange_ != nullptr) {
    exchange_->OnGone();
    exchange_->Detach();
    exchange_.reset();
  }
  body_.reset();
  body_share_.GiveBack();
  service_.on_end(*this);
}

void HttpConnection::Read() {
  if (is_reading_ || has_input_ended_ || input_.size() >= kMaxHeadBytes) {
    return;
  }
  is_reading_ = true;
  const std::size_t size = step_ == Step::kBody || step_ == Step::kLinger ? kReadBytes : kFirstReadBytes;
  if (incoming_.size() != size) {
    incoming_ = std::vector<char>(size);
  }
  auto on_read = [self = shared_from_this()](const error_code& error, std::size_t bytes) {
    self->OnRead(error, bytes);
  };
  if (tls_) {
    tls_->async_read_some(asio::buffer(incoming_), std::move(on_read));
  } else {
    socket_.async_read_some(asio::buffer(incoming_), std::move(on_read));
  }
}

void HttpConnection::OnRead(const error_code& error, std::size_t bytes) {
  is_reading_ = false;
  if (step_ == Step::kEnded) {
    return;
  }
  has_input_ended_ = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
  if (error && !has_input_ended_) {
    Close(false);
    return;
  }
  // The deadline of a head starts with its first byte; that of the first head already runs.
  if (step_ == Step::kHead && bytes > 0 && std::exchange(is_idle_, false)) {
    SetDeadline(service_.limits.head_time);
  }
  input_.append(incoming_.data(), bytes);
  Continue();
}

std::shared_ptr<Exchange> HttpConnection::MakeExchange(bool keep_alive) {
  return std::make_shared<Exchange>(
      head_, keep_alive, service_.is_draining, service_.waiting_bytes,
      [self = shared_from_this()] { asio::post(self->socket_.get_executor(), [self] { self->Send(); }); });
}

void HttpConnection::Send() {
  if (exchange_ == nullptr || step_ != Step::kAnswer) {
    return;
  }
  exchange_->OnWoken();
  if (exchange_->state() == Exchange::State::kAborted) {
    Close(true);
    return;
  }
  if (!is_writing_) {
    // Read before Take: a later change calls this again.
    const bool is_complete = exchange_->state() == Exchange::State::kComplete;
    output_ = exchange_->Take();
    sent_ = 0;
    if (!output_.empty()) {
      Write();
    } else if (is_complete) {
      NextRequest();
      return;
    }
  }
  WatchLeaving(0);
  exchange_->AskSource();
}

void HttpConnection::Write() {
  is_writing_ = true;
  auto on_written = [self = shared_from_this()](const error_code& error, std::size_t bytes) {
    self->OnWritten(error, bytes);
  };
  const auto rest = asio::buffer(output_) + sent_;
  if (tls_) {
    tls_->async_write_some(rest, std::move(on_written));
  } else {
    socket_.async_write_some(rest, std::move(on_written));
  }
}

void HttpConnection::OnWritten(const error_code& error, std::size_t bytes) {
  is_writing_ = false;
  if (step_ == Step::kEnded) {
    return;
  }
  if (error) {
    Close(true);
    return;
  }
  sent_ += bytes;
  if (step_ == Step::kAnswer && !is_continue_) {
    exchange_->OnSent(bytes);
    WatchLeaving(bytes);
  }
  if (sent_ < output_.size()) {
    Write();
  } else {
    is_continue_ = false;
    Send();
  }
}

void HttpConnection::WatchLeaving(std::size_t sent) {
  must_leave_ -= std::min(must_leave_, sent);
  if (must_leave_ > 0) {
    return;
  }
  must_leave_ = std::min(exchange_->waiting_bytes(), kStreamRoomBytes);
  if (must_leave_ > 0) {
    SetDeadline(service_.limits.stall_time);
  } else {
    SetDeadline(QuietTime());
  }
}

}  // namespace waystar::http
