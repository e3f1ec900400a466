// The HTTP server with TLS.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/service/transport/http/http_server.h"
#include "tests/service/transport/http/tls_client.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/certificates.h"
#include "tests/testing/patience.h"

namespace waystar::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kGet[] = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

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
    const Identity identity = authority_.Issue("localhost");
    auto context = MakeTlsContext({.certificates = identity.cert, .key = identity.key});
    EXPECT_TRUE(context.ok()) << context.status();
    auto server = HttpServer::Start({.listen = "127.0.0.1:0",
                                     .limits = ShortLimits(),
                                     .tls = [made = *std::move(context)] { return made; }},
                                    page_);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  static HttpLimits ShortLimits() {
    HttpLimits limits;
    limits.linger_time = limits.head_time = limits.body_time = std::chrono::minutes(10);
    return limits;
  }

  const Authority authority_;
  LongPage page_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpTlsTest, Answers) {
  const std::string body(100'000, 'b');
  const std::string answer =
      TlsClient({.roots = authority_.cert()})
          .Ask(server_->port(), absl::StrCat("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ", body.size(),
                                             "\r\nConnection: close\r\n\r\n", body));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer.substr(answer.find("\r\n\r\n") + 4), SizeIs(body.size() + kPageBytes + 3));
  EXPECT_THAT(answer, EndsWith("xend"));
}

TEST_F(HttpTlsTest, EndsWhatIsNoHandshake) {
  TcpClient plain(server_->port());
  plain.Send(kGet);
  EXPECT_THAT(plain.ReadToTheEnd(), Not(HasSubstr("HTTP/")));
  TcpClient silent(server_->port());
  waystar::ExpectReturns([&] { server_->Stop(); }, "Stop");
  EXPECT_EQ(silent.ReadToTheEnd(), "");
}

TEST(TlsContextTest, TakesNoOtherIdentity) {
  const Authority authority;
  const Identity identity = authority.Issue("a");
  const auto make = [](const TlsIdentity& of) { return MakeTlsContext(of).status().code(); };
  EXPECT_EQ(make({.certificates = identity.cert, .key = identity.key}), absl::StatusCode::kOk);
  EXPECT_EQ(make({.certificates = "cert", .key = "key"}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(make({.certificates = identity.cert, .key = authority.Issue("b").key}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(make({.certificates = identity.cert, .key = identity.key, .client_roots = "roots"}),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace waystar::http
