// Servers and clients that speak TLS, and those who do not.

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "tests/service/about_map.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/test_server.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/certificates.h"
#include "tests/testing/patience.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kUnavailable = grpc::StatusCode::UNAVAILABLE;

class TlsTest : public ::testing::Test, protected CertificateFiles {
 protected:
  TlsTest() { Install(authority_.Issue("game.test")); }

  void Serve(bool asks_clients = false, runtime::Options options = {}) {
    options.tls_cert = cert_.path();
    options.tls_key = key_.path();
    if (asks_clients) {
      client_ca_.Write(clients_.cert());
      options.tls_client_ca = client_ca_.path();
    }
    server_ = std::make_unique<TestServer>(options);
  }

  static grpc::SslCredentialsOptions Trusting(const Authority& authority) {
    return {.pem_root_certs = authority.cert(), .pem_private_key = "", .pem_cert_chain = ""};
  }

  // A client with a connection of its own, who means to talk to a server of that name.
  std::shared_ptr<grpc::Channel> Connect(const grpc::SslCredentialsOptions& options,
                                         const std::string& name = "game.test") const {
    return Connect(grpc::SslCredentials(options), name);
  }

  std::shared_ptr<grpc::Channel> Connect(const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                                         const std::string& name = "game.test") const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetSslTargetNameOverride(name);
    return grpc::CreateCustomChannel(server_->target(), credentials, arguments);
  }

  static grpc::StatusCode Call(const std::shared_ptr<grpc::Channel>& channel) {
    BoundedContext context;
    v1::ListMapsResponse response;
    return v1::MapService::NewStub(channel)->ListMaps(&context, {}, &response).error_code();
  }

  // Of a server that should not start.
  std::string StartError(const std::string& client_ca = "") const {
    const auto server = Server::Start({.listen = "127.0.0.1:0",
                                       .workers = 1,
                                       .tls_cert = cert_.path(),
                                       .tls_key = key_.path(),
                                       .tls_client_ca = client_ca});
    return std::string(server.status().message());
  }

  const Authority authority_;
  const Authority other_;
  const Authority clients_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(TlsTest, ClientsOfItsRootAndItsNameGetThrough) {
  Serve();
  EXPECT_EQ(Call(Connect(Trusting(other_))), kUnavailable) << "of another root";
  EXPECT_EQ(Call(Connect(Trusting(authority_), "bank.test")), kUnavailable) << "of another name";
  EXPECT_EQ(Call(server_->NewChannel()), kUnavailable) << "in plain text";
  EXPECT_EQ(Call(Connect(Trusting(authority_))), grpc::StatusCode::OK);
}

TEST_F(TlsTest, HalfAHandshakeIsCut) {
  Serve(/*asks_clients=*/false, {.handshake_timeout = absl::Milliseconds(200)});
  TcpClient silent(server_->server().port());
  TcpClient slow(server_->server().port());
  // A record of 512 bytes with a handshake message, of which the client has sent five.
  slow.Send(absl::string_view("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03", 10));
  EXPECT_EQ(silent.ReadToTheEnd(), "");
  EXPECT_EQ(slow.ReadToTheEnd(), "");
  // A slow machine may need longer for a whole handshake, too.
  EXPECT_TRUE(WaitUntil([&] { return Call(Connect(Trusting(authority_))) == grpc::StatusCode::OK; },
                        "a client that is connected in time"));
}

TEST_F(TlsTest, ClientsShowTheirCertificates) {
  Serve(/*asks_clients=*/true);
  const auto showing = [&](const Identity& identity) {
    return Connect({.pem_root_certs = authority_.cert(),
                    .pem_private_key = identity.key,
                    .pem_cert_chain = identity.cert});
  };
  EXPECT_EQ(Call(showing(clients_.Issue("game-server-1"))), grpc::StatusCode::OK);
  EXPECT_EQ(Call(Connect(Trusting(authority_))), kUnavailable) << "with none";
  EXPECT_EQ(Call(showing(other_.Issue("game-server-1"))), kUnavailable) << "with one of another root";
  EXPECT_EQ(Call(showing(clients_.Issue("game-server-1", {.begin = -7200, .end = -3600}))), kUnavailable)
      << "with one that is over";
}

TEST_F(TlsTest, NewCertificatesHoldFromTheNextConnectionOn) {
  Serve();
  const auto before = Connect(Trusting(authority_));
  ASSERT_EQ(Call(before), grpc::StatusCode::OK);
  std::atomic<bool> is_over = false;
  std::atomic<int> failures = 0;
  std::thread caller([&] {
    while (!is_over) {
      failures += Call(before) != grpc::StatusCode::OK;
    }
  });
  Install(other_.Issue("game.test"));
  EXPECT_TRUE(WaitUntil([&] { return Call(Connect(Trusting(other_))) == grpc::StatusCode::OK; },
                        "the new certificate"));
  EXPECT_EQ(Call(Connect(Trusting(authority_))), kUnavailable);
  is_over = true;
  caller.join();
  EXPECT_EQ(failures, 0) << "on the connection that there was";
  EXPECT_EQ(Call(before), grpc::StatusCode::OK);
}

