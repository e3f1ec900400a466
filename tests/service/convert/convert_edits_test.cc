#include "server/service/convert/convert_edits.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/store/map_store.h"
#include "server/service/convert/convert.h"
#include "tests/service/about_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

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
      core::PutMeshObstacle{{.obstacle = {.id = "crate", .shape = ShapeOfAllKinds()}}, {-1.5, 2}},
      core::PutMeshObstacle{{.obstacle = {.id = "crate", .shape = ShapeOfAllKinds()}}, {.high = 2}},
      core::PutGround{{.id = "bridge",
                       .region = ShapeOfAllKinds(),
                       .heights = {-1, 4.5},
                       .polygons = {{.agent_radius = 0.5,
                                     .terrain = "water",
                                     .corners = {{0, 0, 1}, {1, 0, 1}, {0, 1, 2.5}}}},
                       .weld = 0.25}},
      core::PutGround{{.id = "pit", .polygons = {{.corners = {{0, 0, 1}, {1, 0, 1}, {0, 1, 2.5}}}}}},
      core::RemoveGround{"bridge"},
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
                                     .closed = true,
                                     .width = 3.5},
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

TEST(ConvertEditsTest, ProfilesOfMeshesGoOutAndComeBack) {
  const std::vector<core::Edit> edits = {core::PutMeshProfile{{.name = "boat",
                                                               .ground = {.costs = {{"water", 1.5}},
                                                                          .forbidden = {"s"},
                                                                          .allowed_tags = {"wet"},
                                                                          .forbidden_tags = {"deep"}},
                                                               .required_tags = {"dry"}}}};
  EXPECT_TRUE(ToEdits(Written(edits), "arena", HexCoordinates(), core::MapKind::kMesh).value() == edits);
}

class BadEditTest : public ::testing::Test {
 protected:
  // Reads the edit after one that is good.
  absl::Status Read(const v1::Edit& edit) {
    google::protobuf::RepeatedPtrField<v1::Edit> edits;
    edits.Add()->set_remove_obstacle("gate");
    *edits.Add() = edit;
    return ToEdits(edits, "arena", HexCoordinates()).status();
  }

  // The edit is in protobuf's text format.
  void ExpectRefused(const std::string& edit, ErrorReason reason, const std::string& field) {
    EXPECT_THAT(Read(Parsed<v1::Edit>(edit)), IsError(kInvalid, reason, "edits[1]." + field)) << edit;
  }
};

TEST_F(BadEditTest, NoneOfTheKinds) {
  EXPECT_THAT(Read({}), IsError(kInvalid, ErrorReason::kBadEdit, "edits[1]"));
}

TEST_F(BadEditTest, PartsMissing) {
  const std::pair<const char*, const char*> kinds[] = {
      {"block { discs { center {} } discs { radius: 3 } }", "block.discs[1].center"},
      {"unblock { lines { end {} } }", "unblock.lines[0].start"},
      {"set_terrain { terrain: '~' }", "set_terrain.shape"},
      {"set_terrain { terrain: '~' shape { lines { start {} } } }", "set_terrain.shape.lines[0].end"},
      {"resize_obstacle {}", "resize_obstacle.shape"},
      {"resize_obstacle { shape { discs {} } }", "resize_obstacle.shape.discs[0].center"},
      {"add_obstacle {}", "add_obstacle.shape"},
      {"put_obstacle { shape { discs {} } }", "put_obstacle.shape.discs[0].center"},
      {"add_portal {}", "add_portal.from"},
      {"put_portal { from {} }", "put_portal.to"},
      {"add_nodes {}", "add_nodes.nodes"},
      {"remove_nodes {}", "remove_nodes.nodes"},
      {"add_edges {}", "add_edges.edges"},
      {"put_edges { edges {} }", "put_edges.edges[0].edge"},
      {"remove_edges {}", "remove_edges.edges"},
      {"set_enabled {}", "set_enabled.nodes"},
      {"put_profile {}", "put_profile.profile"},
  };
  for (const auto& [edit, field] : kinds) {
    ExpectRefused(edit, ErrorReason::kMissingField, field);
  }
}

TEST_F(BadEditTest, Portals) {
  for (const char* cost : {"-1", "1e9", "nan", "inf"}) {
    ExpectRefused(std::string("add_portal { from {} to {} cost: ") + cost + " }", ErrorReason::kBadValue,
                  "add_portal.cost");
  }
  ExpectRefused("add_portal { from {} to {} to_map: 'No Map' }", ErrorReason::kBadMapId, "add_portal.to_map");
}

TEST_F(BadEditTest, Heights) {
  ExpectRefused("put_obstacle { shape { cells {} } heights { low: 2 high: 1 } }", ErrorReason::kBadValue,
                "put_obstacle.heights.low");
}

TEST_F(BadEditTest, PartsOfOtherKindsOfMap) {
  EXPECT_THAT(Read(Parsed<v1::Edit>("add_portal { from {} to { x: 1 } width: 2 }")),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind,
                      "edits[1].add_portal.width"));
}

TEST(ConvertEditsTest, APortalToItsOwnMapLeadsToTheSame) {
  google::protobuf::RepeatedPtrField<v1::Edit> edits;
  *edits.Add() = Parsed<v1::Edit>("add_portal { from {} to { x: 3 } to_map: 'arena' }");
  const auto read = ToEdits(edits, "arena", HexCoordinates()).value();
  EXPECT_EQ(std::get<core::PutPortal>(read.front()).portal.to_map, "");
}

