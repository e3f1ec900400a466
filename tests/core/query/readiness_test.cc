// What a map needs once for the queries of an agent, and that it is made where there is upkeep for it.

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/interruption.h"
#include "tests/core/query/route_test.h"

namespace waystar::core {
namespace {

class ReadinessTest : public RouteTest {
 protected:
  ReadinessTest() { Create("bay", std::vector<std::string>(kSide, std::string(kSide, '.')), Meadow()); }

  // All of it costs the same.
  static GridSettings Meadow() {
    GridSettings settings;
    settings.terrains.push_back({.symbol = 's', .name = "sand"});
    return settings;
  }

  // Whether the query is answered where so much may be spent.
  bool IsAnsweredWith(std::uint64_t upkeep, const RouteQuery& query, const std::string& map = "bay") {
    Upkeep left(upkeep);
    const auto route = Find(map, query, {.upkeep = &left});
    EXPECT_TRUE(route.ok() || left.is_refused()) << route.status();
    return !left.is_refused();
  }

  // A query is made ready only where there is upkeep for the whole map, and needs none from then on.
  void ExpectReadyOnce(const RouteQuery& query) {
    EXPECT_FALSE(IsAnsweredWith(0, query));
    EXPECT_FALSE(IsAnsweredWith(kWhole / 2, query));
    EXPECT_TRUE(IsAnsweredWith(4 * kWhole, query));
    EXPECT_TRUE(IsAnsweredWith(0, query));
  }

  static RouteQuery Plain() { return Between({0, 0}, {kSide - 1, 70}); }

  static constexpr int kSide = 200;
  // Of looking at all cells.
  static constexpr std::uint64_t kWhole = kSide * kSide / 256;
};

TEST_F(ReadinessTest, ANewMapIsReadyForTheUsualRule) { EXPECT_TRUE(IsAnsweredWith(0, Plain())); }

TEST_F(ReadinessTest, OtherAgents) {
  ASSERT_TRUE(IsAnsweredWith(4 * kWhole, Plain()));
  RouteQuery corners = Plain();
  corners.agent.corner_rule = CornerRule::kAlways;
  ExpectReadyOnce(corners);
  RouteQuery large = Plain();
  large.agent.footprint = 3;
  large.goals[0].cell = Cell{kSide - 3, 70};
  ExpectReadyOnce(large);
  RouteQuery profile = Plain();
  profile.agent.profile = MovementProfile{.forbidden_terrains = {'s'}};
  ExpectReadyOnce(profile);
}

TEST_F(ReadinessTest, AStarNeedsNoJumps) {
  RouteQuery query = Plain();
  query.algorithm = Algorithm::kAStar;
  EXPECT_TRUE(IsAnsweredWith(kWhole, query));
  EXPECT_TRUE(IsAnsweredWith(0, query));
}

TEST_F(ReadinessTest, AViewFollowsAnEditForLessThanItsMaking) {
  RouteQuery query = Plain();
  query.agent.profile = MovementProfile{.forbidden_terrains = {'s'}};
  ASSERT_TRUE(IsAnsweredWith(4 * kWhole, query));
  Apply("bay", {BlockCells{{.cells = {{5, 5}}}}});
  EXPECT_FALSE(IsAnsweredWith(0, query));
  EXPECT_TRUE(IsAnsweredWith(3 * kWhole / 4, query));
}

// What the map has needs not be made again under each overlay, whatever the rule.
TEST_F(ReadinessTest, AnOverlayLeavesTheMapReady) {
  RouteQuery query = Plain();
  query.agent.corner_rule = CornerRule::kAlways;
  query.agent.overlay = Overlay{.blocked = {.cells = {{3, 3}}}};
  EXPECT_FALSE(IsAnsweredWith(0, query));
  EXPECT_TRUE(IsAnsweredWith(4 * kWhole, query));
  EXPECT_TRUE((*store_.Pin("bay"))->grid().walk().HasComponents(Adjacency::kAny));
  query.agent.overlay = Overlay{.blocked = {.cells = {{9, 9}}}};
  EXPECT_TRUE(IsAnsweredWith(0, query));
}

TEST_F(ReadinessTest, ALargeOverlayIsUpkeepEachTime) {
  RouteQuery query = Plain();
  query.agent.overlay = Overlay{.blocked = {.rectangles = {{1, 1, 150, 150}}}};
  ASSERT_TRUE(IsAnsweredWith(4 * kWhole, query));
  EXPECT_FALSE(IsAnsweredWith(0, query));
}

TEST_F(ReadinessTest, AnotherMapBehindAPortal) {
  GridSettings settings = Meadow();
  settings.world = "w";
  Create("here", {"...", "..."}, settings);
  Create("there", std::vector<std::string>(kSide, std::string(kSide, '.')), settings);
  Apply("here", {PutPortal{.portal = {.id = "door", .from = {2, 0}, .to_map = "there", .to = {0, 0}}}});
  RouteQuery query = Between({0, 0}, {5, 5});
  query.goal_map = "there";
  query.agent.corner_rule = CornerRule::kAlways;
  EXPECT_FALSE(IsAnsweredWith(8, query, "here"));
  EXPECT_TRUE(IsAnsweredWith(4 * kWhole, query, "here"));
  EXPECT_TRUE(IsAnsweredWith(0, query, "here"));
}

TEST_F(ReadinessTest, NothingIsMadeForWhoIsGone) {
  RouteQuery query = Plain();
  query.agent.corner_rule = CornerRule::kAlways;
  const std::atomic<bool> cancelled = true;
  EXPECT_TRUE(absl::IsCancelled(Find("bay", query, {.cancelled = &cancelled}).status()));
  EXPECT_FALSE((*store_.Pin("bay"))->grid().walk().HasComponents(Adjacency::kAny));
  const auto past = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Find("bay", query, {.deadline = past}).status()));
  EXPECT_FALSE((*store_.Pin("bay"))->grid().walk().HasComponents(Adjacency::kAny));
}

}  // namespace
}  // namespace waystar::core
