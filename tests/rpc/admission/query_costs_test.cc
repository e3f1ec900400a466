#include "server/rpc/admission/query_costs.h"

#include <chrono>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"

namespace waystar::rpc {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::CellAt;
using testing::PathRequest;

v1::FindPathRequest Query(const std::string& map, int distance) {
  return PathRequest(map, CellAt(0, 0), CellAt(distance, 0));
}

class QueryCostsTest : public ::testing::Test {
 protected:
  const std::unique_ptr<QueryCosts> costs_ = std::make_unique<QueryCosts>();
};

TEST_F(QueryCostsTest, WhatIsUnknownBeginsWithSmallWorkers) {
  EXPECT_EQ(costs_->LaneOf(Query("arena", 10)), Lane::kSmall);
}

TEST_F(QueryCostsTest, GoesByWhatTheKindTook) {
  costs_->Note(Query("arena", 10), microseconds(20));
  costs_->Note(Query("arena", 100), milliseconds(1));
  costs_->Note(Query("arena", 1000), milliseconds(50));
  EXPECT_EQ(costs_->LaneOf(Query("arena", 12)), Lane::kHere);
  EXPECT_EQ(costs_->LaneOf(Query("arena", 120)), Lane::kSmall);
  EXPECT_EQ(costs_->LaneOf(Query("arena", 900)), Lane::kLarge);
}

TEST_F(QueryCostsTest, ARareLongSearchDoesNotDriveTheSmallOnesOut) {
  for (int i = 0; i < 100; ++i) {
    costs_->Note(Query("arena", 10), microseconds(10));
  }
  costs_->Note(Query("arena", 10), milliseconds(50));
  EXPECT_EQ(costs_->LaneOf(Query("arena", 10)), Lane::kHere);
}

TEST_F(QueryCostsTest, FollowsAKindThatBecomesDear) {
  costs_->Note(Query("arena", 10), microseconds(10));
  for (int i = 0; i < 30; ++i) {
    costs_->Note(Query("arena", 10), milliseconds(50));
  }
  EXPECT_EQ(costs_->LaneOf(Query("arena", 10)), Lane::kLarge);
}

TEST_F(QueryCostsTest, ProfilesAndOverlaysAreKindsOfTheirOwn) {
  costs_->Note(Query("arena", 10), microseconds(10));
  v1::FindPathRequest query = Query("arena", 10);
  query.set_profile_name("tank");
  EXPECT_EQ(costs_->LaneOf(query), Lane::kSmall);
  query = Query("arena", 10);
  query.set_footprint(3);
  EXPECT_EQ(costs_->LaneOf(query), Lane::kSmall);
}

TEST_F(QueryCostsTest, ABatchGoesByTheSumOfItsQueries) {
  costs_->Note(Query("arena", 10), microseconds(20));
  v1::FindPathsRequest batch;
  batch.set_map("arena");
  for (int i = 0; i < 50; ++i) {
    *batch.add_queries() = Query("arena", 10);
  }
  EXPECT_EQ(costs_->LaneOf(batch), Lane::kSmall);
  for (int i = 0; i < 100; ++i) {
    *batch.add_queries() = Query("arena", 10);
  }
  EXPECT_EQ(costs_->LaneOf(batch), Lane::kLarge);
}

TEST_F(QueryCostsTest, FarCornersOfTheRangeAreNoTrouble) {
  v1::FindPathRequest query = PathRequest("arena", CellAt(-2147483647 - 1, 0), CellAt(2147483647, 0));
  costs_->Note(query, std::chrono::nanoseconds(0));
  EXPECT_EQ(costs_->LaneOf(query), Lane::kHere);
}

}  // namespace
}  // namespace waystar::rpc
