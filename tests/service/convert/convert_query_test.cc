#include "server/service/convert/convert_query.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/service/convert/write_route.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;

v1::FindPathRequest Request() { return PathRequest("m", CellAt(1, 2), CellAt(3, 4)); }

absl::StatusOr<core::RouteQuery> Read(const v1::FindPathRequest& request) {
  return ToRouteQuery(request, "arena", HexCoordinates());
}

TEST(ToRouteQueryTest, LeavesOutMeansDefault) {
  const auto query = Read(Request()).value();
  EXPECT_EQ(query.start.cell, (core::Cell{1, 2}));
  EXPECT_EQ(query.start.position, std::nullopt);
  EXPECT_EQ(query.start.node, "");
  ASSERT_THAT(query.goals, SizeIs(1));
  EXPECT_EQ(query.goals[0].cell, (core::Cell{3, 4}));
  EXPECT_FALSE(query.snap.has_value());
  EXPECT_EQ(query.agent.corner_rule, std::nullopt);
  EXPECT_EQ(query.agent.footprint, std::nullopt);
  EXPECT_EQ(query.agent.profile, std::nullopt);
  EXPECT_EQ(query.agent.overlay, std::nullopt);
  EXPECT_EQ(query.algorithm, core::Algorithm::kAuto);
  EXPECT_EQ(query.unreachable_policy, core::UnreachablePolicy::kReport);
  EXPECT_EQ(query.path_form, core::PathForm::kEveryCell);
  EXPECT_EQ(query.max_expansions, std::numeric_limits<std::uint64_t>::max());
}

TEST(ToRouteQueryTest, EveryFieldIsRead) {
  v1::FindPathRequest request = Request();
  request.mutable_start()->mutable_position()->set_x(0.5);
  request.mutable_start()->mutable_position()->set_y(-1.5);
  request.add_goals()->mutable_position()->set_z(7);
  request.add_goals()->set_node("b");
  request.add_goals();
  request.set_goal_map("cellar");
  request.mutable_snap()->set_radius(1.25);
  request.set_unreachable_policy(v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE);
  request.set_max_expansions(9);
  request.set_with_positions(true);
  request.set_with_summary(true);
  request.mutable_agent()->set_corner_rule(v1::CORNER_RULE_ONE_SIDE_FREE);
  request.mutable_agent()->set_footprint(2);
  v1::MovementProfile& profile = *request.mutable_agent()->mutable_profile();
  profile.set_corner_rule(v1::CORNER_RULE_ALWAYS);
  profile.set_no_diagonals(true);
  profile.add_required_tags("dry");
  *request.mutable_view()->mutable_overlay()->mutable_blocked()->add_cells() = CellAt(7, 8);
  request.mutable_view()->mutable_overlay()->add_ignored_obstacles("guard");
  const auto query = Read(request).value();
  EXPECT_EQ(query.start.position, (core::WorldPoint{0.5, -1.5, 0}));
  EXPECT_EQ(query.start.cell, std::nullopt);
  ASSERT_THAT(query.goals, SizeIs(4));
  EXPECT_EQ(query.goals[0].cell, (core::Cell{3, 4}));
  EXPECT_EQ(query.goals[1].position, (core::WorldPoint{0, 0, 7}));
  EXPECT_EQ(query.goals[1].cell, std::nullopt);
  EXPECT_EQ(query.goals[2].node, "b");
  EXPECT_EQ(query.goals[3].cell, std::nullopt);
  EXPECT_EQ(query.goal_map, "cellar");
  EXPECT_EQ(query.snap.value_or(core::Snap()).radius, 1.25);
  EXPECT_EQ(query.unreachable_policy, core::UnreachablePolicy::kNearestByDistance);
  EXPECT_EQ(query.max_expansions, 9U);
  EXPECT_TRUE(query.with_positions);
  EXPECT_TRUE(query.with_summary);
  EXPECT_EQ(query.agent.corner_rule, core::CornerRule::kOneSideFree);
  EXPECT_EQ(query.agent.footprint, 2);
  EXPECT_EQ(query.agent.profile,
            (core::MovementProfile{
                .corner_rule = core::CornerRule::kAlways, .required_tags = {"dry"}, .no_diagonals = true}));
  EXPECT_THAT(query.agent.overlay->blocked.cells, ElementsAre(core::Cell{7, 8}));
  EXPECT_THAT(query.agent.overlay->ignored_obstacles, ElementsAre("guard"));
  request.mutable_agent()->set_profile_name("boat");
  EXPECT_EQ(Read(request)->agent.profile_name, "boat");
}

TEST(ToRouteQueryTest, EveryAlgorithmGoesInAndComesOut) {
  for (int value = v1::ALGORITHM_ASTAR; value < v1::Algorithm_ARRAYSIZE; ++value) {
    v1::FindPathRequest request = Request();
    request.set_algorithm(static_cast<v1::Algorithm>(value));
    const auto query = Read(request).value();
    EXPECT_EQ(FromAlgorithm(query.algorithm), value);
  }
}

