#include "client/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "tests/client/fake_server.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

using ::waystar::testing::FakeServer;
using ::waystar::testing::kPatience;
using ::waystar::testing::Refusal;

class ClientTest : public ::testing::Test {
 protected:
  Client MakeClient(Options options = {.timeout = kPatience, .transfer_timeout = kPatience}) {
    options.target = server_.target();
    return Client(options);
  }

  FakeServer server_;
};

TEST_F(ClientTest, SendsTheRequestAndReturnsTheAnswer) {
  server_.find_path = [](auto&, const v1::FindPathRequest& request, v1::FindPathResponse& response) {
    response.set_cost(request.goals(0).cell().x());
    return grpc::Status::OK;
  };
  v1::FindPathRequest request;
  request.add_goals()->mutable_cell()->set_x(7);
  const auto response = MakeClient().FindPath(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->cost(), 7);
}

TEST_F(ClientTest, ARefusalHasItsReasonAndField) {
  server_.find_path = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::OUT_OF_RANGE, "start is off the map", "OFF_MAP", "start");
  };
  const auto response = MakeClient().FindPath({});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(response.status().message(), "start is off the map");
  EXPECT_EQ(ReasonOf(response.status()), "OFF_MAP");
  EXPECT_EQ(FieldOf(response.status()), "start");
}

TEST_F(ClientTest, EveryCallHasADeadline) {
  std::atomic<int> with_deadline = 0;
  const auto handler = [&](grpc::ServerContext& context, const auto&, auto&) {
    with_deadline += context.deadline() < std::chrono::system_clock::now() + std::chrono::seconds(100);
    return grpc::Status::OK;
  };
  server_.find_path = handler;
  server_.create_map = handler;
  server_.get_map = handler;
  server_.list_maps = handler;
  server_.delete_map = handler;
  server_.update_obstacles = handler;
  server_.import_map = handler;
  server_.export_map = handler;
  server_.check_health = handler;
  const Client client = MakeClient(Options());
  EXPECT_TRUE(client.FindPath({}).ok());
  EXPECT_TRUE(client.CreateMap({}).ok());
  EXPECT_TRUE(client.GetMap({}).ok());
  EXPECT_TRUE(client.ListMaps({}).ok());
  EXPECT_TRUE(client.DeleteMap({}).ok());
  EXPECT_TRUE(client.UpdateObstacles({}).ok());
  EXPECT_TRUE(client.ImportMap({}, "").ok());
  EXPECT_TRUE(client.ExportMap({}).ok());
  EXPECT_TRUE(client.CheckHealth({}).ok());
  EXPECT_EQ(with_deadline, 9);
}

TEST_F(ClientTest, GivesUpAfterTheTimeout) {
  std::promise<void> client_gave_up;
  auto released = client_gave_up.get_future().share();
  server_.find_path = [released](auto&, const auto&, auto&) {
    released.wait();
    return grpc::Status::OK;
  };
  Options options;
  options.timeout = absl::Milliseconds(50);
  const auto response = MakeClient(options).FindPath({});
  client_gave_up.set_value();
  EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ClientTest, RefusesAnswersThatAreTooLarge) {
  server_.find_path = [](auto&, const auto&, v1::FindPathResponse& response) {
    for (int i = 0; i < 1000; ++i) {
      response.add_points()->set_x(i);
    }
    return grpc::Status::OK;
  };
  Options options;
  options.timeout = kPatience;
  options.max_receive_bytes = 1000;
  EXPECT_EQ(MakeClient(options).FindPath({}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(MakeClient().FindPath({}).ok());
}

TEST_F(ClientTest, AsksForTheHealthOfAService) {
  server_.check_health = [](auto&, const grpc::health::v1::HealthCheckRequest& request,
                            grpc::health::v1::HealthCheckResponse& response) {
    response.set_status(request.service() == "waystar.v1.PathService"
                            ? grpc::health::v1::HealthCheckResponse::SERVING
                            : grpc::health::v1::HealthCheckResponse::NOT_SERVING);
    return grpc::Status::OK;
  };
  grpc::health::v1::HealthCheckRequest request;
  request.set_service("waystar.v1.PathService");
  const auto response = MakeClient().CheckHealth(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status(), grpc::health::v1::HealthCheckResponse::SERVING);
}

TEST(ClientConnectionTest, NobodyAtTheAddressIsUnavailable) {
  Options options;
  // A port that a server has given back may be another's by now.
  options.target = "127.0.0.1:1";
  options.timeout = kPatience;
  const auto response = Client(options).GetMap({});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReasonOf(response.status()), "");
}

}  // namespace
}  // namespace waystar::client
