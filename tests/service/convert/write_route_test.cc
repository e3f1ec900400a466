#include "server/service/convert/write_route.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "google/protobuf/arena.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "gtest/gtest.h"
#include "server/service/call/call_context.h"
#include "server/service/convert/convert.h"
#include "tests/service/about_map.h"
#include "tests/testing/generator.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {
namespace {

std::string BytesOf(const WrittenMessage& written) {
  grpc::Slice slice;
  EXPECT_TRUE(written.ToBytes().DumpToSingleSlice(&slice).ok());
  EXPECT_EQ(slice.size(), written.size());
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

void AddPoints(const std::vector<core::Cell>& points, v1::Path& path) {
  for (const core::Cell point : points) {
    FillCell(point, *path.add_points());
  }
}

// Expects that the message, and each message in it, has all fields, lists at least one item. A oneof may have
// any of its fields.
void ExpectAllFieldsBut(const std::set<std::string>& absent, const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *message.GetDescriptor()->field(i);
    const bool has = field.is_repeated() ? reflection.FieldSize(message, &field) > 0
                                         : reflection.HasField(message, &field);
    const bool is_chosen = field.real_containing_oneof() != nullptr;
    EXPECT_TRUE(has != absent.contains(field.name()) || is_chosen) << field.full_name();
    const bool is_ours =
        field.message_type() != nullptr && field.message_type()->file()->package() == "waystar.v1";
    if (has && is_ours) {
      ExpectAllFieldsBut(absent, field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, 0)
                                                     : reflection.GetMessage(message, &field));
    }
  }
}

class WriteRouteTest : public ::testing::Test {
 protected:
  // The bytes are those that protobuf writes of the same points, and of their positions.
  void ExpectSameBytes(const std::vector<core::Cell>& points, const core::WorldFrame& frame = {}) {
    const auto& stood_for = *v1::Path::default_instance().New(&arena_);
    v1::Path with_points;
    AddPoints(points, with_points);
    WrittenMessage written_points(stood_for);
    WritePoints(points, written_points);
    EXPECT_EQ(BytesOf(written_points), with_points.SerializeAsString());
    v1::Path with_positions;
    std::vector<core::WorldPoint> positions;
    for (const core::Cell point : points) {
      positions.push_back(frame.CenterOf(point));
      FillPosition(positions.back(), *with_positions.add_positions());
    }
    WrittenMessage written_positions(stood_for);
    WritePositions(positions, written_positions);
    EXPECT_EQ(BytesOf(written_positions), with_positions.SerializeAsString());
  }

  google::protobuf::Arena arena_;
};

TEST_F(WriteRouteTest, CoordinatesOfEveryLengthAreThoseOfProtobuf) {
  std::vector<std::int32_t> values = {0, std::numeric_limits<std::int32_t>::min(),
                                      std::numeric_limits<std::int32_t>::max()};
  for (int bits = 0; bits < 31; ++bits) {
    const std::int32_t power = std::int32_t{1} << bits;
    values.insert(values.end(), {power - 1, power, -power, 1 - power});
  }
  std::vector<core::Cell> points;
  for (const std::int32_t x : values) {
    for (const std::int32_t y : values) {
      points.push_back({x, y});
    }
  }
  ExpectSameBytes(points);
}

TEST_F(WriteRouteTest, AnyPointsAreThoseOfProtobuf) {
  Generator generator(1);
  for (int round = 0; round < 200; ++round) {
    const int reach = 1 << generator.Between(0, 20);
    std::vector<core::Cell> points(static_cast<std::size_t>(generator.Between(0, 50)));
    for (core::Cell& point : points) {
      point = {generator.Between(-reach, reach), generator.Between(-reach, reach)};
    }
    ExpectSameBytes(points, {.origin = {0.25 * generator.Between(-9, 9), 1e9, 0.5 * generator.Between(-1, 1)},
                             .cell_size = 0.125 * generator.Between(1, 99)});
  }
}

TEST_F(WriteRouteTest, PositionsThatAreZeroAreThoseOfProtobuf) {
  const std::vector<core::Cell> points = {{0, 0}, {0, 7}, {7, 0}};
  ExpectSameBytes(points, {.origin = {-0.5, -0.5, 0.0}});
  ExpectSameBytes(points, {.origin = {-0.5, -0.5, -0.0}});
}

