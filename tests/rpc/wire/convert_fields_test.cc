#include "server/rpc/wire/convert_fields.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;

// Of requests that ask for a region of 3 x 4 from (1, 2) on.
template <typename Request>
Request InRegion() {
  Request request;
  request.mutable_region()->set_x(1);
  request.mutable_region()->set_y(2);
  request.mutable_region()->set_width(3);
  request.mutable_region()->set_height(4);
  return request;
}

constexpr core::Rectangle kRegion = {1, 2, 3, 4};

TEST(ToReachQueryTest, EveryFieldIsRead) {
  auto request = InRegion<v1::FindReachableRequest>();
  EXPECT_THAT(ToReachQuery(request, HexCoordinates()),
              IsError(kInvalid, ErrorReason::kMissingField, "start"));
  *request.mutable_start() = CellAt(2, 3);
  EXPECT_EQ(ToReachQuery(request, HexCoordinates())->max_cost, std::nullopt);
  EXPECT_EQ(ToReachQuery(request, HexCoordinates())->sense, core::FloodSense::kFromSeeds);
  request.set_max_cost(2.5);
  request.set_towards_start(true);
  request.set_want_costs(true);
  const auto query = ToReachQuery(request, HexCoordinates());
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ(query->start, (core::Cell{2, 3}));
  EXPECT_EQ(query->max_cost, 2.5);
  EXPECT_EQ(query->region, kRegion);
  EXPECT_EQ(query->sense, core::FloodSense::kToSeeds);
  EXPECT_TRUE(query->want_costs);
}

TEST(ToFlowFieldQueryTest, EveryFieldIsRead) {
  const std::vector<core::Cell> goals = {{2, 3}};
  EXPECT_EQ(ToFlowFieldQuery({}, goals).region, std::nullopt);
  auto request = InRegion<v1::ComputeFlowFieldRequest>();
  request.set_max_cost(2.5);
  request.set_want_costs(true);
  const core::FlowFieldQuery query = ToFlowFieldQuery(request, goals);
  EXPECT_THAT(query.goals, ElementsAre(core::Cell{2, 3}));
  EXPECT_EQ(query.max_cost, 2.5);
  EXPECT_EQ(query.region, kRegion);
  EXPECT_TRUE(query.want_costs);
}

TEST(ToSampleQueryTest, EveryFieldIsRead) {
  auto request = InRegion<v1::SampleCellsRequest>();
  EXPECT_EQ(ToSampleQuery(request, HexCoordinates()).reachable_from, std::nullopt);
  request.set_count(12);
  request.set_seed(3);
  request.set_distinct(true);
  *request.mutable_reachable_from() = CellAt(2, 3);
  const core::SampleQuery query = ToSampleQuery(request, HexCoordinates());
  EXPECT_EQ(query.count, 12);
  EXPECT_EQ(query.seed, 3U);
  EXPECT_TRUE(query.distinct);
  EXPECT_EQ(query.region, kRegion);
  EXPECT_EQ(query.reachable_from, (core::Cell{2, 3}));
}

TEST(ToCellPairsTest, PairsHaveTwoEnds) {
  v1::CheckReachabilityRequest request;
  for (const int x : {0, 5}) {
    v1::CellPair& pair = *request.add_pairs();
    *pair.mutable_start() = CellAt(x, 1);
    *pair.mutable_goal() = CellAt(x, 2);
  }
  const auto pairs = ToCellPairs(request, HexCoordinates());
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  ASSERT_EQ(pairs->size(), 2U);
  EXPECT_EQ(pairs->back().start, (core::Cell{5, 1}));
  EXPECT_EQ(pairs->back().goal, (core::Cell{5, 2}));
  request.mutable_pairs(1)->clear_goal();
  EXPECT_THAT(ToCellPairs(request, HexCoordinates()),
              IsError(kInvalid, ErrorReason::kMissingField, "pairs[1].goal"));
  request.mutable_pairs(1)->clear_start();
  EXPECT_THAT(ToCellPairs(request, HexCoordinates()),
              IsError(kInvalid, ErrorReason::kMissingField, "pairs[1].start"));
}

TEST(FillReachableTest, EveryFieldIsTold) {
  v1::FindReachableResponse response;
  FillReachable({.bounds = kRegion, .bits = {0x0F, 0x01}, .costs = {1.0F, 0.5F}, .count = 5}, response);
  EXPECT_EQ(response.bounds().width(), 3);
  EXPECT_EQ(response.cells(), std::string("\x0F\x01", 2));
  EXPECT_THAT(response.costs(), ElementsAre(1.0F, 0.5F));
  EXPECT_EQ(response.count(), 5);
}

TEST(FillFlowFieldTest, EveryFieldIsTold) {
  const core::Portal gap{.id = "gap"};
  const core::FlowField field = {.region = kRegion,
                                 .directions = {core::FlowField::kAtGoal, core::FlowField::kThroughPortal, 0},
                                 .costs = {0.0F, 1.0F, core::FlowField::kUnreachable},
                                 .portals = {{.cell = {1, 3}, .portal = &gap, .arrival = {3, 5}}}};
  v1::ComputeFlowFieldResponse response;
  FillFlowField(field, HexCoordinates(), response);
  EXPECT_EQ(response.region().height(), 4);
  EXPECT_EQ(response.directions(), std::string("\x09\x0A\x00", 3));
  EXPECT_THAT(response.costs(), ElementsAre(0.0F, 1.0F, -1.0F));
  ASSERT_EQ(response.portals_size(), 1);
  EXPECT_EQ(response.portals(0).portal(), "gap");
  EXPECT_EQ(response.portals(0).cell().y(), 3);
  EXPECT_EQ(response.portals(0).arrival().x(), 3);
}

TEST(FillRayHitTest, EveryFieldIsTold) {
  core::RayHit hit = {.is_blocked = true, .cell = {2, 1}, .position = {2.25, 0.5}, .fraction = 0.25};
  v1::CastRayResponse response;
  FillRayHit(hit, response);
  EXPECT_TRUE(response.blocked());
  EXPECT_EQ(response.cell().y(), 1);
  EXPECT_EQ(response.point().x(), 2.25);
  EXPECT_EQ(response.point().y(), 0.5);
  EXPECT_EQ(response.fraction(), 0.25);
  EXPECT_FALSE(response.has_last_free());
  hit.last_free = core::Cell{2, 0};
  FillRayHit(hit, response);
  EXPECT_EQ(response.last_free().x(), 2);
}

}  // namespace
}  // namespace waystar::rpc
