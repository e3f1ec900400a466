#include "server/service/convert/convert_edits.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/store/map_store.h"
#include "server/service/convert/convert.h"
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
      core::PutMeshPortal{.portal = {.id = "jump",
                                     .from = {1.5, 2, 3},
                                     .to_map = "cellar",
                                     .to = {4, 5, -6.5},
                                     .cost = 2.5,
                                     .tags = {"dry"},
                                     .closed = true},
                          .replace = true},
      core::RemovePortal{.id = "stairs"},
      core::SwitchPortal{.id = "ferry", .closed = true},
      core::PutProfile{{"boat",
                        {.footprint = 2,
                         .corner_rule = core::CornerRule::kAlways,
                         .terrain_costs = {{'~', 1.5}},
                         .forbidden_terrains = {'s'},
                         .required_tags = {"dry"},
                         .no_diagonals = true}}},
      core::RemoveProfile{"boat"},
      core::PutNodes{
          .nodes =
              {{.id = "a", .position = {1, 2, 3}, .enabled = false, .tags = {"dry"}, .label = "Köln/Hbf"}},
          .replace = true},
      core::RemoveNodes{{"a"}},
      core::PutEdges{.edges = {{.name = {"a", "b", true}, .cost = 1.5, .enabled = false, .tags = {"dry"}},
                               {.name = {"b", "c"}}},
                     .replace = true},
      core::RemoveEdges{.edges = {core::EdgeName{"a", "b", true}}},
      core::SetEnabled{.nodes = {"a"}, .edges = {core::EdgeName{"b", "c"}}, .enabled = true},
  };
}

google::protobuf::RepeatedPtrField<v1::Edit> Written(const std::vector<core::Edit>& edits) {
  google::protobuf::RepeatedPtrField<v1::Edit> written;
  for (const core::Edit& edit : edits) {
    FillEdit(edit, HexCoordinates(), *written.Add());
  }
  return written;
}

TEST(ConvertEditsTest, EveryKindGoesOutAndComesBack) {
  const auto read = ToEdits(Written(EditsOfAllKinds()), "arena", HexCoordinates()).value();
  EXPECT_TRUE(read == EditsOfAllKinds());
}

TEST(ConvertEditsTest, EveryKindComesInAndGoesBack) {
  const auto written = Written(EditsOfAllKinds());
  const auto rewritten = Written(*ToEdits(written, "arena", HexCoordinates()));
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
    return ToEdits(edits, "arena", HexCoordinates()).status();
  }

  void ExpectRefused(ErrorReason reason, const std::string& field) {
    EXPECT_THAT(Read(edit_), IsError(kInvalid, reason, "edits[1]." + field));
  }

  v1::Edit edit_;
};

TEST_F(BadEditTest, NoneOfTheKinds) {
  EXPECT_THAT(Read(edit_), IsError(kInvalid, ErrorReason::kBadEdit, "edits[1]"));
}

TEST_F(BadEditTest, PartsOfAShapeMissing) {
  edit_.mutable_block()->add_discs()->mutable_center();
  edit_.mutable_block()->add_discs()->set_radius(3);
  ExpectRefused(ErrorReason::kMissingField, "block.discs[1].center");
  edit_.mutable_unblock()->add_lines()->mutable_end();
  ExpectRefused(ErrorReason::kMissingField, "unblock.lines[0].start");
  edit_.mutable_set_terrain()->set_terrain("~");
  edit_.mutable_set_terrain()->mutable_shape()->add_lines()->mutable_start();
  ExpectRefused(ErrorReason::kMissingField, "set_terrain.shape.lines[0].end");
  edit_.mutable_resize_obstacle()->mutable_shape()->add_discs();
  ExpectRefused(ErrorReason::kMissingField, "resize_obstacle.shape.discs[0].center");
  edit_.mutable_put_obstacle()->mutable_obstacle()->mutable_shape()->add_discs();
  ExpectRefused(ErrorReason::kMissingField, "put_obstacle.obstacle.shape.discs[0].center");
}

