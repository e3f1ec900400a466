// Conversion of what is told of maps.

#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/base/error.h"
#include "server/core/store/map_store.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"
#include "tests/service/about_map.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "waystar/v1/error_reason.pb.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {
namespace {

v1::MapInfo InfoOf(core::GridMap map) {
  core::MapStore store(1);
  const auto snapshot = store.Create("coast", std::move(map), absl::FromUnixSeconds(1'700'000'000)).value();
  v1::MapInfo info;
  FillMapInfo(store, *snapshot, info);
  EXPECT_EQ(info.version().epoch(), snapshot->epoch);
  EXPECT_EQ(info.digest(), snapshot->digest());
  return info;
}

TEST(FillMapInfoTest, TellsOfGrids) {
  core::GridSettings settings{.connectivity = core::Connectivity::kFour, .diagonal_cost = 1.4};
  settings.terrains.push_back({.symbol = '~', .name = "water", .cost = 3, .impassable = true});
  settings.world = "moon";
  settings.frame = {.origin = {-2, -1, 7}, .cell_size = 0.5};
  core::GridMap map = DrawMap({"..~~", ".#.."}, settings);
  map.SetProfiles(core::ProfileTable{{"boat",
                                      {.footprint = 2,
                                       .corner_rule = core::CornerRule::kAlways,
                                       .terrain_costs = {{'~', 1.25}},
                                       .no_diagonals = true}}});
  const v1::MapInfo info = InfoOf(std::move(map));
  EXPECT_EQ(info.map(), "coast");
  EXPECT_EQ(info.version().revision(), 1U);
  EXPECT_EQ(info.create_time().seconds(), 1'700'000'000);
  EXPECT_GT(info.memory_bytes(), 0);
  EXPECT_FALSE(info.has_old_snapshots());
  EXPECT_EQ(TextOf(info.grid()), TextOf(Parsed<v1::GridInfo>(R"(
    width: 4 height: 2 squares { connectivity: CONNECTIVITY_FOUR diagonal_cost: 1.4 }
    terrains { symbol: "." name: "ground" cost: 1 impassable: false }
    terrains { symbol: "~" name: "water" cost: 3 impassable: true }
    walkable_cells: 5 obstacle_cells: 1
    profiles {
      name: "boat"
      profile {
        footprint: 2 corner_rule: CORNER_RULE_ALWAYS terrain_costs { terrain: "~" cost: 1.25 } diagonals: false
      }
    }
    origin { x: -2 y: -1 z: 7 } cell_size: 0.5 world: "moon")")));
}

TEST(FillMapInfoTest, TellsOfBoardsAndTheirPlanes) {
  core::GridSettings settings{.connectivity = core::Connectivity::kSix, .diagonal_cost = 1};
  settings.frame.hexagons = core::HexBoard{.layout = core::HexLayout::kOddRows};
  const v1::GridInfo grid = InfoOf(DrawMap({".....",  //
                                            ".###.",  //
                                            ".....",  //
                                            "..#.."},
                                           settings))
                                .grid();
  EXPECT_EQ(TextOf(grid), TextOf(Parsed<v1::GridInfo>(R"(
    width: 5 height: 4 hexagons { layout: HEX_LAYOUT_ODD_ROWS }
    terrains { symbol: "." name: "ground" cost: 1 impassable: false }
    walkable_cells: 16 obstacle_cells: 4 origin {} cell_size: 1)")));
}

TEST(MapFormatTest, EachGoesInAndComesOut) {
  for (int value = v1::MAP_FORMAT_TEXT; value < v1::MapFormat_ARRAYSIZE; ++value) {
    const auto format = ToWriteFormat(static_cast<v1::MapFormat>(value)).value();
    EXPECT_EQ(FromFormat(format), value);
  }
  EXPECT_EQ(*ToReadFormat(v1::MAP_FORMAT_UNSPECIFIED, "type octile\n"), core::MapFormat::kMovingAi);
  EXPECT_EQ(*ToReadFormat(v1::MAP_FORMAT_TEXT, "type octile\n"), core::MapFormat::kText);
  EXPECT_THAT(ToWriteFormat(static_cast<v1::MapFormat>(77)),
              IsError(kInvalid, ErrorReason::kUnknownEnumValue, "format"));
}

TEST(HexLayoutTest, EachGoesInAndComesOut) {
  for (int value = v1::HEX_LAYOUT_UNSPECIFIED + 1; value < v1::HexLayout_ARRAYSIZE; ++value) {
    const auto layout = ToHexLayout(static_cast<v1::HexLayout>(value), "hexagons").value();
    core::GridSettings settings{.connectivity = core::Connectivity::kSix, .diagonal_cost = 1};
    settings.frame.hexagons = core::HexBoard{.layout = layout};
    EXPECT_EQ(InfoOf(DrawMap({".."}, settings)).grid().hexagons().layout(), value);
  }
  EXPECT_THAT(ToHexLayout(v1::HEX_LAYOUT_UNSPECIFIED, "hexagons"),
              IsError(kInvalid, ErrorReason::kUnknownEnumValue, "hexagons"));
}

constexpr core::Rectangle kRegion = {1, 2, 3, 4};

TEST(FillReachableTest, EveryFieldIsTold) {
  v1::FindReachableResponse response;
  FillReachable({.bounds = kRegion, .bits = {0x0F, 0x01}, .costs = {1.0F, 0.5F}, .count = 5},
                HexCoordinates(), response);
  EXPECT_EQ(TextOf(response),
            R"(bounds { x: 1 y: 2 width: 3 height: 4 } cells: "\017\001" costs: 1 costs: 0.5 count: 5)");
}

TEST(FillFlowFieldTest, EveryFieldIsTold) {
  const core::Portal gap{.id = "gap"};
  const core::FlowField field = {.region = kRegion,
                                 .directions = {core::FlowField::kAtGoal, core::FlowField::kThroughPortal, 0},
                                 .costs = {0.0F, 1.0F, core::FlowField::kUnreachable},
                                 .portals = {{.cell = {1, 3}, .portal = &gap, .arrival = {3, 5}}}};
  v1::ComputeFlowFieldResponse response;
  FillFlowField(field, field.region, HexCoordinates(), response);
  EXPECT_EQ(TextOf(response), TextOf(Parsed<v1::ComputeFlowFieldResponse>(R"(
    region { x: 1 y: 2 width: 3 height: 4 } directions: "\011\012\000" costs: [0, 1, -1]
    portals { cell { x: 1 y: 3 } portal: "gap" arrival { x: 3 y: 5 } })")));
}

TEST(FillRayHitTest, EveryFieldIsTold) {
  core::RayHit hit = {.is_blocked = true, .cell = {2, 1}, .position = {2.25, 0.5}, .fraction = 0.25};
  const core::WorldFrame frame = {.origin = {100, 0, 7}, .cell_size = 2};
  v1::CastRayResponse response;
  FillRayHit(hit, frame, HexCoordinates(), response);
  EXPECT_EQ(TextOf(response),
            "blocked: true cell { x: 2 y: 1 } position { x: 105.5 y: 2 z: 7 } fraction: 0.25");
  hit.last_free = core::Cell{2, 0};
  FillRayHit(hit, frame, HexCoordinates(), response);
  EXPECT_EQ(response.last_free().x(), 2);
}

// The reasons of the core are those of the contract.

TEST(ErrorReasonTest, HasTheNumbersAndNamesOfTheContract) {
  const google::protobuf::EnumDescriptor& contract = *v1::ErrorReason_descriptor();
  EXPECT_EQ(contract.value_count(), static_cast<int>(ErrorReason::kGroundNotFound) + 1);
  for (int i = 1; i < contract.value_count(); ++i) {
    const google::protobuf::EnumValueDescriptor& value = *contract.value(i);
    EXPECT_EQ(ErrorReasonName(static_cast<ErrorReason>(value.number())), value.name());
  }
}

google::rpc::Status DetailsOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  return details;
}

TEST(StatusTest, CarriesCodeReasonAndField) {
  const grpc::Status status = ToGrpcStatus(MakeError(ErrorReason::kMapNotFound, "map", "no such map"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "no such map");
  const google::rpc::Status details = DetailsOf(status);
  EXPECT_EQ(details.code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(details.message(), "no such map");
  ASSERT_EQ(details.details_size(), 2);
  google::rpc::BadRequest bad_request;
  ASSERT_TRUE(details.details(0).UnpackTo(&bad_request));
  EXPECT_EQ(bad_request.field_violations(0).field(), "map");
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(details.details(1).UnpackTo(&info));
  EXPECT_EQ(info.domain(), "waystar");
  EXPECT_EQ(info.reason(), "MAP_NOT_FOUND");
  EXPECT_EQ(info.metadata().at("field"), "map");
}

TEST(StatusTest, RefusalCarriesRetryDelay) {
  const grpc::Status status =
      ToGrpcStatus(Refusal(ErrorReason::kQueueFull, absl::Milliseconds(1500), "busy"));
  const google::rpc::Status details = DetailsOf(status);
  ASSERT_EQ(details.details_size(), 2);
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(details.details(1).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 500'000'000);
}

TEST(StatusTest, PlainErrorsAndOkHaveNoDetails) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  const grpc::Status status = ToGrpcStatus(absl::InternalError("oops"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(status.error_details(), "");
}

}  // namespace
}  // namespace waystar::rpc
