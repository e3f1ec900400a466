#include "server/service/convert/convert_fields.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"

namespace waystar::rpc {
namespace {

using ::testing::ElementsAre;

constexpr core::Rectangle kRegion = {1, 2, 3, 4};

TEST(FillReachableTest, EveryFieldIsTold) {
  v1::FindReachableResponse response;
  FillReachable({.bounds = kRegion, .bits = {0x0F, 0x01}, .costs = {1.0F, 0.5F}, .count = 5},
                HexCoordinates(), response);
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
  FillFlowField(field, field.region, HexCoordinates(), response);
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
  const core::WorldFrame frame = {.origin = {100, 0, 7}, .cell_size = 2};
  v1::CastRayResponse response;
  FillRayHit(hit, frame, HexCoordinates(), response);
  EXPECT_TRUE(response.blocked());
  EXPECT_EQ(response.cell().y(), 1);
  EXPECT_EQ(response.position().x(), 105.5);
  EXPECT_EQ(response.position().y(), 2.0);
  EXPECT_EQ(response.position().z(), 7.0);
  EXPECT_EQ(response.fraction(), 0.25);
  EXPECT_FALSE(response.has_last_free());
  hit.last_free = core::Cell{2, 0};
  FillRayHit(hit, frame, HexCoordinates(), response);
  EXPECT_EQ(response.last_free().x(), 2);
}

}  // namespace
}  // namespace waystar::rpc
