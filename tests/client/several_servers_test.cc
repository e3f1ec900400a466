#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "tests/client/fake_server.h"
#include "tests/testing/patience.h"

namespace waystar::client {
namespace {

using ::waystar::testing::FakeServer;
using ::waystar::testing::kPatience;
using ::waystar::testing::Patience;
using ::waystar::testing::Refusal;

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
    Options options;
    options.target = absl::StrCat(servers_[0]->target(), ",", servers_[1]->target());
    options.timeout = kPatience;
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
    server->update_obstacles = [this](auto&, const auto&, auto&) {
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
  EXPECT_EQ(both.UpdateObstacles({}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(both.ImportMap({}, "").status().code(), absl::StatusCode::kFailedPrecondition);
  const auto updates = both.StreamObstacleUpdates();
  EXPECT_FALSE(updates->Send({}));
  EXPECT_EQ(updates->Finish().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(calls_[0], 0);

  Options first = Both();
  first.target = servers_[0]->target();
  EXPECT_TRUE(Client(first).UpdateObstacles({}).ok());
}

TEST_F(SeveralServersTest, OneThatIsGoneIsNotMissed) {
  const Client client(Both());
  MeetBoth(client);
  servers_[0].reset();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(client.FindPath({}).ok());
  }
  EXPECT_EQ(calls_[1], 10);
}

TEST_F(SeveralServersTest, WhatADrainingOneRefusesTheOtherAnswers) {
  const Client client(Both());
  MeetBoth(client);
  is_draining_[0] = true;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(client.FindPath({}).ok());
  }
  EXPECT_EQ(calls_[1], 4);
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
