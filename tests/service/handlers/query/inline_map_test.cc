// Queries that bring their map along.

#include "server/service/handlers/query/inline_map.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/service/auth/check_access.h"
#include "server/service/handlers/query/answer_query.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::HandlerTest;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;
using ::waystar::testing::LocationAt;
using ::waystar::testing::Parsed;

constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

class InlineMapTest : public HandlerTest {
 protected:
  InlineMapTest() {
    *request_.mutable_start() = LocationAt(0, 0);
    *request_.add_goals() = LocationAt(2, 2);
  }

  v1::InlineMap& map() { return *request_.mutable_inline_map(); }

  // A graph of two nodes, which replaces cells by nodes in the query.
  v1::WaypointGraph& TakeGraph() {
    v1::WaypointGraph& graph = *map().mutable_graph();
    graph = Parsed<v1::WaypointGraph>("nodes { id: 'a' } nodes { id: 'b' position { x: 5 } }");
    request_.mutable_start()->set_node("a");
    request_.mutable_goals(0)->set_node("b");
    return graph;
  }

  v1::FindPathRequest request_;
};

TEST_F(InlineMapTest, RowsAreAMap) {
  map() = Parsed<v1::InlineMap>("rows: ['..~', '##~', '...'] grid { terrains { symbol: '~' cost: 3 } }");
  const auto answer = Find(request_).value();
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.cost(), 8.0);
  EXPECT_EQ(answer.path().points_size(), 5);
  EXPECT_EQ(answer.info().version().epoch(), 0U);
  EXPECT_EQ(answer.info().version().revision(), 0U);
  EXPECT_EQ(store_.size(), 0U) << "nothing is left behind";
}

TEST_F(InlineMapTest, BitsAreAMapOfRowsOfBytes) {
  v1::BitGrid& bits = *map().mutable_bits();
  bits.set_width(10);
  bits.set_height(3);
  // The second row is blocked but for x = 9.
  bits.set_blocked(std::string({'\0', '\0', '\xFF', '\x01', '\0', '\0'}));
  map().mutable_grid()->mutable_squares()->set_connectivity(v1::CONNECTIVITY_FOUR);
  const auto answer = Find(request_).value();
  EXPECT_EQ(answer.cost(), 9 + 2 + 7);
  bits.set_blocked("abc");
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSource, "inline_map.bits.blocked"));
  bits.clear_blocked();
  EXPECT_EQ(Find(request_)->cost(), 4) << "all is free";
}

TEST_F(InlineMapTest, GraphsAreSearchedToo) {
  v1::WaypointGraph& graph = TakeGraph();
  graph.mutable_auto_connect()->set_max_distance(10);
  const auto answer = Find(request_).value();
  EXPECT_THAT(answer.path().nodes(), ElementsAre("a", "b"));
  EXPECT_EQ(answer.cost(), 5);
  graph.mutable_auto_connect()->set_reference_map("arena");
  EXPECT_THAT(Find(request_),
              IsError(kInvalid, ErrorReason::kBadValue, "inline_map.graph.auto_connect.reference_map"));
  graph.clear_auto_connect();
  EXPECT_EQ(Find(request_)->outcome(), v1::OUTCOME_UNREACHABLE);
  graph.add_edges();
  EXPECT_THAT(Find(request_),
              IsError(kInvalid, ErrorReason::kMissingField, "inline_map.graph.edges[0].edge"));
}

TEST_F(InlineMapTest, HasOneSource) {
  map();
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSource, "inline_map"));
  map().add_rows("...");
  map().mutable_bits()->set_width(3);
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSource, "inline_map"));
  map().clear_bits();
  request_.set_map("arena");
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSource, "inline_map"));
}

TEST_F(InlineMapTest, WhatIsTooLargeIsRefusedBeforeItIsMade) {
  v1::BitGrid& bits = *map().mutable_bits();
  bits.set_width(8192);
  bits.set_height(8);
  *request_.mutable_goals(0) = LocationAt(8191, 0);
  const auto largest = Find(request_).value();
  EXPECT_EQ(largest.cost(), 8191);
  bits.set_height(9);
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSize, "inline_map.bits"));
  bits.set_width(8193);
  bits.set_height(1);
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSize, "inline_map.bits.width"));
  bits.set_width(1);
  bits.set_height(8192);
  map().mutable_grid()->mutable_hexagons()->set_layout(v1::HEX_LAYOUT_ODD_ROWS);
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSize, "inline_map.bits")) << "a vast plane";
  map().clear_grid();
  map().clear_bits();
  for (std::size_t i = 0; i <= rpc::kMaxInlineNodes; ++i) {
    map().mutable_graph()->add_nodes();
  }
  EXPECT_THAT(Find(request_), IsError(kExhausted, ErrorReason::kTooManyNodes, "inline_map.graph.nodes"));
  map().mutable_graph()->clear_nodes();
  for (std::size_t i = 0; i <= rpc::kMaxInlineEdges / 2; ++i) {
    map().mutable_graph()->add_edges();
  }
  EXPECT_THAT(Find(request_), IsError(kExhausted, ErrorReason::kTooManyEdges, "inline_map.graph.edges"));
  v1::WaypointGraph& graph = *map().mutable_graph();
  graph.Clear();
  for (int i = 0; i < 400; ++i) {
    graph.add_nodes()->set_id(absl::StrCat("n", i));
  }
  graph.mutable_auto_connect()->set_max_distance(1);
  EXPECT_THAT(Find(request_),
              IsError(kExhausted, ErrorReason::kTooManyEdges, "inline_map.graph.auto_connect"));
  for (std::size_t i = 0; i <= rpc::kMaxInlineObstacles; ++i) {
    graph.add_obstacles();
  }
  EXPECT_THAT(Find(request_),
              IsError(kExhausted, ErrorReason::kTooManyObstacles, "inline_map.graph.obstacles"));
}

TEST_F(InlineMapTest, IsNeverMadeWhereThereIsNoUpkeep) {
  map().add_rows("...");
  map().add_rows("...");
  map().add_rows("...");
  core::Upkeep none(0);
  context_.budget.upkeep = &none;
  EXPECT_FALSE(Find(request_).ok());
  EXPECT_TRUE(context_.NeedsLargerLane());
}

TEST_F(InlineMapTest, LeadsToNoOtherMap) {
  Create("other", {"..."});
  map().add_rows("...");
  request_.set_goal_map("other");
  EXPECT_THAT(Find(request_), IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "goal_map"));
}

// A query that names a map as well is not let in because it brings one.
TEST_F(InlineMapTest, IsForWhoeverMayReadSomeMap) {
  const auto caller_with = [](rpc::Permission permission) {
    rpc::Token token{.name = "game", .id = 1};
    token.grants.push_back({.permission = permission, .pattern = "town-*"});
    return rpc::Caller(std::make_shared<const rpc::Token>(token));
  };
  map().add_rows("...");
  const auto reads = [&](const rpc::Caller& caller) {
    return rpc::CheckMaps(caller, rpc::Permission::kRead, request_);
  };
  EXPECT_TRUE(reads(caller_with(rpc::Permission::kRead)).ok());
  const rpc::Caller nobody(std::make_shared<const rpc::Token>(rpc::Token{.name = "nobody", .id = 2}));
  EXPECT_EQ(reads(nobody).code(), absl::StatusCode::kPermissionDenied);
  request_.set_map("forest");
  EXPECT_THAT(reads(caller_with(rpc::Permission::kRead)),
              IsError(absl::StatusCode::kPermissionDenied, ErrorReason::kNotPermitted, "map"));
}

}  // namespace
}  // namespace waystar