TEST(ToRouteQueryTest, EveryPathFormIsKnown) {
  for (int value = 0; value < v1::PathForm_ARRAYSIZE; ++value) {
    v1::FindPathRequest request = Request();
    request.set_path_form(static_cast<v1::PathForm>(value));
    EXPECT_TRUE(Read(request).ok()) << value;
  }
  v1::FindPathRequest request = Request();
  request.set_path_form(v1::PATH_FORM_SMOOTHED);
  EXPECT_EQ(Read(request)->path_form, core::PathForm::kSmoothed);
}

TEST(ToRouteQueryTest, UnknownEnumValuesAreRefusedByTheirField) {
  v1::FindPathRequest request = Request();
  request.mutable_agent()->set_corner_rule(static_cast<v1::CornerRule>(99));
  EXPECT_THAT(Read(request), IsError(kInvalid, ErrorReason::kUnknownEnumValue, "agent.corner_rule"));
  request = Request();
  request.mutable_agent()->mutable_profile()->set_corner_rule(static_cast<v1::CornerRule>(99));
  EXPECT_THAT(Read(request), IsError(kInvalid, ErrorReason::kUnknownEnumValue, "agent.profile.corner_rule"));
  request = Request();
  request.set_algorithm(static_cast<v1::Algorithm>(99));
  EXPECT_THAT(Read(request), IsError(kInvalid, ErrorReason::kUnknownEnumValue, "algorithm"));
  request = Request();
  request.set_unreachable_policy(static_cast<v1::UnreachablePolicy>(-1));
  EXPECT_THAT(Read(request), IsError(kInvalid, ErrorReason::kUnknownEnumValue, "unreachable_policy"));
  request = Request();
  request.set_path_form(static_cast<v1::PathForm>(99));
  EXPECT_THAT(Read(request), IsError(kInvalid, ErrorReason::kUnknownEnumValue, "path_form"));
}

TEST(ToRouteQueryTest, OverlayNamesItsMissingParts) {
  v1::FindPathRequest request = Request();
  request.mutable_view()->mutable_overlay()->mutable_blocked()->add_discs()->set_radius(1);
  EXPECT_THAT(Read(request),
              IsError(kInvalid, ErrorReason::kMissingField, "view.overlay.blocked.discs[0].center"));
}

TEST(ToMaxEventsTest, HasADefaultAndARange) {
  v1::TraceSearchRequest request;
  EXPECT_EQ(*ToMaxEvents(request), std::size_t{100'000});
  for (const int max_events : {1, 1'000'000}) {
    request.set_max_events(max_events);
    EXPECT_EQ(*ToMaxEvents(request), static_cast<std::size_t>(max_events));
  }
  for (const int max_events : {-1, 1'000'001, INT32_MIN, INT32_MAX}) {
    request.set_max_events(max_events);
    EXPECT_THAT(ToMaxEvents(request), IsError(kInvalid, ErrorReason::kBadValue, "max_events"));
  }
}

v1::SearchEvent Written(const core::SearchEvent& event) {
  const std::vector<std::string> maps = {"", "cellar"};
  v1::TraceSearchResponse message;
  AddSearchEvent(event, maps, HexCoordinates(), message);
  return message.events(0);
}

TEST(AddSearchEventTest, CostsAreThoseOfThePath) {
  const v1::SearchEvent out =
      Written({core::SearchEvent::Kind::kGenerated, 0, {5, 6}, {4, 6}, 140'000'000, 250'000'000});
  EXPECT_EQ(out.kind(), v1::SearchEvent::KIND_GENERATED);
  EXPECT_EQ(out.cell().x(), 5);
  EXPECT_EQ(out.cell().y(), 6);
  EXPECT_EQ(out.parent().x(), 4);
  EXPECT_EQ(out.parent().y(), 6);
  EXPECT_EQ(out.g(), 1.4);
  EXPECT_EQ(out.f(), 2.5);
  EXPECT_EQ(out.map(), "");
}

TEST(AddSearchEventTest, StartAndExpandedCellsHaveNoParent) {
  EXPECT_FALSE(Written({core::SearchEvent::Kind::kGenerated, 0, {5, 6}, {5, 6}, 0, 1}).has_parent());
  const v1::SearchEvent expanded = Written({core::SearchEvent::Kind::kExpanded, 0, {5, 6}, {5, 6}, 0, 1});
  EXPECT_EQ(expanded.kind(), v1::SearchEvent::KIND_EXPANDED);
  EXPECT_FALSE(expanded.has_parent());
}

TEST(AddSearchEventTest, CellsOfAnotherMapSayWhich) {
  EXPECT_EQ(Written({core::SearchEvent::Kind::kExpanded, 1, {5, 6}, {5, 6}, 0, 1}).map(), "cellar");
}

}  // namespace
}  // namespace waystar::rpc
