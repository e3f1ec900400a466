// One connection of an HTTP server.
#pragma once

// Asio 1.74 lacks this include.
#include <utility>
// It must stand first.
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/http/answer_queue.h"
#include "server/http/body_ledger.h"
#include "server/http/http_handler.h"
#include "server/http/http_limits.h"
#include "server/http/request_body.h"
#include "server/http/request_head.h"
#include "server/http/tls_context.h"

namespace waystar::http {

class HttpConnection;

// What the connections of one server share. It outlives them.
struct HttpService {
  const HttpLimits& limits;
  HttpHandler& handler;
  std::shared_ptr<BodyLedger> bodies;
  // All connections end with the answer that they give.
  std::atomic<bool> is_draining = false;
  // What waits to be sent, in all.
  std::atomic<std::size_t> waiting_bytes = 0;
  std::atomic<std::uint64_t> requests = 0;
  std::atomic<std::uint64_t> stalled = 0;
  // Is called once for each connection, on its strand.
  std::function<void(const HttpConnection&)> on_end;
};

// Reads requests, one at a time, and sends what their exchanges answer. While a request is served the
// connection reads on, up to a head's length, to see the client go.
//
// Thread safety: what is said to be so may be called by any thread; all else runs on the socket's strand.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // The socket's executor is a strand. `tls` is null for plain text.
  HttpConnection(boost::asio::ip::tcp::socket socket, HttpClient client, std::shared_ptr<TlsContext> tls,
                 HttpService& service);

  // Any thread, once.
  void Start();
  // Any thread. Ends the connection if its time is over.
  void Tick(TimePoint now);
  // Any thread. Ends the connection at once.
  void End();
  // Any thread. Ends the connection unless a request is served. Returns false if that is so.
  bool EndIfWaiting();

  // Any thread.
  bool is_serving() const { return phase_ == Phase::kServing; }
  bool is_trusted() const { return is_trusted_; }
  const net::Network& network() const { return client_.network; }

 private:
  enum class Step : std::uint8_t { kHandshake, kHead, kBody, kAnswer, kLinger, kEnded };
  // What others may do to it.
  enum class Phase : std::uint8_t { kWaiting, kServing, kEnding };

  void Enter(Step step, std::chrono::milliseconds time);
  void SetDeadline(std::chrono::milliseconds time);
  void Shake();
  // Goes on with what has arrived.
  void Continue();
  void ReadHead();
  void Judge();
  void ReadBody();
  void Serve();
  // Answers without an exchange.
  void Answer(HttpAnswer answer);
  void Refuse(int code);
  void NextRequest();
  void Linger();
  void CheckTime();
  void Close(bool is_reset);

  void Read();
  void OnRead(const boost::system::error_code& error, std::size_t bytes);
  std::shared_ptr<AnswerQueue> MakeQueue(bool keep_alive);
  // Sends what waits, if nothing is being sent.
  void Send();
  void Write();
  void OnWritten(const boost::system::error_code& error, std::size_t bytes);
  void WatchLeaving(std::size_t sent);

  boost::asio::ip::tcp::socket socket_;
  const std::shared_ptr<TlsContext> tls_context_;
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;
  const HttpClient client_;
  HttpService& service_;
  std::atomic<Phase> phase_ = Phase::kWaiting;
  std::atomic<bool> is_trusted_ = false;
  // TimePoint::max() for none.
  std::atomic<TimePoint> deadline_;

  Step step_ = Step::kHandshake;
  // The bytes that are being read, and those that were read and not yet used.
  std::vector<char> incoming_;
  std::string input_;
  std::size_t searched_ = 0;
  bool is_reading_ = false;
  bool has_input_ended_ = false;
  // It waits for the first byte of another request.
  bool is_idle_ = false;
  std::size_t lingered_ = 0;

  RequestHead head_;
  std::uint64_t identity_ = 0;
  std::optional<RequestBody> body_;
  BodyShare body_share_;

  std::shared_ptr<AnswerQueue> queue_;
  std::string output_;
  std::size_t sent_ = 0;
  bool is_writing_ = false;
  // What is written is no answer.
  bool is_continue_ = false;
  // What must have left by the deadline.
  std::size_t must_leave_ = 0;
};

}  // namespace waystar::http
