#include "client/retry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>

#include "client/client.h"
#include "tests/client/fake_server.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

using ::waystar::testing::FakeServer;
using ::waystar::testing::kPatience;
using ::waystar::testing::Refusal;

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
    options.timeout = kPatience;
    options.transfer_timeout = kPatience;
    return Client(options);
  }

  // Refuses the first `times` calls with a delay of a millisecond and answers those after them.
  auto RefuseTimes(int times) {
    return [this, times](auto&, const auto&, auto&) {
      return calls_++ < times ? Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "busy", "QUEUE_FULL", "",
                                        absl::Milliseconds(1))
                              : grpc::Status::OK;
    };
  }

  std::atomic<int> calls_ = 0;
  FakeServer server_;
};

TEST_F(RetryTest, WhatReadsIsCalledAgain) {
  const auto expect_again = [this](auto& handler, auto call) {
    calls_ = 0;
    handler = FailOnce(grpc::StatusCode::UNAVAILABLE);
    EXPECT_TRUE(call(MakeClient()).ok());
    EXPECT_EQ(calls_, 2);
  };
  expect_again(server_.find_path, [](const Client& client) { return client.FindPath({}); });
  expect_again(server_.validate_path, [](const Client& client) { return client.ValidatePath({}); });
  expect_again(server_.get_map, [](const Client& client) { return client.GetMap({}); });
  expect_again(server_.list_maps, [](const Client& client) { return client.ListMaps({}); });
  expect_again(server_.export_map, [](const Client& client) { return client.ExportMap({}); });
  expect_again(server_.check_health, [](const Client& client) { return client.CheckHealth({}); });
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

TEST_F(RetryTest, ACallThatComesToAClosingServerIsMadeAgain) {
  server_.find_path = FailOnce(grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(MakeClient().FindPath({}).ok());
  EXPECT_EQ(calls_, 2);
}

TEST_F(RetryTest, OtherErrorsAreFinal) {
  server_.find_path = FailOnce(grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(absl::IsResourceExhausted(MakeClient().FindPath({}).status()));
  EXPECT_EQ(calls_, 1);
}

TEST_F(RetryTest, ABusyServerIsAskedAgain) {
  server_.find_path = RefuseTimes(3);
  EXPECT_TRUE(MakeClient().FindPath({}).ok());
  EXPECT_EQ(calls_, 4);
}

TEST_F(RetryTest, ABusyServerIsNotAskedForEver) {
  server_.find_path = RefuseTimes(1000);
  const auto response = MakeClient().FindPath({});
  EXPECT_TRUE(absl::IsResourceExhausted(response.status()));
  EXPECT_EQ(ReasonOf(response.status()), "QUEUE_FULL");
  EXPECT_EQ(calls_, 4);
}

TEST_F(RetryTest, ADelayPastTheDeadlineIsNotWaitedFor) {
  server_.find_path = [this](auto&, const auto&, auto&) {
    ++calls_;
    return Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "busy", "QUEUE_FULL", "", absl::Hours(1));
  };
  Options options;
  options.target = server_.target();
  options.timeout = kPatience;
  EXPECT_TRUE(absl::IsResourceExhausted(Client(options).FindPath({}).status()));
  EXPECT_EQ(calls_, 1);
}

TEST_F(RetryTest, ABusyServerDoesNotGetUpdatesAgainWithoutAnId) {
  server_.update_obstacles = RefuseTimes(1);
  EXPECT_TRUE(absl::IsResourceExhausted(MakeClient().UpdateObstacles({}).status()));
  EXPECT_EQ(calls_, 1);
}

TEST_F(RetryTest, UpdatesWithAnIdAreMadeAgain) {
  v1::UpdateObstaclesRequest request;
  request.set_request_id("a");
  std::set<std::string> times;
  server_.update_obstacles = [this, &times](auto&, const v1::UpdateObstaclesRequest& update, auto&) {
    EXPECT_EQ(update.request_id(), "a");
    // All tries bear the time of the first.
    EXPECT_GT(update.request_time().seconds(), 1'600'000'000);
    times.insert(update.request_time().SerializeAsString());
    switch (calls_++) {
      case 0:
        return Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "busy", "UPDATES_BUSY", "",
                       absl::Milliseconds(1));
      case 1:
        return grpc::Status(grpc::StatusCode::UNAVAILABLE, "lost");
      default:
        return grpc::Status::OK;
    }
  };
  EXPECT_TRUE(MakeClient().UpdateObstacles(request).ok());
  EXPECT_EQ(times.size(), 1U);
  EXPECT_EQ(calls_, 3);
}

TEST_F(RetryTest, WhileMostCallsFailNoneIsMadeAgain) {
  server_.find_path = RefuseTimes(1'000'000);
  const Client client = MakeClient();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(absl::IsResourceExhausted(client.FindPath({}).status()));
  }
  // After twelve calls of four and one of three, that used half of the budget, none is made again.
  EXPECT_EQ(calls_, 58);
}

TEST(RetryBudgetTest, SuccessesBringRepetitionsBack) {
  RetryBudget budget;
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(budget.Fail());
  }
  EXPECT_FALSE(budget.Fail());
  for (int i = 0; i < 10; ++i) {
    budget.Succeed();
  }
  EXPECT_FALSE(budget.Fail());
  for (int i = 0; i < 20; ++i) {
    budget.Succeed();
  }
  EXPECT_TRUE(budget.Fail());
}

TEST_F(RetryTest, CanBeSwitchedOff) {
  server_.find_path = FailOnce(grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(absl::IsUnavailable(MakeClient(/*retry=*/false).FindPath({}).status()));
  EXPECT_EQ(calls_, 1);
}

}  // namespace
}  // namespace waystar::client
