// The HTTP server with TLS.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/http/exchange.h"
#include "server/http/http_server.h"
#include "tests/net/tcp_client.h"
#include "tests/testing/certificates.h"
#include "tests/testing/patience.h"
// Behind <utility>, which Asio 1.74 lacks.
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace waystar::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ::testing::EndsWith;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::size_t kPageBytes = 1'000'000;

class LongPage final : public HttpHandler {
 public:
  std::variant<HttpAcceptance, HttpAnswer> Judge(const HttpClient& /*client*/,
                                                 const RequestHead& /*head*/) override {
    return HttpAcceptance{.max_body_bytes = kPageBytes};
  }
  void Serve(HttpRequest request, std::shared_ptr<Exchange> exchange) override {
    exchange->Answer({.body = request.body + std::string(kPageBytes, 'x') + "end"});
  }
};

class HttpTlsTest : public ::testing::Test {
 protected:
  HttpTlsTest() {
    const testing::Identity identity = authority_.Issue("localhost");
    auto server = HttpServer::Start({.listen = {"127.0.0.1:0"},
                                     .limits = limits_,
                                     .tls = TlsIdentity{.certificates = identity.cert, .key = identity.key}},
                                    page_);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  static HttpLimits ShortLimits() {
    HttpLimits limits;
    limits.linger_time = limits.head_time = limits.body_time = std::chrono::minutes(10);
    limits.tick = std::chrono::milliseconds(5);
    return limits;
  }

  const testing::Authority authority_;
  const HttpLimits limits_ = ShortLimits();
  LongPage page_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpTlsTest, Answers) {
  asio::io_context io;
  asio::ssl::context trust(asio::ssl::context::tls_client);
  trust.add_certificate_authority(asio::buffer(authority_.cert()));
  trust.set_verify_mode(asio::ssl::verify_peer);
  asio::ssl::stream<tcp::socket> stream(io, trust);
  stream.next_layer().connect(
      tcp::endpoint(asio::ip::address_v4::loopback(), static_cast<unsigned short>(server_->port())));
  stream.handshake(asio::ssl::stream_base::client);
  const std::string body(100'000, 'b');
  asio::write(stream, asio::buffer(absl::StrCat("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ", body.size(),
                                                "\r\nConnection: close\r\n\r\n", body)));
  std::string answer;
  boost::system::error_code end;
  asio::read(stream, asio::dynamic_buffer(answer), end);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer.substr(answer.find("\r\n\r\n") + 4), SizeIs(body.size() + kPageBytes + 3));
  EXPECT_THAT(answer, EndsWith("xend"));
}

TEST_F(HttpTlsTest, EndsWhatIsNoHandshake) {
  waystar::testing::TcpClient plain(server_->port());
  plain.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  plain.ReadToTheEnd();
  waystar::testing::TcpClient silent(server_->port());
  waystar::testing::ExpectReturns([&] { server_->Stop(); }, "Stop");
  EXPECT_EQ(silent.ReadToTheEnd(), "");
}

TEST_F(HttpTlsTest, TakesNoOtherIdentity) {
  const auto start = [&](const std::string& cert, const std::string& key) {
    return HttpServer::Start(
               {.listen = {"127.0.0.1:0"}, .tls = TlsIdentity{.certificates = cert, .key = key}}, page_)
        .status()
        .code();
  };
  EXPECT_EQ(start("cert", "key"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(start(authority_.Issue("a").cert, authority_.Issue("b").key), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace waystar::http
