#include "server/rpc/wire/convert_edits.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;

core::Shape ShapeOfAllKinds() {
  return {.cells = {{1, 2}, {-3, 4}},
          .rectangles = {{5, 6, 7, 8}},
          .discs = {{{1.5, -2.25}, 3.0}},
          .polygons = {{{{0, 0}, {4, 0}, {0, 4}}}, {{{1, 1}, {2, 2}, {3, 1}}}},
          .lines = {{{0.5, 0.5}, {9, 3}, 1.5}}};
}

core::Obstacle Obstacle(const core::ObstacleEffect& effect) {
  return {.id = "gate:7", .shape = {.discs = {{{4, 4}, 2.5}}}, .effect = effect};
}

std::vector<core::Edit> EditsOfAllKinds() {
  using Kind = core::ObstacleEffect::Kind;
  using Falloff = core::ObstacleEffect::Falloff;
  return {
      core::BlockCells{ShapeOfAllKinds()},
      core::UnblockCells{ShapeOfAllKinds()},
      core::SetTerrain{.shape = ShapeOfAllKinds(), .symbol = '~'},
      core::PutObstacle{.obstacle = Obstacle({})},
      core::PutObstacle{.obstacle = Obstacle({.kind = Kind::kMultiplyCost, .amount = 2.5}),
                        .lifetime = absl::Milliseconds(1500),
                        .replace = true},
      core::PutObstacle{
          .obstacle = Obstacle({.kind = Kind::kAddCost, .amount = -4, .falloff = Falloff::kLinear}),
          .lifetime = absl::Hours(24 * 365)},
      core::MoveObstacle{.id = "gate:7", .dx = -1.5, .dy = 2},
      core::ResizeObstacle{.id = "gate:7", .shape = ShapeOfAllKinds()},
      core::RemoveObstacle{.id = "gate:7"},
      core::PutPortal{.portal = {.id = "stairs",
                                 .from = {1, 2},
                                 .to_map = "cellar",
                                 .to = {3, 4},
                                 .cost = core::CostFromDouble(2.5),
                                 .tags = {"dry", "lit"},
                                 .closed = true},
                      .replace = true},
      core::PutPortal{.portal = {.id = "ferry", .from = {1, 2}, .to = {8, 2}, .both_ways = true}},
      core::RemovePortal{.id = "stairs"},
      core::SwitchPortal{.id = "ferry", .closed = true},
  };
}

google::protobuf::RepeatedPtrField<v1::Edit> Written(const std::vector<core::Edit>& edits) {
  google::protobuf::RepeatedPtrField<v1::Edit> written;
  for (const core::Edit& edit : edits) {
    FillEdit(edit, *written.Add());
  }
  return written;
}

TEST(ConvertEditsTest, EveryKindGoesOutAndComesBack) {
  const auto read = ToEdits(Written(EditsOfAllKinds()), "arena");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read == EditsOfAllKinds());
}

TEST(ConvertEditsTest, EveryKindComesInAndGoesBack) {
  const auto written = Written(EditsOfAllKinds());
  const auto rewritten = Written(*ToEdits(written, "arena"));
  ASSERT_EQ(rewritten.size(), written.size());
  for (int i = 0; i < written.size(); ++i) {
    EXPECT_EQ(rewritten.Get(i).DebugString(), written.Get(i).DebugString());
  }
}

class BadEditTest : public ::testing::Test {
 protected:
  // Reads the edit after one that is good.
  absl::Status Read(const v1::Edit& edit) {
    google::protobuf::RepeatedPtrField<v1::Edit> edits;
    edits.Add()->mutable_remove_obstacle()->set_id("gate");
    *edits.Add() = edit;
    return ToEdits(edits, "arena").status();
  }

  v1::Edit edit_;
};

TEST_F(BadEditTest, NoneOfTheKinds) {
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kBadEdit, "edits[1]"));
}

TEST_F(BadEditTest, PartsOfAShapeMissing) {
  edit_.mutable_block()->add_discs()->mutable_center();
  edit_.mutable_block()->add_discs()->set_radius(3);
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kMissingField, "edits[1].block.discs[1].center"));
  edit_.mutable_unblock()->add_lines()->mutable_end();
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kMissingField, "edits[1].unblock.lines[0].start"));
  edit_.mutable_set_terrain()->set_terrain("~");
  edit_.mutable_set_terrain()->mutable_shape()->add_lines()->mutable_start();
  EXPECT_THAT(Read(edit_),
              IsError(kInvalid, ErrorReason::kMissingField, "edits[1].set_terrain.shape.lines[0].end"));
  edit_.mutable_resize_obstacle()->mutable_shape()->add_discs();
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kMissingField,
                                   "edits[1].resize_obstacle.shape.discs[0].center"));
  edit_.mutable_put_obstacle()->mutable_obstacle()->mutable_shape()->add_discs();
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kMissingField,
                                   "edits[1].put_obstacle.obstacle.shape.discs[0].center"));
}

