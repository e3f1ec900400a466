#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

#include "client/client.h"
#include "tests/client/fake_server.h"
#include "tests/testing/certificates.h"
#include "tests/testing/own_folder.h"

namespace waystar::client {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::Authority;
using ::waystar::testing::FakeServer;
using ::waystar::testing::Identity;
using ::waystar::testing::OwnFolder;
using ::waystar::testing::TlsCredentials;
using ::waystar::testing::TokenOf;

class ConnectionTest : public ::testing::Test {
 protected:
  ConnectionTest() {
    server_.find_path = [this](grpc::ServerContext& context, const auto&, auto&) {
      token_ = TokenOf(context);
      return grpc::Status::OK;
    };
  }

  FakeServer server_;
  std::string token_;
};

absl::StatusCode CodeOf(const Options& options) { return Client(options).status().code(); }

TEST_F(ConnectionTest, ATokenIsSentOnThisMachine) {
  Options options = server_.ClientOptions();
  EXPECT_TRUE(Client(options).FindPath({}).ok());
  EXPECT_EQ(token_, "none");
  options.token = "secret";
  EXPECT_TRUE(Client(options).FindPath({}).ok());
  EXPECT_EQ(token_, "Bearer secret");
}

TEST_F(ConnectionTest, StreamsBearTheTokenToo) {
  server_.watch_map = [this](grpc::ServerContext& context, const auto&, auto&) {
    token_ = TokenOf(context);
    return grpc::Status::OK;
  };
  Options options = server_.ClientOptions();
  options.token = "secret";
  const Client client(options);
  const auto watch = client.WatchMap({});
  v1::WatchMapResponse event;
  EXPECT_FALSE(watch->Next(event));
  EXPECT_EQ(token_, "Bearer secret");
}

TEST_F(ConnectionTest, ATokenDoesNotLeaveThisMachineUnencrypted) {
  Options options;
  options.target = "10.0.0.1:7450";
  options.token = "secret";
  const Client client(options);
  EXPECT_EQ(client.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(client.FindPath({}).status(), client.status());
  EXPECT_EQ(client.ImportMap({}, "..").status(), client.status());
  EXPECT_EQ(client.ExportMap({}).status(), client.status());
  EXPECT_EQ(client.TraceSearch({}, [](const v1::SearchEvent&) {}).status(), client.status());
  options.tls = true;
  EXPECT_EQ(CodeOf(options), absl::StatusCode::kOk);
}

TEST_F(ConnectionTest, StreamsOfAClientThatCannotBeEnd) {
  Options options = server_.ClientOptions();
  options.token = "two words";
  const Client client(options);
  const auto updates = client.StreamUpdates();
  EXPECT_FALSE(updates->Send({}));
  updates->EndSending();
  v1::StreamUpdatesResponse answer;
  EXPECT_FALSE(updates->Receive(answer));
  EXPECT_EQ(updates->Finish(), client.status());
  v1::WatchPathResponse event;
  const auto watch = client.WatchPath({});
  EXPECT_FALSE(watch->Next(event));
  EXPECT_EQ(watch->Finish(), client.status());
}

TEST_F(ConnectionTest, RefusesOptionsThatMakeNoSense) {
  const std::string here = server_.target();
  for (const Options& options :
       {Options{.target = here, .token = "line\n"}, Options{.target = here, .server_name = "maps"},
        Options{.target = here, .tls = true, .cert_file = "mine.pem"},
        Options{.target = "127.0.0.1:1,127.0.0.1:2", .tls = true}}) {
    EXPECT_EQ(CodeOf(options), absl::StatusCode::kInvalidArgument) << options.target;
  }
}

TEST(WaitForReadyTest, ACallWaitsForAServer) {
  auto server = std::make_unique<FakeServer>();
  server->SetServing(false);
  Options options = server->ClientOptions();
  EXPECT_TRUE(absl::IsUnavailable(Client(options).FindPath({}).status()));

  server->find_path = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
  options.wait_for_ready = true;
  const Client client(options);
  auto answer = std::async(std::launch::async, [&client] { return client.FindPath({}); });
  server->SetServing(true);
  EXPECT_TRUE(answer.get().ok());
}

// A server with a certificate for waystar.test.
class TlsTest : public ::testing::Test {
 protected:
  TlsTest() { Serve(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE); }

  void Serve(grpc_ssl_client_certificate_request_type wants_certificate) {
    server_ = std::make_unique<FakeServer>(TlsCredentials(authority_, wants_certificate));
    server_->find_path = [this](grpc::ServerContext& context, const auto&, auto&) {
      token_ = TokenOf(context);
      return grpc::Status::OK;
    };
  }

  // Trusts the server's authority.
  Options TrustingOptions() {
    Options options = server_->ClientOptions();
    options.tls = true;
    options.ca_file = folder_.Write("ca.pem", authority_.cert());
    options.server_name = "waystar.test";
    return options;
  }

  const OwnFolder folder_;
  const Authority authority_;
  std::unique_ptr<FakeServer> server_;
  std::string token_;
};

TEST_F(TlsTest, AServerThatProvesItsNameIsTrustedWithTheToken) {
  Options options = TrustingOptions();
  options.token = "secret";
  const auto response = Client(options).FindPath({});
  EXPECT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(token_, "Bearer secret");
}

TEST_F(TlsTest, AServerOfAnotherNameOrAuthorityIsNot) {
  Options options = TrustingOptions();
  for (const char* const name : {"other.test", ""}) {
    options.server_name = name;
    EXPECT_TRUE(absl::IsUnavailable(Client(options).FindPath({}).status())) << name;
  }
  options = TrustingOptions();
  options.ca_file = folder_.Write("other.pem", Authority().cert());
  EXPECT_TRUE(absl::IsUnavailable(Client(options).FindPath({}).status()));
}

TEST_F(TlsTest, AServerWithoutTlsIsNotTalkedTo) {
  FakeServer plain;
  plain.find_path = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
  Options options = TrustingOptions();
  options.target = plain.target();
  EXPECT_TRUE(absl::IsUnavailable(Client(options).FindPath({}).status()));
}

TEST_F(TlsTest, AServerMayWantACertificate) {
  Serve(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  Options options = TrustingOptions();
  EXPECT_TRUE(absl::IsUnavailable(Client(options).FindPath({}).status()));
  const Identity own = authority_.Issue("game-7");
  options.cert_file = folder_.Write("client.pem", own.cert);
  options.key_file = folder_.Write("client.key", own.key);
  const auto response = Client(options).FindPath({});
  EXPECT_TRUE(response.ok()) << response.status();
}

TEST_F(TlsTest, SeveralServersShareAName) {
  Options options = TrustingOptions();
  options.target += "," + options.target;
  EXPECT_TRUE(Client(options).FindPath({}).ok());
}

TEST_F(TlsTest, FilesMustBePem) {
  Options options = TrustingOptions();
  options.ca_file = "/nowhere/ca.pem";
  EXPECT_EQ(Client(options).status().message(), "/nowhere/ca.pem cannot be read");
  options.ca_file = folder_.Write("text.pem", "hello");
  const Client client(options);
  EXPECT_TRUE(absl::IsInvalidArgument(client.status()));
  EXPECT_THAT(std::string(client.status().message()), HasSubstr("text.pem is not a PEM file"));
}

}  // namespace
}  // namespace waystar::client
