#include "client/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "client/errors.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/client/fake_server.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

class ClientTest : public ::testing::Test {
 protected:
  FakeServer server_;
};

TEST_F(ClientTest, SendsTheRequestAndReturnsTheAnswer) {
  server_.find_path = [](auto&, const v1::FindPathRequest& request, v1::FindPathResponse& response) {
    response.set_cost(request.goals(0).cell().x());
    return grpc::Status::OK;
  };
  v1::FindPathRequest request;
  request.add_goals()->mutable_cell()->set_x(7);
  const auto response = Client(server_.ClientOptions()).FindPath(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->cost(), 7);
}

TEST_F(ClientTest, ARefusalHasItsReasonAndField) {
  server_.find_path = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::OUT_OF_RANGE, "start is off the map", "OFF_MAP", "start");
  };
  const auto response = Client(server_.ClientOptions()).FindPath({});
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
  server_.update_map = handler;
  server_.import_map = handler;
  server_.export_map = handler;
  server_.check_health = handler;
  const Client client({.target = server_.target()});
  EXPECT_TRUE(client.FindPath({}).ok());
  EXPECT_TRUE(client.CreateMap({}).ok());
  EXPECT_TRUE(client.GetMap({}).ok());
  EXPECT_TRUE(client.ListMaps({}).ok());
  EXPECT_TRUE(client.DeleteMap({}).ok());
  EXPECT_TRUE(client.UpdateMap({}).ok());
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
  const auto response = Client({.target = server_.target(), .timeout = absl::Milliseconds(50)}).FindPath({});
  client_gave_up.set_value();
  EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ClientTest, RefusesAnswersThatAreTooLarge) {
  server_.find_path = [](auto&, const auto&, v1::FindPathResponse& response) {
    for (int i = 0; i < 1000; ++i) {
      response.mutable_path()->add_points()->set_x(i);
    }
    return grpc::Status::OK;
  };
  Options options = server_.ClientOptions();
  EXPECT_TRUE(Client(options).FindPath({}).ok());
  options.max_receive_bytes = 1000;
  EXPECT_EQ(Client(options).FindPath({}).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ClientConnectionTest, NobodyAtTheAddressIsUnavailable) {
  // A port that a server has given back may be another's by now.
  const auto response = Client({.target = "127.0.0.1:1", .timeout = kPatience}).GetMap({});
  EXPECT_EQ(response.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReasonOf(response.status()), "");
}

TEST(ErrorsTest, KeepsCodeAndMessage) {
  EXPECT_EQ(FromGrpc({grpc::StatusCode::ABORTED, "try again"}), absl::AbortedError("try again"));
  EXPECT_EQ(FromGrpc({grpc::StatusCode::INTERNAL, "oh", "\xff\xff"}), absl::InternalError("oh"))
      << "with malformed details";
  EXPECT_TRUE(FromGrpc(grpc::Status::OK).ok());
}

TEST(ErrorsTest, AFieldIsOptional) {
  const absl::Status status = FromGrpc(Refusal(grpc::StatusCode::UNAVAILABLE, "stopping", "DRAINING"));
  EXPECT_EQ(ReasonOf(status), "DRAINING");
  EXPECT_EQ(FieldOf(status), "");
}

TEST(ErrorsTest, ReasonsOfOtherDomainsAreNotOurs) {
  google::rpc::ErrorInfo info;
  info.set_domain("example.com");
  info.set_reason("OFF_MAP");
  google::rpc::Status details;
  static_cast<void>(details.add_details()->PackFrom(info));
  const absl::Status status = FromGrpc({grpc::StatusCode::UNAVAILABLE, "proxy", details.SerializeAsString()});
  EXPECT_EQ(ReasonOf(status), "");
}

}  // namespace
}  // namespace waystar::client