TEST_F(BadEditTest, Portals) {
  edit_.mutable_put_portal();
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kMissingField, "edits[1].put_portal.portal"));
  v1::Portal& portal = *edit_.mutable_put_portal()->mutable_portal();
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kMissingField, "edits[1].put_portal.portal.from"));
  portal.mutable_from();
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kMissingField, "edits[1].put_portal.portal.to"));
  portal.mutable_to();
  for (const double cost : {-1.0, 1e9, std::nan(""), HUGE_VAL}) {
    portal.set_cost(cost);
    EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kBadValue, "edits[1].put_portal.portal.cost"));
  }
  portal.set_cost(1);
  portal.set_to_map("No Map");
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kBadMapId, "edits[1].put_portal.portal.to_map"));
}

TEST(ConvertEditsTest, APortalToItsOwnMapLeadsToTheSame) {
  google::protobuf::RepeatedPtrField<v1::Edit> edits;
  v1::Portal& portal = *edits.Add()->mutable_put_portal()->mutable_portal();
  portal.mutable_from();
  portal.mutable_to()->set_x(3);
  portal.set_to_map("arena");
  const auto read = ToEdits(edits, "arena");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(std::get<core::PutPortal>(read->front()).portal.to_map, "");
}

TEST_F(BadEditTest, WholeMessagesMissing) {
  edit_.mutable_set_terrain()->set_terrain("~");
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kMissingField, "edits[1].set_terrain.shape"));
  edit_.mutable_resize_obstacle();
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kMissingField, "edits[1].resize_obstacle.shape"));
  edit_.mutable_put_obstacle();
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kMissingField, "edits[1].put_obstacle.obstacle"));
  edit_.mutable_put_obstacle()->mutable_obstacle();
  EXPECT_THAT(Read(edit_),
              IsError(kInvalid, ErrorReason::kMissingField, "edits[1].put_obstacle.obstacle.shape"));
}

TEST_F(BadEditTest, TerrainOfNotOneByte) {
  for (const char* terrain : {"", "~~", "\u00e9"}) {
    edit_.mutable_set_terrain()->set_terrain(terrain);
    edit_.mutable_set_terrain()->mutable_shape()->add_cells();
    EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kUnknownTerrain, "edits[1].set_terrain.terrain"))
        << terrain;
  }
}

TEST_F(BadEditTest, UnknownFalloff) {
  v1::Obstacle& obstacle = *edit_.mutable_put_obstacle()->mutable_obstacle();
  obstacle.mutable_shape()->add_cells();
  obstacle.set_falloff(static_cast<v1::Falloff>(9));
  EXPECT_THAT(Read(edit_),
              IsError(kInvalid, ErrorReason::kUnknownEnumValue, "edits[1].put_obstacle.obstacle.falloff"));
}

TEST_F(BadEditTest, LifetimeThatIsNoDuration) {
  v1::Obstacle& obstacle = *edit_.mutable_put_obstacle()->mutable_obstacle();
  obstacle.mutable_shape()->add_cells();
  struct Parts {
    std::int64_t seconds;
    std::int32_t nanos;
  };
  for (const Parts& parts : {Parts{INT64_MAX, 0}, Parts{INT64_MIN, 0}, Parts{0, 1'000'000'000},
                             Parts{0, INT32_MIN}, Parts{1, -1}, Parts{-1, 1}}) {
    obstacle.mutable_lifetime()->set_seconds(parts.seconds);
    obstacle.mutable_lifetime()->set_nanos(parts.nanos);
    EXPECT_THAT(Read(edit_),
                IsError(kInvalid, ErrorReason::kBadLifetime, "edits[1].put_obstacle.obstacle.lifetime"))
        << parts.seconds << "s " << parts.nanos << "ns";
  }
}

TEST(FillObstacleTest, TellsTheLifetimeThatIsLeft) {
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  core::Obstacle obstacle = Obstacle({});
  v1::Obstacle forever;
  FillObstacle(obstacle, now, forever);
  EXPECT_EQ(forever.id(), "gate:7");
  EXPECT_FALSE(forever.has_lifetime());
  EXPECT_EQ(forever.effect_case(), v1::Obstacle::EFFECT_NOT_SET);

  obstacle.expiry = now + absl::Milliseconds(2500);
  v1::Obstacle mortal;
  FillObstacle(obstacle, now, mortal);
  EXPECT_EQ(mortal.lifetime().seconds(), 2);
  EXPECT_EQ(mortal.lifetime().nanos(), 500'000'000);

  v1::Obstacle late;
  FillObstacle(obstacle, now + absl::Seconds(10), late);
  EXPECT_TRUE(late.has_lifetime());
  EXPECT_EQ(late.lifetime().seconds(), 0);
  EXPECT_EQ(late.lifetime().nanos(), 0);
}

}  // namespace
}  // namespace waystar::rpc
