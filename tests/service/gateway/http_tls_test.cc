// The RPCs over HTTP with TLS.

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/captured_log.h"
#include "tests/service/gateway/http_server.h"
#include "tests/service/transport/http/tls_client.h"
#include "tests/testing/certificates.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::waystar::testing::Authority;
using ::waystar::testing::CertificateFiles;
using ::waystar::testing::HttpServer;
using ::waystar::testing::Identity;
using ::waystar::testing::LogOf;
using ::waystar::testing::TestServer;
using ::waystar::testing::TlsClient;

class HttpTlsTest : public ::testing::Test, protected CertificateFiles {
 protected:
  HttpTlsTest() { Install(authority_.Issue("game.test")); }

  runtime::Options Options() const {
    return {.tls_cert = cert_.path(), .tls_key = key_.path(), .http_tls = true};
  }

  void Serve(const runtime::Options& options) {
    server_ = std::make_unique<TestServer>(HttpServer::OverHttp(options));
  }

  int port() const { return server_->server().http_port(); }
  std::string Ask(const TlsClient& client) const { return client.Ask(port(), kCall); }
  TlsClient Trusting(const Authority& authority) const { return TlsClient({.roots = authority.cert()}); }

  static constexpr char kCall[] =
      "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: game.test\r\nContent-Length: 2\r\n"
      "Connection: close\r\n\r\n{}";
  static constexpr char kServing[] = R"({"status":"SERVING"})";

  const Authority authority_;
  const Authority other_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(HttpTlsTest, ANewCertificateHoldsFromTheNextConnectionOn) {
  Serve(Options());
  ASSERT_THAT(Ask(Trusting(authority_)), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr(kServing)));
  EXPECT_EQ(Ask(Trusting(other_)), "");
  Install(other_.Issue("game.test"));
  EXPECT_THAT(Ask(Trusting(other_)), HasSubstr(kServing));
  EXPECT_EQ(Ask(Trusting(authority_)), "");
}

TEST_F(HttpTlsTest, ABadCertificateLeavesThatInUse) {
  Serve(Options());
  const std::string log = LogOf([&] {
    cert_.Write("nonsense");
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(Ask(Trusting(authority_)), HasSubstr(kServing));
    }
  });
  const std::size_t at = log.find("event=tls_files_refused");
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_EQ(log.find("event=tls_files_refused", at + 1), std::string::npos) << log;
}

TEST_F(HttpTlsTest, ClientsShowTheirCertificates) {
  client_ca_.Write(other_.cert());
  runtime::Options options = Options();
  options.tls_client_ca = client_ca_.path();
  Serve(options);
  const auto showing = [&](const Identity& identity) {
    return TlsClient({.roots = authority_.cert(), .cert = identity.cert, .key = identity.key});
  };
  const TlsClient known = showing(other_.Issue("game-1"));
  EXPECT_THAT(Ask(known), HasSubstr(kServing));
  EXPECT_THAT(Ask(known), HasSubstr(kServing));
  EXPECT_EQ(Ask(Trusting(authority_)), "") << "with none";
  EXPECT_EQ(Ask(showing(authority_.Issue("game-1"))), "") << "with one of another root";
  EXPECT_EQ(Ask(showing(other_.Issue("game-1", {.begin = -7200, .end = -3600}))), "")
      << "with one that is over";
  // Other roots hold from the next connection on.
  client_ca_.Write(authority_.cert());
  EXPECT_THAT(Ask(showing(authority_.Issue("game-1"))), HasSubstr(kServing));
  EXPECT_EQ(Ask(known), "");
}

TEST_F(HttpTlsTest, WithoutItHttpDoesNotLeaveTheMachine) {
  runtime::Options options{.listen = "127.0.0.1:0",
                           .workers = 1,
                           .tls_cert = cert_.path(),
                           .tls_key = key_.path(),
                           .http_listen = "0.0.0.0:0"};
  const auto refused = Server::Start(options);
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
  EXPECT_THAT(refused.status().message(), HasSubstr("--http_tls"));
  options.http_tls = true;
  const auto server = Server::Start(options);
  EXPECT_TRUE(server.ok()) << server.status();
}

}  // namespace
}  // namespace waystar::rpc