TEST_F(WriteRouteTest, NoPointsAreNoBytes) { ExpectSameBytes({}); }

TEST(FilledRouteTest, EveryFieldIsTold) {
  const std::vector<core::Cell> points = {{1, 2}, {3, 4}};
  const std::vector<core::Direction> directions = {core::Direction::kNorth, core::Direction::kNorthWest};
  const core::Portal stairs{.id = "stairs", .to_map = "cellar"};
  const core::Portal gap{.id = "gap"};
  const std::vector<core::PortalCrossing> crossings = {{.portal = &stairs, .arrival = {3, 4}, .index = 1},
                                                       {.portal = &gap, .arrival = {5, 6}, .index = 2}};
  core::Route route{.goal_index = 1, .start = {1, 2}, .crossings = crossings};
  route.path = {.outcome = core::Outcome::kFound,
                .reason = core::OutcomeReason::kGoalReached,
                .cost = 2.5,
                .least_cost = 1.5,
                .points = points,
                .directions = directions,
                .end = {3, 4}};
  route.path.statistics.expanded = 11;
  route.path.statistics.generated = 12;
  route.path.statistics.algorithm = core::Algorithm::kDijkstra;
  route.crossing_versions = {core::MapVersion{.epoch = 21, .revision = 22}, core::MapVersion{}};
  route.crossing_boards.resize(2);
  route.summary = core::RouteSummary{
      .length = 4, .turns = 1, .legs = {{.terrain = '~', .cells = 2, .length = 3, .cost = 2}}};
  route.turn_ends = {{.cell = {3, 4}, .cost = 2, .crossings = 1}};
  route.positions = {core::WorldPoint{1.5, 2.5, 3.5}};
  route.searching = std::chrono::nanoseconds(14);
  const auto query = Parsed<v1::FindPathRequest>(
      "start { position { x: 1 y: 2 z: 3 } } goals {} goals { cell { x: 9 y: 4 } }");
  RouteStamp stamp = StampOf({.epoch = 31, .revision = 32}, query, /*queued=*/std::chrono::nanoseconds(33));
  stamp.staleness = std::chrono::nanoseconds(34);
  v1::FindPathResponse told;
  WriteRoute(route, stamp, HexCoordinates(), told, nullptr);
  // A path that is clipped does not end as asked.
  ExpectAllFieldsBut({"rest", "nodes", "corridor", "surface", "polygons", "arrival_position"}, told);
  // As bytes it is the same message.
  google::protobuf::Arena arena;
  v1::FindPathResponse& rest = *v1::FindPathResponse::default_instance().New(&arena);
  WrittenMessage written(rest);
  WriteRoute(route, stamp, HexCoordinates(), rest, &written);
  v1::FindPathResponse read;
  ASSERT_TRUE(read.ParseFromString(BytesOf(written)));
  EXPECT_EQ(read.SerializeAsString(), told.SerializeAsString());
  EXPECT_EQ(TextOf(told), TextOf(Parsed<v1::FindPathResponse>(R"(
    info {
      version { epoch: 31 revision: 32 } staleness { nanos: 34 } bound: 1
      statistics {
        expanded: 11 generated: 12 algorithm: ALGORITHM_DIJKSTRA queue_time { nanos: 33 } search_time { nanos: 14 }
      }
    }
    outcome: OUTCOME_FOUND reason: OUTCOME_REASON_GOAL_REACHED cost: 2.5 goal_index: 1
    path {
      form: PATH_FORM_EVERY_CELL
      start { cell { x: 1 y: 2 } } end { cell { x: 3 y: 4 } }
      asked_start { position { x: 1 y: 2 z: 3 } } asked_end { cell { x: 9 y: 4 } }
      points { x: 1 y: 2 } points { x: 3 y: 4 }
      directions: [DIRECTION_NORTH, DIRECTION_NORTH_WEST]
      positions { x: 1.5 y: 2.5 z: 3.5 }
      crossings { portal: "stairs" index: 1 arrival { x: 3 y: 4 } map: "cellar" map_version { epoch: 21 revision: 22 } }
      crossings { portal: "gap" index: 2 arrival { x: 5 y: 6 } }
    }
    summary { length: 4 turns: 1 legs { terrain: "~" cells: 2 length: 3 cost: 2 } }
    least_cost: 1.5
    turn_ends { place { cell { x: 3 y: 4 } } cost: 2 crossings: 1 })")));
}

TEST(FilledRouteTest, EveryOutcomeAndReasonIsTold) {
  const auto told = [](core::Outcome outcome, core::OutcomeReason reason) {
    v1::FindPathResponse response;
    WriteRoute({.path = {.outcome = outcome, .reason = reason}}, {}, HexCoordinates(), response, nullptr);
    EXPECT_EQ(response.path().has_end(), core::HasPath(outcome));
    return v1::Outcome_Name(response.outcome()) + " " + v1::OutcomeReason_Name(response.reason());
  };
  using Reason = core::OutcomeReason;
  EXPECT_EQ(told(core::Outcome::kFound, Reason::kGoalReached), "OUTCOME_FOUND OUTCOME_REASON_GOAL_REACHED");
  EXPECT_EQ(told(core::Outcome::kPartial, Reason::kGoalBlocked),
            "OUTCOME_PARTIAL OUTCOME_REASON_GOAL_BLOCKED");
  EXPECT_EQ(told(core::Outcome::kUnreachable, Reason::kNoRoute),
            "OUTCOME_UNREACHABLE OUTCOME_REASON_NO_ROUTE");
  EXPECT_EQ(told(core::Outcome::kBudgetExhausted, Reason::kExpansionLimit),
            "OUTCOME_BUDGET_EXHAUSTED OUTCOME_REASON_EXPANSION_LIMIT");
  EXPECT_EQ(told(core::Outcome::kBudgetExhausted, Reason::kScratchLimit),
            "OUTCOME_BUDGET_EXHAUSTED OUTCOME_REASON_SCRATCH_LIMIT");
  EXPECT_EQ(told(core::Outcome::kTooCostly, Reason::kCostLimit),
            "OUTCOME_TOO_COSTLY OUTCOME_REASON_COST_LIMIT");
}

TEST(WrittenMessageTest, PartsAreFieldsOfOneMessage) {
  google::protobuf::Arena arena;
  auto& path = *v1::Path::default_instance().New(&arena);
  WrittenMessage written(path);
  EXPECT_TRUE(written.empty());
  const std::vector<core::Cell> points(100, {1000, 2000});
  WritePoints(absl::MakeConstSpan(points).first(50), written);
  path.mutable_start()->mutable_cell()->set_x(3);
  written.AddFieldsOf(path);
  WritePoints(absl::MakeConstSpan(points).last(50), written);
  EXPECT_FALSE(written.empty());
  v1::Path read;
  ASSERT_TRUE(read.ParseFromString(BytesOf(written)));
  AddPoints(points, path);
  EXPECT_EQ(read.SerializeAsString(), path.SerializeAsString());
}

TEST(WrittenMessageTest, MessagesAreFieldsOfMessages) {
  google::protobuf::Arena arena;
  auto& response = *v1::StreamFindPathResponse::default_instance().New(&arena);
  WrittenMessage written(response);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    v1::StreamedAnswer& streamed = *response.add_answers();
    streamed.set_id(id);
    WrittenMessage written_streamed(streamed);
    written_streamed.AddFieldsOf(streamed);
    const std::vector<core::Cell> points(id * 30, {5, 6});
    WrittenMessage path(*streamed.mutable_answer()->mutable_path());
    WritePoints(points, path);
    WrittenMessage answer(streamed.answer());
    answer.AddField(v1::FindPathResponse::kPathFieldNumber, path);
    written_streamed.AddField(v1::StreamedAnswer::kAnswerFieldNumber, answer);
    written.AddField(v1::StreamFindPathResponse::kAnswersFieldNumber, written_streamed);
    AddPoints(points, *streamed.mutable_answer()->mutable_path());
  }
  EXPECT_EQ(BytesOf(written), response.SerializeAsString());
}

TEST(WrittenMessageTest, StandsForOneMessageAlone) {
  google::protobuf::Arena arena;
  const auto& own = *v1::FindPathResponse::default_instance().New(&arena);
  const auto& other = *v1::FindPathResponse::default_instance().New(&arena);
  const WrittenMessage written(own);
  EXPECT_TRUE(written.StandsFor(own));
  EXPECT_FALSE(written.StandsFor(other));
}

}  // namespace
}  // namespace waystar::rpc
