// Calls that are made again, and several servers that take turns.
#include "client/retry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "tests/client/fake_server.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

class RetryTest : public ::testing::Test {
 protected:
  // Fails the first call with `code` and answers those after it.
  auto FailOnce(grpc::StatusCode code) {
    return [this, code](auto&, const auto&, auto&) {
      return calls_++ == 0 ? grpc::Status(code, "once") : grpc::Status::OK;
    };
  }

  Client MakeClient(bool retry = true) {
    Options options = server_.ClientOptions();
    options.retry = retry;
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
  expect_again(server_.validate_paths, [](const Client& client) { return client.ValidatePaths({}); });
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
  server_.update_map = fail;
  server_.create_map = fail;
  server_.delete_map = fail;
  server_.import_map = fail;
  const Client client = MakeClient();
  EXPECT_TRUE(absl::IsUnavailable(client.UpdateMap({}).status()));
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
  EXPECT_TRUE(absl::IsResourceExhausted(MakeClient().FindPath({}).status()));
  EXPECT_EQ(calls_, 1);
}

TEST_F(RetryTest, ABusyServerDoesNotGetUpdatesAgainWithoutAnId) {
  server_.update_map = RefuseTimes(1);
  EXPECT_TRUE(absl::IsResourceExhausted(MakeClient().UpdateMap({}).status()));
  EXPECT_EQ(calls_, 1);
}

TEST_F(RetryTest, UpdatesWithAnIdAreMadeAgain) {
  v1::UpdateMapRequest request;
  request.set_request_id("a");
  std::set<std::string> times;
  server_.update_map = [this, &times](auto&, const v1::UpdateMapRequest& update, auto&) {
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
  EXPECT_TRUE(MakeClient().UpdateMap(request).ok());
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

// Two servers that count their calls.
class SeveralServersTest : public ::testing::Test {
 protected:
  SeveralServersTest() {
    for (int i = 0; i < 2; ++i) {
      servers_[i] = std::make_unique<FakeServer>();
      servers_[i]->find_path = [this, i](auto&, const auto&, auto&) {
        ++calls_[i];
        return is_draining_[i] ? Refusal(grpc::StatusCode::UNAVAILABLE, "stopping", "DRAINING")
                               : grpc::Status::OK;
      };
    }
  }

  Options Both() {
    Options options = servers_[0]->ClientOptions();
    absl::StrAppend(&options.target, ",", servers_[1]->target());
    return options;
  }

  // Asks until both have answered: connections come up one after the other.
  void MeetBoth(const Client& client) {
    const Patience patience("an answer of each server");
    while ((calls_[0] == 0 || calls_[1] == 0) && patience.Lasts()) {
      ASSERT_TRUE(client.FindPath({}).ok());
    }
    calls_[0] = 0;
    calls_[1] = 0;
  }

  std::unique_ptr<FakeServer> servers_[2];
  std::atomic<int> calls_[2] = {0, 0};
  std::atomic<bool> is_draining_[2] = {false, false};
};

TEST_F(SeveralServersTest, TakeTurns) {
  const Client client(Both());
  MeetBoth(client);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(client.FindPath({}).ok());
  }
  EXPECT_EQ(calls_[0], 5);
  EXPECT_EQ(calls_[1], 5);
}

// Each of them would be another step away from the other.
TEST_F(SeveralServersTest, AreNotChangedOneByOne) {
  for (const auto& server : servers_) {
    server->update_map = [this](auto&, const auto&, auto&) {
      ++calls_[0];
      return grpc::Status::OK;
    };
    server->import_map = [this](auto&, const auto&, auto&) {
      ++calls_[0];
      return grpc::Status::OK;
    };
  }
  const Client both(Both());
  EXPECT_EQ(both.CreateMap({}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(both.UpdateMap({}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(both.ImportMap({}, "").status().code(), absl::StatusCode::kFailedPrecondition);
  const auto updates = both.StreamUpdates();
  EXPECT_FALSE(updates->Send({}));
  EXPECT_EQ(updates->Finish().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(calls_[0], 0);

  EXPECT_TRUE(Client(servers_[0]->ClientOptions()).UpdateMap({}).ok());
}

TEST_F(SeveralServersTest, OneThatIsDrainingOrGoneIsNotMissed) {
  const Client client(Both());
  MeetBoth(client);
  is_draining_[0] = true;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(client.FindPath({}).ok());
  }
  EXPECT_EQ(calls_[1], 4);
  servers_[0].reset();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(client.FindPath({}).ok());
  }
  EXPECT_EQ(calls_[1], 14);
}

TEST_F(SeveralServersTest, OneThatIsNotWellIsPassedOver) {
  const Client client(Both());
  MeetBoth(client);
  servers_[0]->SetServing(false);
  // Once the word has come through, all turns are the other's.
  const Patience passing("all turns to be the other's");
  for (int in_a_row = 0; in_a_row < 4 && passing.Lasts();) {
    const int before = calls_[0];
    ASSERT_TRUE(client.FindPath({}).ok());
    in_a_row = calls_[0] == before ? in_a_row + 1 : 0;
  }
  servers_[0]->SetServing(true);
  const int before = calls_[0];
  const Patience coming_back("a turn of the one that is well again");
  while (calls_[0] == before && coming_back.Lasts()) {
    ASSERT_TRUE(client.FindPath({}).ok());
  }
}

}  // namespace
}  // namespace waystar::client
