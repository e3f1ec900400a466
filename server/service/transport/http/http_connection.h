// One connection of an HTTP server.
#pragma once

// Boost.Asio 1.74 needs this header and does not include it.
#include <utility>
// The header above must precede all others.
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/service/transport/http/http_handler.h"
#include "server/service/transport/http/request.h"

namespace waystar::http {

class HttpConnection;

// State shared by the connections of one server; outlives them.
struct HttpService {
  const HttpLimits& limits;
  HttpHandler& handler;
  std::shared_ptr<BodyLedger> bodies;
  // If true, all connections close after their current answer.
  std::atomic<bool> is_draining = false;
  // Unsent bytes of all answers.
  std::atomic<std::size_t> waiting_bytes = 0;
  std::atomic<std::uint64_t> requests = 0;
  std::atomic<std::uint64_t> stalled = 0;
  // Called once per connection.
  std::function<void(const HttpConnection&)> on_end;
};

// Reads requests one at a time, and sends the answers of their exchanges. While a request is served, reads on
// up to the length of a head, to notice when the client goes.
//
// Thread safety: that of the socket's executor, which must be one thread.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // `tls` is null for plain text.
  HttpConnection(boost::asio::ip::tcp::socket socket, HttpClient client,
                 std::shared_ptr<boost::asio::ssl::context> tls, HttpService& service);

  void Start();
  // Closes the connection, and then calls on_end. A reset drops what is unsent.
  void Close(bool is_reset);

  bool is_serving() const { return is_serving_; }
  bool is_trusted() const { return is_trusted_; }
  const net::Network& network() const { return client_.network; }

 private:
  enum class Step : std::uint8_t { kHandshake, kHead, kBody, kAnswer, kLinger, kEnded };

  void Enter(Step step, std::chrono::milliseconds time);
  // When the time is over, answers 408, sends a heartbeat or closes the connection. Never, if it is max().
  void SetDeadline(std::chrono::milliseconds time);
  void OnDeadline();
  // Returns how long an answer may wait before the exchange must be asked for a heartbeat, or be told that it
  // is late.
  std::chrono::milliseconds QuietTime() const;
  // Processes the input that has arrived.
  void Continue();
  void ReadHead();
  void Judge();
  void ReadBody();
  void Serve();
  // Answers without an exchange.
  void Answer(HttpAnswer answer);
  void Refuse(int code);
  void NextRequest();

  void Read();
  void OnRead(const boost::system::error_code& error, std::size_t bytes);
  std::shared_ptr<Exchange> MakeExchange(bool keep_alive);
  // Sends the next bytes, unless a write is in progress.
  void Send();
  void Write();
  void OnWritten(const boost::system::error_code& error, std::size_t bytes);
  void WatchLeaving(std::size_t sent);

  boost::asio::ip::tcp::socket socket_;
  const std::shared_ptr<boost::asio::ssl::context> tls_context_;
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;
  const HttpClient client_;
  HttpService& service_;
  bool is_serving_ = false;
  bool is_trusted_ = false;
  boost::asio::steady_timer timer_;

  Step step_ = Step::kHandshake;
  // Buffer of the current read, and bytes read but not used yet.
  std::vector<char> incoming_;
  std::string input_;
  bool is_reading_ = false;
  bool has_input_ended_ = false;
  // True while waiting for the first byte of the next request.
  bool is_idle_ = false;
  std::size_t lingered_ = 0;

  RequestHead head_;
  std::uint64_t identity_ = 0;
  std::optional<RequestBody> body_;
  BodyShare body_share_;

  std::shared_ptr<Exchange> exchange_;
  std::string output_;
  std::size_t sent_ = 0;
  bool is_writing_ = false;
  // True while "100 Continue" is written instead of an answer.
  bool is_continue_ = false;
  // Bytes that must be sent before the deadline.
  std::size_t must_leave_ = 0;
};

}  // namespace waystar::http
