// The HTTP server with TLS.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "server/service/transport/http/exchange.h"
#include "server/service/transport/http/http_server.h"
#include "server/service/transport/http/tls_context.h"
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
using ::waystar::testing::Authority;
using ::waystar::testing::Identity;
using ::waystar::testing::TcpClient;
using ::waystar::testing::TlsClient;

constexpr char kGet[] = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
constexpr char kOk[] = "HTTP/1.1 200 OK\r\n";

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
    Use(authority_.Issue("localhost"));
    auto server = HttpServer::Start({.listen = {"127.0.0.1:0"},
                                     .limits = limits_,
                                     .tls =
                                         [this] {
                                           MutexLock lock(mutex_);
                                           return context_;
                                         }},
                                    page_);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // The next connections have that certificate, and must show one of those roots if there are any.
  void Use(const Identity& identity, const std::string& client_roots = "") {
    auto context =
        MakeTlsContext({.certificates = identity.cert, .key = identity.key, .client_roots = client_roots});
    ASSERT_TRUE(context.ok()) << context.status();
    MutexLock lock(mutex_);
    context_ = *std::move(context);
  }

  std::string Get(const TlsClient& client) const { return client.Ask(server_->port(), kGet); }

  static HttpLimits ShortLimits() {
    HttpLimits limits;
    limits.linger_time = limits.head_time = limits.body_time = std::chrono::minutes(10);
    limits.tick = std::chrono::milliseconds(5);
    return limits;
  }

  const Authority authority_;
  const Authority other_;
  const HttpLimits limits_ = ShortLimits();
  LongPage page_;
  Mutex mutex_;
  std::shared_ptr<TlsContext> context_;
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

TEST_F(HttpTlsTest, ANewCertificateIsThatOfTheNextConnection) {
  const TlsClient client({.roots = authority_.cert()});
  const TlsClient other({.roots = other_.cert()});
  ASSERT_THAT(Get(client), StartsWith(kOk));
  EXPECT_EQ(Get(other), "");
  Use(other_.Issue("localhost"));
  EXPECT_THAT(Get(other), StartsWith(kOk));
  EXPECT_EQ(Get(client), "");
}

TEST_F(HttpTlsTest, ClientsShowTheirCertificates) {
  Use(authority_.Issue("localhost"), other_.cert());
  const auto showing = [&](const Identity& identity) {
    return TlsClient({.roots = authority_.cert(), .cert = identity.cert, .key = identity.key});
  };
  const TlsClient right = showing(other_.Issue("game-1"));
  EXPECT_THAT(Get(right), StartsWith(kOk));
  EXPECT_THAT(Get(right), StartsWith(kOk));
  EXPECT_EQ(Get(TlsClient({.roots = authority_.cert()})), "") << "with none";
  EXPECT_EQ(Get(showing(authority_.Issue("game-1"))), "") << "with one of another root";
  EXPECT_EQ(Get(showing(other_.Issue("game-1", {.begin = -7200, .end = -3600}))), "")
      << "with one that is over";
}

TEST_F(HttpTlsTest, EndsWhatIsNoHandshake) {
  TcpClient plain(server_->port());
  plain.Send(kGet);
  EXPECT_THAT(plain.ReadToTheEnd(), Not(HasSubstr("HTTP/")));
  TcpClient silent(server_->port());
  waystar::testing::ExpectReturns([&] { server_->Stop(); }, "Stop");
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