TEST_F(BadEditTest, Portals) {
  edit_.mutable_put_portal();
  ExpectRefused(ErrorReason::kMissingField, "put_portal.portal");
  v1::Portal& portal = *edit_.mutable_put_portal()->mutable_portal();
  ExpectRefused(ErrorReason::kMissingField, "put_portal.portal.from");
  portal.mutable_from();
  ExpectRefused(ErrorReason::kMissingField, "put_portal.portal.to");
  portal.mutable_to();
  for (const double cost : {-1.0, 1e9, std::nan(""), HUGE_VAL}) {
    portal.set_cost(cost);
    ExpectRefused(ErrorReason::kBadValue, "put_portal.portal.cost");
  }
  portal.set_cost(1);
  portal.set_to_map("No Map");
  ExpectRefused(ErrorReason::kBadMapId, "put_portal.portal.to_map");
}

TEST(ConvertEditsTest, APortalToItsOwnMapLeadsToTheSame) {
  google::protobuf::RepeatedPtrField<v1::Edit> edits;
  v1::Portal& portal = *edits.Add()->mutable_put_portal()->mutable_portal();
  portal.mutable_from();
  portal.mutable_to()->set_x(3);
  portal.set_to_map("arena");
  const auto read = ToEdits(edits, "arena", HexCoordinates()).value();
  EXPECT_EQ(std::get<core::PutPortal>(read.front()).portal.to_map, "");
}

TEST_F(BadEditTest, WholeMessagesMissing) {
  edit_.mutable_set_terrain()->set_terrain("~");
  ExpectRefused(ErrorReason::kMissingField, "set_terrain.shape");
  edit_.mutable_resize_obstacle();
  ExpectRefused(ErrorReason::kMissingField, "resize_obstacle.shape");
  edit_.mutable_put_obstacle();
  ExpectRefused(ErrorReason::kMissingField, "put_obstacle.obstacle");
  edit_.mutable_put_obstacle()->mutable_obstacle();
  ExpectRefused(ErrorReason::kMissingField, "put_obstacle.obstacle.shape");
}

TEST_F(BadEditTest, PartsOfGraphsMissing) {
  const auto expect_missing = [&](const std::string& field) {
    ExpectRefused(ErrorReason::kMissingField, field);
  };
  edit_.mutable_put_nodes();
  expect_missing("put_nodes.nodes");
  edit_.mutable_remove_nodes();
  expect_missing("remove_nodes.nodes");
  edit_.mutable_put_edges();
  expect_missing("put_edges.edges");
  edit_.mutable_put_edges()->add_edges();
  expect_missing("put_edges.edges[0].edge");
  edit_.mutable_remove_edges();
  expect_missing("remove_edges.edges");
  edit_.mutable_set_enabled();
  expect_missing("set_enabled.nodes");
}

