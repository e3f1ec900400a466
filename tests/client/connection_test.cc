// Targets, and connections to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "client/client.h"
#include "client/target.h"
#include "tests/client/fake_server.h"
#include "tests/testing/certificates.h"
#include "tests/testing/own_folder.h"

namespace waystar::client {
namespace {

using ::testing::HasSubstr;

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
  v1::WatchMapResponse event;
  const auto watch = client.WatchMap({});
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

TEST(TargetTest, OneServerStaysAsItIs) {
  for (const char* const target :
       {"localhost:7450", "[::1]:7450", "unix:/run/waystar.sock", "unix-abstract:waystar", "dns:///maps:7450",
        "dns://8.8.8.8/maps", "xds:///maps", "ipv4:10.0.0.1:1,10.0.0.2:2"}) {
    EXPECT_EQ(*GrpcTarget(target), target);
  }
}

TEST(TargetTest, AServerWithoutAPortHasTheUsualOne) {
  EXPECT_EQ(*GrpcTarget("localhost"), "localhost:7450");
  EXPECT_EQ(*GrpcTarget("10.0.0.1"), "10.0.0.1:7450");
  EXPECT_EQ(*GrpcTarget("[::1]"), "[::1]:7450");
  EXPECT_EQ(*GrpcTarget("::1"), "[::1]:7450");
  EXPECT_EQ(*GrpcTarget("dns:///maps"), "dns:///maps:7450");
  EXPECT_EQ(*GrpcTarget("10.0.0.1,10.0.0.2:7451"), "ipv4:10.0.0.1:7450,10.0.0.2:7451");
}

TEST(TargetTest, RefusesWhatIsNoPort) {
  for (const char* const target : {"localhost:0", "localhost:65536", "localhost:99999", "localhost:-1",
                                   "localhost:port", "[::1]:99999", "dns:///maps:x"}) {
    const absl::Status status = GrpcTarget(target).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << target;
    EXPECT_NE(status.message().find("from 1 to 65535"), std::string::npos) << status;
  }
  for (const char* const target : {":7450", "http://localhost:7450", "https://maps", "[x]:1", "[::1"}) {
    EXPECT_EQ(GrpcTarget(target).status().code(), absl::StatusCode::kInvalidArgument) << target;
  }
}

TEST(TargetTest, AListIsOfOneFamily) {
  EXPECT_EQ(*GrpcTarget("10.0.0.1:7450,10.0.0.2:7451"), "ipv4:10.0.0.1:7450,10.0.0.2:7451");
  EXPECT_EQ(*GrpcTarget("[::1]:7450, [fe80::2]:7451"), "ipv6:[::1]:7450,[fe80::2]:7451");
  EXPECT_EQ(GrpcTarget("10.0.0.1:7450,[::1]:7450").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(TargetTest, RefusesListsOfOtherThings) {
  for (const char* const target : {"", ",", "10.0.0.1:7450,", "a:1,b:2", "10.0.0.1:0,10.0.0.2:1",
                                   "10.0.0.1:7450,10.0.0.2:99999", "[::1,[::2]:1"}) {
    EXPECT_EQ(GrpcTarget(target).status().code(), absl::StatusCode::kInvalidArgument) << target;
  }
}

TEST(TargetTest, KnowsThisMachine) {
  for (const char* const target :
       {"localhost:7450", "LOCALHOST:1", "127.0.0.1:7450", "127.9.9.9:1", "[::1]:7450", "unix:/run/x",
        "dns:///localhost:1", "ipv4:127.0.0.1:1,127.0.0.1:2", "127.0.0.1:1,127.0.0.1:2"}) {
    EXPECT_TRUE(IsOnThisMachine(target)) << target;
  }
  for (const char* const target :
       {"", "10.0.0.1:7450", "127.0.0.1.evil.example:7450", "127.evil:1", "localhost.evil:1",
        "127.0.0.1:1,10.0.0.1:1", "dns://8.8.8.8/localhost:1", "[fe80::1]:1", "localhost@evil:1"}) {
    EXPECT_FALSE(IsOnThisMachine(target)) << target;
  }
}

TEST(TargetTest, KnowsTheFirstServer) {
  for (const auto& [target, host, port] : {std::tuple("localhost:1", "localhost", 1),
                                           {"dns:///localhost:1", "localhost", 1},
                                           {"[::1]:80", "::1", 80},
                                           {"maps", "maps", kDefaultPort},
                                           {"10.0.0.1:1,10.0.0.2:2", "10.0.0.1", 1}}) {
    const std::optional<Endpoint> endpoint = FirstEndpoint(target);
    ASSERT_TRUE(endpoint.has_value()) << target;
    EXPECT_EQ(endpoint->host, host);
    EXPECT_EQ(endpoint->port, port);
  }
  EXPECT_FALSE(FirstEndpoint("unix:/run/waystar.sock").has_value());
  EXPECT_FALSE(FirstEndpoint("xds:///maps").has_value());
}

TEST(StandsForSeveralServersTest, ListsAndNamesToResolveDo) {
  for (const char* const target : {"10.0.0.1:7450,10.0.0.2:7450", "ipv4:10.0.0.1:1,10.0.0.2:2",
                                   "dns:///maps:7450", "dns://8.8.8.8/maps", "xds:///maps"}) {
    EXPECT_TRUE(StandsForSeveralServers(target)) << target;
  }
  for (const char* const target :
       {"localhost:7450", "maps:7450", "10.0.0.1", "[::1]:7450", "ipv4:10.0.0.1:1", "unix:/tmp/a,b"}) {
    EXPECT_FALSE(StandsForSeveralServers(target)) << target;
  }
}

TEST(IsAddressTest, TellsAddressesFromNames) {
  for (const char* const target : {"10.0.0.1", "10.0.0.1:1", "[::1]:7450", "ipv4:10.0.0.1:1"}) {
    EXPECT_TRUE(IsAddress(target)) << target;
  }
  for (const char* const target :
       {"localhost:7450", "maps", "10.0.0.1,10.0.0.2", "unix:/tmp/a", "xds:///1.2.3.4"}) {
    EXPECT_FALSE(IsAddress(target)) << target;
  }
}

}  // namespace
}  // namespace waystar::client