TEST_F(TlsTest, NewRootsOfClientsHoldFromTheNextConnectionOn) {
  Serve(/*asks_clients=*/true);
  const Identity identity = other_.Issue("game-server-1");
  const auto connect = [&] {
    return Connect({.pem_root_certs = authority_.cert(),
                    .pem_private_key = identity.key,
                    .pem_cert_chain = identity.cert});
  };
  ASSERT_EQ(Call(connect()), kUnavailable);
  client_ca_.Write(other_.cert());
  EXPECT_TRUE(WaitUntil([&] { return Call(connect()) == grpc::StatusCode::OK; }, "the new roots"));
}

TEST_F(TlsTest, BadFilesLeaveWhatWasInUse) {
  Serve();
  for (const std::string& bad : {std::string("nonsense"), std::string(), other_.Issue("game.test").cert}) {
    cert_.Write(bad);
    EXPECT_EQ(Call(Connect(Trusting(authority_))), grpc::StatusCode::OK) << bad;
    EXPECT_EQ(Call(Connect(Trusting(other_))), kUnavailable) << bad;
  }
  std::filesystem::remove(key_.path());
  EXPECT_EQ(Call(Connect(Trusting(authority_))), grpc::StatusCode::OK);
  Install(other_.Issue("game.test"));
  EXPECT_EQ(Call(Connect(Trusting(other_))), grpc::StatusCode::OK);
}

TEST_F(TlsTest, WarnsOfCertificatesNearTheirEnd) {
  constexpr long kDay = 24 * 3600;
  const auto log_of = [&](const Identity& identity) {
    Install(identity);
    return LogOf([&] { Serve(); });
  };
  EXPECT_THAT(log_of(authority_.Issue("game.test", {.end = 31 * kDay})),
              Not(HasSubstr("event=certificate_")));
  EXPECT_THAT(log_of(authority_.Issue("game.test", {.end = 29 * kDay})),
              AllOf(HasSubstr("level=warning event=certificate_expires_soon file="), HasSubstr(cert_.path()),
                    HasSubstr("CN=game.test"), HasSubstr(" days_left=28")));
  EXPECT_THAT(log_of(authority_.Issue("game.test", {.begin = -3 * kDay, .end = -2 * kDay - 60})),
              AllOf(HasSubstr("level=error event=certificate_expired file="), HasSubstr(" days_left=-2")));
}

TEST_F(TlsTest, WarnsOfNewCertificatesNearTheirEnd) {
  Install(authority_.Issue("game.test", {.end = 365L * 24 * 3600}));
  Serve();
  const std::string log = LogOf([&] {
    // The chain counts as well.
    const Identity identity = authority_.Issue("game.test", {.end = 365L * 24 * 3600});
    Install({.cert = absl::StrCat(identity.cert, other_.Issue("between").cert), .key = identity.key});
    EXPECT_EQ(Call(Connect(Trusting(authority_))), grpc::StatusCode::OK);
  });
  EXPECT_THAT(log, AllOf(HasSubstr("event=certificate_expires_soon"), HasSubstr("CN=between"),
                         Not(HasSubstr("CN=game.test"))));
}

TEST_F(TlsTest, DoesNotStartWithoutItsFiles) {
  std::filesystem::remove(cert_.path());
  std::filesystem::remove(key_.path());
  const Identity identity = authority_.Issue("game.test");
  EXPECT_THAT(StartError(), AllOf(HasSubstr(cert_.path()), HasSubstr("No such file")));
  cert_.Write(identity.cert);
  EXPECT_THAT(StartError(), AllOf(HasSubstr(key_.path()), HasSubstr("No such file")));
  key_.Write("nonsense");
  EXPECT_THAT(StartError(), AllOf(HasSubstr(key_.path()), HasSubstr("no private key")));
  key_.Write(authority_.Issue("game.test").key);
  EXPECT_THAT(StartError(), AllOf(HasSubstr(key_.path()), HasSubstr("not the key of the certificate")));
  key_.Write(identity.key);
  EXPECT_THAT(StartError(client_ca_.path()), AllOf(HasSubstr(client_ca_.path()), HasSubstr("No such file")));
  const std::string root = authority_.cert();
  client_ca_.Write(absl::StrCat(root, root.substr(0, root.size() / 2)));
  EXPECT_THAT(StartError(client_ca_.path()),
              AllOf(HasSubstr(client_ca_.path()), HasSubstr("behind the first is damaged")));
  client_ca_.Write(identity.key);
  EXPECT_THAT(StartError(client_ca_.path()),
              AllOf(HasSubstr(client_ca_.path()), HasSubstr("no certificate")));
  cert_.Write("nonsense");
  EXPECT_THAT(StartError(), AllOf(HasSubstr(cert_.path()), HasSubstr("no certificate")));
}

}  // namespace
}  // namespace waystar::rpc
