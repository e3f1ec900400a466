#include "server/service/admission/query_costs.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/batch.h"
#include "gmock/gmock.h"
#include "tests/service/test_server.h"

namespace waystar::rpc {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::CellAt;
using testing::PathRequest;

v1::FindPathRequest Query(const std::string& map, int distance) {
  return PathRequest(map, CellAt(0, 0), CellAt(distance, 0));
}

v1::FindPathRequest WithProfile(v1::FindPathRequest query) {
  query.mutable_agent()->set_profile_name("tank");
  return query;
}

v1::FindPathRequest WithFootprint(v1::FindPathRequest query) {
  query.mutable_agent()->set_footprint(3);
  return query;
}

// Returns whether no two of the kinds of queries below share a slot on that map.
bool HasKindsApart(const std::string& map) {
  const std::vector<v1::FindPathRequest> kinds = {Query(map, 10), Query(map, 100), Query(map, 1000),
                                                  WithProfile(Query(map, 10)), WithFootprint(Query(map, 10))};
  for (const v1::FindPathRequest& known : kinds) {
    const auto costs = std::make_unique<QueryCosts>();
    costs->Note(known, microseconds(1));
    if (std::ranges::count_if(kinds, [&](const auto& kind) { return costs->LaneOf(kind) == Lane::kHere; }) >
        1) {
      return false;
    }
  }
  return true;
}

class QueryCostsTest : public ::testing::Test {
 protected:
  // Which kinds share a slot differs from process to process, as absl::Hash does.
  QueryCostsTest() {
    for (int i = 0; !HasKindsApart(map_); ++i) {
      map_ = absl::StrCat("arena-", i);
    }
  }

  std::string map_ = "arena";
  const std::unique_ptr<QueryCosts> costs_ = std::make_unique<QueryCosts>();
};

TEST_F(QueryCostsTest, WhatIsUnknownBeginsWithSmallWorkers) {
  EXPECT_EQ(costs_->LaneOf(Query(map_, 10)), Lane::kSmall);
}

TEST_F(QueryCostsTest, GoesByWhatTheKindTook) {
  costs_->Note(Query(map_, 10), microseconds(20));
  costs_->Note(Query(map_, 100), milliseconds(1));
  costs_->Note(Query(map_, 1000), milliseconds(50));
  EXPECT_EQ(costs_->LaneOf(Query(map_, 12)), Lane::kHere);
  EXPECT_EQ(costs_->LaneOf(Query(map_, 120)), Lane::kSmall);
  EXPECT_EQ(costs_->LaneOf(Query(map_, 900)), Lane::kLarge);
}

TEST_F(QueryCostsTest, DrawsThatWalkTheMapMakeWayForSmallCalls) {
  v1::SamplePlacesRequest near_home;
  near_home.set_map(map_);
  near_home.mutable_region()->set_width(8);
  near_home.mutable_region()->set_height(8);
  v1::SamplePlacesRequest anywhere;
  anywhere.set_map(map_);
  *anywhere.mutable_reachable_from() = testing::LocationAt(0, 0);
  EXPECT_EQ(costs_->LaneOf(anywhere), Lane::kSmall);
  costs_->Note(near_home, microseconds(5));
  costs_->Note(anywhere, milliseconds(300));
  EXPECT_EQ(costs_->LaneOf(anywhere), Lane::kLarge);
  EXPECT_EQ(costs_->LaneOf(near_home), Lane::kSmall);
}

TEST_F(QueryCostsTest, ARareLongSearchDoesNotDriveTheSmallOnesOut) {
  for (int i = 0; i < 100; ++i) {
    costs_->Note(Query(map_, 10), microseconds(10));
  }
  costs_->Note(Query(map_, 10), milliseconds(50));
  EXPECT_EQ(costs_->LaneOf(Query(map_, 10)), Lane::kHere);
}

TEST_F(QueryCostsTest, FollowsAKindThatBecomesDear) {
  costs_->Note(Query(map_, 10), microseconds(10));
  for (int i = 0; i < 30; ++i) {
    costs_->Note(Query(map_, 10), milliseconds(50));
  }
  EXPECT_EQ(costs_->LaneOf(Query(map_, 10)), Lane::kLarge);
}

TEST_F(QueryCostsTest, ProfilesAndOverlaysAreKindsOfTheirOwn) {
  costs_->Note(Query(map_, 10), microseconds(10));
  EXPECT_EQ(costs_->LaneOf(WithProfile(Query(map_, 10))), Lane::kSmall);
  EXPECT_EQ(costs_->LaneOf(WithFootprint(Query(map_, 10))), Lane::kSmall);
}

TEST_F(QueryCostsTest, ABatchGoesByTheSumOfItsQueries) {
  costs_->Note(Query(map_, 10), microseconds(20));
  v1::FindPathsRequest batch;
  batch.set_map(map_);
  for (int i = 0; i < 50; ++i) {
    client::AddEnds(Query(map_, 10), batch);
  }
  EXPECT_EQ(costs_->LaneOf(batch), Lane::kSmall);
  for (int i = 0; i < 100; ++i) {
    client::AddEnds(Query(map_, 10), batch);
  }
  EXPECT_EQ(costs_->LaneOf(batch), Lane::kLarge);
}

TEST_F(QueryCostsTest, FarCornersOfTheRangeAreNoTrouble) {
  v1::FindPathRequest query = PathRequest(map_, CellAt(-2147483647 - 1, 0), CellAt(2147483647, 0));
  costs_->Note(query, std::chrono::nanoseconds(0));
  EXPECT_EQ(costs_->LaneOf(query), Lane::kHere);
}

}  // namespace
}  // namespace waystar::rpc
