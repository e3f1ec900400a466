#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "client/client.h"
#include "tests/client/fake_server.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

using ::waystar::testing::FakeServer;
using ::waystar::testing::kPatience;

class ConnectionTest : public ::testing::Test {
 protected:
  ConnectionTest() {
    server_.find_path = [this](grpc::ServerContext& context, const auto&, auto&) {
      const auto token = context.client_metadata().find("authorization");
      token_ = token == context.client_metadata().end()
                   ? "none"
                   : std::string(token->second.data(), token->second.size());
      return grpc::Status::OK;
    };
  }

  Options Here() {
    Options options;
    options.target = server_.target();
    options.timeout = kPatience;
    options.stream_timeout = kPatience;
    return options;
  }

  FakeServer server_;
  std::string token_;
};

absl::StatusCode CodeOf(const Options& options) { return Client(options).status().code(); }

TEST_F(ConnectionTest, ATokenIsSentOnThisMachine) {
  Options options = Here();
  EXPECT_TRUE(Client(options).FindPath({}).ok());
  EXPECT_EQ(token_, "none");
  options.token = "secret";
  EXPECT_TRUE(Client(options).FindPath({}).ok());
  EXPECT_EQ(token_, "Bearer secret");
}

TEST_F(ConnectionTest, StreamsBearTheTokenToo) {
  std::string token;
  server_.watch_map = [&token](grpc::ServerContext& context, const auto&, auto&) {
    const auto found = context.client_metadata().find("authorization");
    token = found == context.client_metadata().end()
                ? "none"
                : std::string(found->second.data(), found->second.size());
    return grpc::Status::OK;
  };
  Options options = Here();
  options.token = "secret";
  const Client client(options);
  const auto watch = client.WatchMap({});
  v1::WatchMapResponse event;
  EXPECT_FALSE(watch->Next(event));
  EXPECT_EQ(token, "Bearer secret");
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
  Options options = Here();
  options.token = "two words";
  const Client client(options);
  const auto updates = client.StreamObstacleUpdates();
  EXPECT_FALSE(updates->Send({}));
  updates->EndSending();
  v1::StreamObstacleUpdatesResponse answer;
  EXPECT_FALSE(updates->Receive(answer));
  EXPECT_EQ(updates->Finish(), client.status());
  v1::WatchPathResponse event;
  const auto watch = client.WatchPath({});
  EXPECT_FALSE(watch->Next(event));
  EXPECT_EQ(watch->Finish(), client.status());
}

TEST_F(ConnectionTest, RefusesOptionsThatMakeNoSense) {
  Options options = Here();
  options.token = "line\n";
  EXPECT_EQ(CodeOf(options), absl::StatusCode::kInvalidArgument);
  options = Here();
  options.server_name = "maps";
  EXPECT_EQ(CodeOf(options), absl::StatusCode::kInvalidArgument);
  options = Here();
  options.tls = true;
  options.cert_file = "mine.pem";
  EXPECT_EQ(CodeOf(options), absl::StatusCode::kInvalidArgument);
  options = Here();
  options.tls = true;
  options.target = "127.0.0.1:1,127.0.0.1:2";
  EXPECT_EQ(CodeOf(options), absl::StatusCode::kInvalidArgument);
}

TEST(WaitForReadyTest, ACallWaitsForAServer) {
  auto server = std::make_unique<FakeServer>();
  server->SetServing(false);
  Options options;
  options.target = server->target();
  options.timeout = kPatience;
  EXPECT_TRUE(absl::IsUnavailable(Client(options).FindPath({}).status()));

  server->find_path = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
  options.wait_for_ready = true;
  const Client client(options);
  auto answer = std::async(std::launch::async, [&client] { return client.FindPath({}); });
  server->SetServing(true);
  EXPECT_TRUE(answer.get().ok());
}

}  // namespace
}  // namespace waystar::client