TEST_F(BadEditTest, TerrainsAndEnums) {
  for (const char* terrain : {"", "~~", "\u00e9"}) {
    ExpectRefused(std::string("set_terrain { shape { cells {} } terrain: '") + terrain + "' }",
                  ErrorReason::kUnknownTerrain, "set_terrain.terrain");
  }
  ExpectRefused("put_profile { profile { terrain_costs { terrain: '' } } }", ErrorReason::kUnknownTerrain,
                "put_profile.profile.terrain_costs[0].terrain");
  ExpectRefused("put_profile { profile { forbidden_terrains: 'no' } }", ErrorReason::kUnknownTerrain,
                "put_profile.profile.forbidden_terrains[0]");
  ExpectRefused("add_obstacle { shape { cells {} } falloff: 9 }", ErrorReason::kUnknownEnumValue,
                "add_obstacle.falloff");
}

TEST_F(BadEditTest, LifetimeThatIsNoDuration) {
  v1::Edit edit;
  v1::Obstacle& obstacle = *edit.mutable_add_obstacle();
  obstacle.mutable_shape()->add_cells();
  struct Parts {
    std::int64_t seconds;
    std::int32_t nanos;
  };
  for (const Parts& parts : {Parts{INT64_MAX, 0}, Parts{INT64_MIN, 0}, Parts{0, 1'000'000'000},
                             Parts{0, INT32_MIN}, Parts{1, -1}, Parts{-1, 1}}) {
    obstacle.mutable_lifetime()->set_seconds(parts.seconds);
    obstacle.mutable_lifetime()->set_nanos(parts.nanos);
    EXPECT_THAT(Read(edit), IsError(kInvalid, ErrorReason::kBadLifetime, "edits[1].add_obstacle.lifetime"))
        << parts.seconds << "s " << parts.nanos << "ns";
  }
}

TEST(ToUpdateBatchTest, ConditionsAreThoseOfTheRequest) {
  const core::MapStore store(1);
  v1::UpdateMapRequest request;
  const auto empty = ToUpdateBatch(store, request).value();
  EXPECT_EQ(empty.expected.revision, std::nullopt);
  EXPECT_EQ(empty.expected.epoch, std::nullopt);
  EXPECT_EQ(empty.request_id, "");
  EXPECT_EQ(empty.request_time, std::nullopt);
  request = Parsed<v1::UpdateMapRequest>(R"(
    edits { remove_obstacle: "gate" } expected_version { epoch: 4 revision: 3 }
    request_id: "first" request_time { seconds: 5 nanos: 6 })");
  const auto batch = ToUpdateBatch(store, request).value();
  EXPECT_EQ(batch.edits.size(), 1U);
  EXPECT_EQ(batch.expected.revision, 3U);
  EXPECT_EQ(batch.expected.epoch, 4U);
  EXPECT_EQ(batch.request_id, "first");
  EXPECT_EQ(batch.request_time, absl::FromUnixSeconds(5) + absl::Nanoseconds(6));
}

TEST(ToUpdateBatchTest, ARevisionHasAnEpoch) {
  const core::MapStore store(1);
  v1::UpdateMapRequest request;
  request.mutable_expected_version()->set_epoch(4);
  EXPECT_EQ(ToUpdateBatch(store, request)->expected.epoch, 4U);
  request.mutable_expected_version()->clear_epoch();
  request.mutable_expected_version()->set_revision(3);
  EXPECT_THAT(ToUpdateBatch(store, request),
              IsError(kInvalid, ErrorReason::kBadValue, "expected_version.epoch"));
}

TEST(ToUpdateBatchTest, RequestTimeIsATime) {
  const core::MapStore store(1);
  v1::UpdateMapRequest request;
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
  v1::UpdateMapResponse response;
  FillUpdateResult(result, HexCoordinates(), response);
  EXPECT_EQ(TextOf(response),
            "version { epoch: 5 revision: 2 } changed_cells: 5 changed_bounds { x: 1 width: 2 height: 3 } "
            "clipped_cells: 2 already_applied: true changed_edges: 4 digest: 77");
}

TEST(FillCommitTest, AreasAreInColumnsAndRows) {
  const core::HexBoard board{.layout = core::HexLayout::kOddRows, .columns = 8, .rows = 6};
  const core::Cell plane = board.PlaneCellOf({3, 4});
  const core::Commit commit{.revision = 2,
                            .summary = {.changed_cells = 2, .changed_bounds = {0, 0, 9, 9}},
                            .changed_areas = {{plane.x, plane.y, 1, 1}, {plane.x + 2, plane.y, 1, 1}},
                            .digest = 7};
  v1::MapRevision revision;
  FillCommit(commit, HexCoordinates(board), revision);
  revision.clear_commit_time();
  EXPECT_EQ(TextOf(revision),
            "version { revision: 2 } changed_cells: 2"
            " changed_areas { rectangle { x: 3 y: 4 width: 1 height: 1 } }"
            " changed_areas { rectangle { x: 5 y: 4 width: 1 height: 1 } } digest: 7");
}

TEST(FillObstacleTest, TellsTheLifetimeThatIsLeft) {
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  core::Obstacle obstacle = Obstacle({});
  v1::Obstacle forever;
  FillObstacle(obstacle, HexCoordinates(), now, forever);
  EXPECT_EQ(TextOf(forever), R"(id: "gate:7" shape { discs { center { x: 4 y: 4 } radius: 2.5 } })");
  obstacle.expiry = now + absl::Milliseconds(2500);
  v1::Obstacle mortal;
  FillObstacle(obstacle, HexCoordinates(), now, mortal);
  EXPECT_EQ(TextOf(mortal.lifetime()), "seconds: 2 nanos: 500000000");

  v1::Obstacle late;
  FillObstacle(obstacle, HexCoordinates(), now + absl::Seconds(10), late);
  EXPECT_TRUE(late.has_lifetime());
  EXPECT_EQ(TextOf(late.lifetime()), "");
}

}  // namespace
}  // namespace waystar::rpc
