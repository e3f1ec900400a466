#include <gtest/gtest.h>

#include <atomic>

#include "client/client.h"
#include "tests/client/fake_server.h"

namespace waystar::client {
namespace {

using ::waystar::testing::FakeServer;

class RetryTest : public ::testing::Test {
 protected:
  // Fails the first call with `code` and answers those after it.
  auto FailOnce(grpc::StatusCode code) {
    return [this, code](auto&, const auto&, auto&) {
      return calls_++ == 0 ? grpc::Status(code, "once") : grpc::Status::OK;
    };
  }

  Client MakeClient(bool retry = true) {
    Options options;
    options.target = server_.target();
    options.retry = retry;
    return Client(options);
  }

  std::atomic<int> calls_ = 0;
  FakeServer server_;
};

TEST_F(RetryTest, FindPathIsCalledAgain) {
  server_.find_path = FailOnce(grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(MakeClient().FindPath({}).ok());
  EXPECT_EQ(calls_, 2);
}

TEST_F(RetryTest, TraceSearchIsCalledAgain) {
  server_.trace_search = [this](auto&, const auto&, std::vector<v1::TraceSearchResponse>& messages) {
    messages.resize(calls_);
    if (calls_++ == 0) {
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "once");
    }
    messages[0].mutable_result();
    return grpc::Status::OK;
  };
  EXPECT_TRUE(MakeClient().TraceSearch({}, [](const v1::SearchEvent&) {}).ok());
  EXPECT_EQ(calls_, 2);
}

TEST_F(RetryTest, GetMapIsCalledAgain) {
  server_.get_map = FailOnce(grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(MakeClient().GetMap({}).ok());
  EXPECT_EQ(calls_, 2);
}

TEST_F(RetryTest, ListMapsIsCalledAgain) {
  server_.list_maps = FailOnce(grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(MakeClient().ListMaps({}).ok());
  EXPECT_EQ(calls_, 2);
}

TEST_F(RetryTest, ExportMapIsCalledAgain) {
  server_.export_map = FailOnce(grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(MakeClient().ExportMap({}).ok());
  EXPECT_EQ(calls_, 2);
}

TEST_F(RetryTest, CheckHealthIsCalledAgain) {
  server_.check_health = FailOnce(grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(MakeClient().CheckHealth({}).ok());
  EXPECT_EQ(calls_, 2);
}

TEST_F(RetryTest, WhatChangesAMapIsCalledOnce) {
  const auto fail = [this](auto&, const auto&, auto&) {
    ++calls_;
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "always");
  };
  server_.update_obstacles = fail;
  server_.create_map = fail;
  server_.delete_map = fail;
  server_.import_map = fail;
  const Client client = MakeClient();
  EXPECT_TRUE(absl::IsUnavailable(client.UpdateObstacles({}).status()));
  EXPECT_TRUE(absl::IsUnavailable(client.CreateMap({}).status()));
  EXPECT_TRUE(absl::IsUnavailable(client.DeleteMap({}).status()));
  EXPECT_TRUE(absl::IsUnavailable(client.ImportMap({}, "..").status()));
  EXPECT_EQ(calls_, 4);
}

TEST_F(RetryTest, OtherErrorsAreFinal) {
  server_.find_path = FailOnce(grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(absl::IsResourceExhausted(MakeClient().FindPath({}).status()));
  EXPECT_EQ(calls_, 1);
}

TEST_F(RetryTest, CanBeSwitchedOff) {
  server_.find_path = FailOnce(grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(absl::IsUnavailable(MakeClient(/*retry=*/false).FindPath({}).status()));
  EXPECT_EQ(calls_, 1);
}

}  // namespace
}  // namespace waystar::client