TEST_F(BadEditTest, Profiles) {
  edit_.mutable_put_profile();
  ExpectRefused(ErrorReason::kMissingField, "put_profile.named");
  edit_.mutable_put_profile()->mutable_named();
  ExpectRefused(ErrorReason::kMissingField, "put_profile.named.profile");
  v1::MovementProfile& profile = *edit_.mutable_put_profile()->mutable_named()->mutable_profile();
  profile.add_terrain_costs()->set_terrain("");
  ExpectRefused(ErrorReason::kUnknownTerrain, "put_profile.named.profile.terrain_costs[0].terrain");
  profile.clear_terrain_costs();
  profile.add_forbidden_terrains("no");
  ExpectRefused(ErrorReason::kUnknownTerrain, "put_profile.named.profile.forbidden_terrains[0]");
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
  ExpectRefused(ErrorReason::kUnknownEnumValue, "put_obstacle.obstacle.falloff");
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

TEST(ToUpdateBatchTest, ConditionsAreThoseOfTheRequest) {
  const core::MapStore store(1);
  v1::UpdateObstaclesRequest request;
  const auto empty = ToUpdateBatch(store, request).value();
  EXPECT_EQ(empty.expected.revision, std::nullopt);
  EXPECT_EQ(empty.expected.epoch, std::nullopt);
  EXPECT_EQ(empty.request_id, "");
  EXPECT_EQ(empty.request_time, std::nullopt);
  request.add_edits()->mutable_remove_obstacle()->set_id("gate");
  request.mutable_expected_version()->set_revision(3);
  request.mutable_expected_version()->set_epoch(4);
  request.set_request_id("first");
  request.mutable_request_time()->set_seconds(5);
  request.mutable_request_time()->set_nanos(6);
  const auto batch = ToUpdateBatch(store, request).value();
  EXPECT_EQ(batch.edits.size(), 1U);
  EXPECT_EQ(batch.expected.revision, 3U);
  EXPECT_EQ(batch.expected.epoch, 4U);
  EXPECT_EQ(batch.request_id, "first");
  EXPECT_EQ(batch.request_time, absl::FromUnixSeconds(5) + absl::Nanoseconds(6));
}

TEST(ToUpdateBatchTest, ARevisionHasAnEpoch) {
  const core::MapStore store(1);
  v1::UpdateObstaclesRequest request;
  request.mutable_expected_version()->set_epoch(4);
  EXPECT_EQ(ToUpdateBatch(store, request)->expected.epoch, 4U);
  request.mutable_expected_version()->clear_epoch();
  request.mutable_expected_version()->set_revision(3);
  EXPECT_THAT(ToUpdateBatch(store, request),
              IsError(kInvalid, ErrorReason::kBadValue, "expected_version.epoch"));
}

TEST(ToUpdateBatchTest, RequestTimeIsATime) {
  const core::MapStore store(1);
  v1::UpdateObstaclesRequest request;
  for (const std::int32_t nanos : {1'000'000'000, -1}) {
    request.mutable_request_time()->set_nanos(nanos);
    EXPECT_THAT(ToUpdateBatch(store, request), IsError(kInvalid, ErrorReason::kBadValue, "request_time"));
  }
  request.mutable_request_time()->clear_nanos();
  request.mutable_request_time()->set_seconds(std::int64_t{1} << 60);
  EXPECT_THAT(ToUpdateBatch(store, request), IsError(kInvalid, ErrorReason::kBadValue, "request_time"));
}

TEST(FillUpdateResultTest, TellsWhatChanged) {
  core::UpdateResult result{.epoch = 5, .revision = 2, .digest = 77, .already_applied = true};
  result.summary = {
      .changed_cells = 5, .changed_bounds = {1, 0, 2, 3}, .clipped_cells = 2, .changed_edges = 4};
  v1::UpdateObstaclesResponse response;
  FillUpdateResult(result, HexCoordinates(), response);
  EXPECT_EQ(response.version().epoch(), 5U);
  EXPECT_EQ(response.version().revision(), 2U);
  EXPECT_EQ(response.digest(), 77U);
  EXPECT_TRUE(response.already_applied());
  EXPECT_EQ(response.changed_cells(), 5);
  EXPECT_EQ(response.clipped_cells(), 2);
  EXPECT_EQ(response.changed_edges(), 4);
  EXPECT_EQ(response.changed_bounds().x(), 1);
  EXPECT_EQ(response.changed_bounds().y(), 0);
  EXPECT_EQ(response.changed_bounds().width(), 2);
  EXPECT_EQ(response.changed_bounds().height(), 3);
}

TEST(FillObstacleTest, TellsTheLifetimeThatIsLeft) {
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  core::Obstacle obstacle = Obstacle({});
  v1::Obstacle forever;
  FillObstacle(obstacle, HexCoordinates(), now, forever);
  EXPECT_EQ(forever.id(), "gate:7");
  EXPECT_FALSE(forever.has_lifetime());
  EXPECT_EQ(forever.effect_case(), v1::Obstacle::EFFECT_NOT_SET);

  obstacle.expiry = now + absl::Milliseconds(2500);
  v1::Obstacle mortal;
  FillObstacle(obstacle, HexCoordinates(), now, mortal);
  EXPECT_EQ(mortal.lifetime().seconds(), 2);
  EXPECT_EQ(mortal.lifetime().nanos(), 500'000'000);

  v1::Obstacle late;
  FillObstacle(obstacle, HexCoordinates(), now + absl::Seconds(10), late);
  EXPECT_TRUE(late.has_lifetime());
  EXPECT_EQ(late.lifetime().seconds(), 0);
  EXPECT_EQ(late.lifetime().nanos(), 0);
}

}  // namespace
}  // namespace waystar::rpc
