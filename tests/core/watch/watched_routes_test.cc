// Watched routes: what their subscriber is told as the map, its profiles and its portals change.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/store/store_listener.h"
#include "server/core/watch/answer_renewal.h"
#include "server/core/watch/map_subscriptions.h"
#include "tests/core/query/route_test.h"
#include "tests/testing/random.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::HasSubstr;

constexpr char kNothing[] = "";

Edit Paint(Cell cell, char terrain) { return SetTerrain{.shape = {.cells = {cell}}, .symbol = terrain}; }

// An answer without its points: another path of the same cost is no news.
std::string CostOf(const std::string& told) { return told.substr(0, told.find(':')); }

// One subscription on the map "arena".
class WatchedRoutesTest : public RouteTest, public StoreListener {
 protected:
  WatchedRoutesTest() { store_.AddListener(this); }

  void OnCommit(const PinnedSnapshot& snapshot, absl::Span<const CommitPtr> /*commits*/,
                const MapChanges& changes) override {
    if (snapshot->id == "arena") {
      subscriptions_.Commit(snapshot, changes);
    }
  }
  void OnDelete(const PinnedSnapshot& /*last*/) override {}

  // Returns the first answer, as Told says it.
  std::string Watch(const RouteQuery& query) {
    subscription_->query = query;
    subscriptions_.Add(subscription_);
    return SearchIfQueued();
  }

  // Returns what the subscriber is told of a commit.
  std::string After(std::vector<Edit> edits) {
    Apply("arena", std::move(edits));
    return SearchIfQueued();
  }

  // Returns what the subscriber is told; kNothing if no search is needed, or the answer holds.
  std::string SearchIfQueued() {
    subscriptions_.QueueCheaper({subscription_}, PathSubscription::Clock::time_point::max());
    if (!subscriptions_.BeginSearch(*subscription_)) {
      return kNothing;
    }
    const PinnedSnapshot snapshot = *store_.Pin("arena");
    ++searches_;
    AnswerRenewal renewal(Others(), *snapshot, *subscription_);
    const absl::StatusOr<Route> route = renewal.Search({}, scratch_);
    const std::string told = ToldOf(route);
    if (renewal.is_news()) {
      TakeTold(route);
    }
    if (renewal.answer() == nullptr) {
      renewal.TakeError(absl::UnknownError(told));
    }
    while_searching_();
    is_queued_again_ = subscriptions_.EndSearch(*subscription_, *snapshot, renewal.answer());
    return renewal.is_news() ? told : kNothing;
  }

  // Keeps the path that the subscriber is told.
  void TakeTold(const absl::StatusOr<Route>& route) {
    told_points_.clear();
    told_crossings_.clear();
    told_on_map_ = 0;
    if (route.ok() && route->path.outcome != Outcome::kUnreachable) {
      told_points_.assign(route->path.points.begin(), route->path.points.end());
      for (const PortalCrossing& crossing : route->crossings) {
        told_crossings_.push_back(
            {.id = crossing.portal->id, .arrival = crossing.arrival, .index = crossing.index});
      }
      const bool leaves = !route->crossings.empty() && !route->crossings.front().map.empty();
      told_on_map_ = leaves ? route->crossings.front().index : told_points_.size();
    }
  }

  // Returns the cost of what is left of that path; nullopt if it cannot be walked any more.
  std::optional<double> CostOfWhatWasTold() {
    const PinnedSnapshot snapshot = *store_.Pin("arena");
    const auto agent = ResolvedAgent::Make(*snapshot, subscription_->query.agent, Others(), false, {});
    EXPECT_THAT(agent, IsOk());
    const auto valid = ValidateThroughPortals(
        (*agent)->map(), **agent,
        {.points = told_points_, .corner_rule = (*agent)->corner_rule(), .footprint = (*agent)->footprint()},
        told_crossings_, (*agent)->required_tags());
    return valid.ok() && valid->walkable ? std::optional(valid->cost) : std::nullopt;
  }

  // Takes a step on that path, if one is left before the path leaves the map.
  void Walk() {
    if (told_on_map_ < 2) {
      return;
    }
    told_points_.erase(told_points_.begin());
    --told_on_map_;
    for (CrossedPortal& crossing : told_crossings_) {
      --crossing.index;
    }
    const auto move = MoveOn(**store_.Pin("arena"), {.cell = told_points_.front()}, kOffPath, ++moves_);
    subscriptions_.MoveTo(*subscription_, move);
  }

  std::vector<Cell> told_points_;
  std::vector<CrossedPortal> told_crossings_;
  std::size_t told_on_map_ = 0;
  std::uint64_t moves_ = 0;
  int searches_ = 0;
  MapSubscriptions subscriptions_{1};
  const std::shared_ptr<PathSubscription> subscription_ = std::make_shared<PathSubscription>();
  // Called between a search and its end.
  std::function<void()> while_searching_ = [] {};
  bool is_queued_again_ = false;
};

TEST_F(WatchedRoutesTest, TellWhatTheAgentSees) {
  GridSettings sea = Sea();
  sea.connectivity = Connectivity::kFour;
  Create("arena", {"~~~~~", "~~~~~"}, sea);
  const auto put = [](const MovementProfile& profile) { return PutProfile{{"boat", profile}}; };
  Apply("arena", {put({.terrain_costs = {{'~', 1.0}}})});
  RouteQuery query = Between({0, 0}, {4, 0});
  query.agent.profile_name = "boat";
  EXPECT_THAT(Watch(query), HasSubstr("4: "));
  EXPECT_THAT(After({Block({2, 0})}), HasSubstr("6: ")) << "which the map's own agents do not feel";
  EXPECT_THAT(After({put({.terrain_costs = {{'~', 0.5}}})}), HasSubstr("3: "));
  EXPECT_EQ(After({put({.footprint = 2, .terrain_costs = {{'~', 0.5}}})}), "GOAL_BLOCKED goals[0]");
  EXPECT_THAT(After({put({.terrain_costs = {{'~', 0.5}}})}), HasSubstr("3: "));
  EXPECT_EQ(After({RemoveProfile{"boat"}}), "PROFILE_NOT_FOUND agent.profile_name");
}

// a - b - c, a longer way round by d, and two nodes that are far away.
WaypointGraph Roads() {
  return *WaypointGraph::Create(
      {.nodes = {{"a", {0, 0}}, {"b", {4, 0}}, {"c", {8, 0}}, {"d", {4, 3}}, {"x", {90, 0}}, {"y", {94, 0}}},
       .edges = {{.name = {"a", "b"}},
                 {.name = {"b", "c"}},
                 {.name = {"a", "d"}},
                 {.name = {"d", "c"}},
                 {.name = {"x", "y"}}}});
}

TEST_F(WatchedRoutesTest, TellOfChangesOfAWaypointGraph) {
  ASSERT_THAT(store_.Create("arena", Roads(), absl::UnixEpoch()), IsOk());
  EXPECT_EQ(Watch({.start = {.node = "a"}, .goals = {{.node = "c"}}}), "8: ");
  EXPECT_EQ(After({SetEnabled{.edges = {{"b", "c"}}, .enabled = false}}), "10: ");
  EXPECT_EQ(After({PutEdges{.edges = {{.name = {"a", "c"}, .cost = 7}}}}), "7: ");
  const Obstacle crate{.id = "crate", .shape = {.discs = {{.center = {2, 0}, .radius = 0.5}}}};
  EXPECT_EQ(After({PutObstacle{.obstacle = crate}}), "10: ");
  const int before = searches_;
  EXPECT_EQ(After({SetEnabled{.edges = {{"x", "y"}}, .enabled = false}}), kNothing);
  EXPECT_EQ(After({PutEdges{.edges = {{.name = {"x", "y"}}}, .replace = true}}), kNothing);
  EXPECT_EQ(searches_, before) << "which is far away";
  EXPECT_EQ(After({RemoveNodes{{"d"}}}), "no way");
  EXPECT_EQ(After({RemoveObstacle{"crate"}}), "7: ");
  EXPECT_EQ(After({SetEnabled{.nodes = {"a"}, .enabled = false}}), "START_BLOCKED start");
  EXPECT_EQ(After({SetEnabled{.nodes = {"a"}, .enabled = true}}), "7: ");
  EXPECT_EQ(After({RemoveNodes{{"c"}}}), "NODE_NOT_FOUND goals[0].node");
}

TEST_F(WatchedRoutesTest, TellWhatHoldsUnderTheOverlayOfAQueryOnAGraph) {
  ASSERT_THAT(store_.Create("arena", Roads(), absl::UnixEpoch()), IsOk());
  RouteQuery query = {.start = {.node = "a"}, .goals = {{.node = "c"}}};
  query.agent.overlay = Overlay{.blocked_nodes = {"b"}};
  EXPECT_EQ(Watch(query), "10: ");
  EXPECT_EQ(After({SetEnabled{.edges = {{"a", "b"}}, .enabled = false}}), kNothing);
  EXPECT_EQ(After({RemoveNodes{{"d"}}}), "no way");
}

TEST_F(WatchedRoutesTest, SearchOnAWaypointGraphIsHeldAgainstWhatCameMeanwhile) {
  ASSERT_THAT(store_.Create("arena", Roads(), absl::UnixEpoch()), IsOk());
  while_searching_ = [this] { Apply("arena", {SetEnabled{.edges = {{"x", "y"}}, .enabled = false}}); };
  EXPECT_EQ(Watch({.start = {.node = "a"}, .goals = {{.node = "c"}}}), "8: ");
  EXPECT_FALSE(is_queued_again_);
  while_searching_ = [this] { Apply("arena", {RemoveNodes{{"d"}}}); };
  EXPECT_EQ(After({SetEnabled{.edges = {{"a", "b"}}, .enabled = false}}), "10: ");
  EXPECT_TRUE(is_queued_again_);
  while_searching_ = [] {};
  EXPECT_EQ(SearchIfQueued(), "no way");
}

// What the map's own agents cannot enter may be dear to others.
TEST_F(WatchedRoutesTest, TellWhatObstaclesOnForeignGroundCost) {
  Create("arena", std::vector<std::string>(5, std::string(12, '~')), Sea());
  RouteQuery query = Between({0, 0}, {11, 0});
  query.agent.profile = MovementProfile{.terrain_costs = {{'~', 1.0}}};
  EXPECT_THAT(Watch(query), HasSubstr("11: "));
  const auto put = [](double factor) {
    return PutObstacle{
        .obstacle = {.id = "kelp",
                     .shape = {.rectangles = {{5, 0, 1, 2}}},
                     .effect = {.kind = ObstacleEffect::Kind::kMultiplyCost, .amount = factor}},
        .replace = true};
  };
  EXPECT_NE(After({put(9)}), kNothing);
  EXPECT_THAT(After({RemoveObstacle{"kelp"}}), HasSubstr("11: "));
}

TEST_F(WatchedRoutesTest, TellWhenAProfileLearnsDiagonals) {
  Create("arena", {"...", "#..", "..."});
  const auto put = [](bool no_diagonals) {
    MovementProfile profile;
    profile.no_diagonals = no_diagonals;
    return PutProfile{{"rook", profile}};
  };
  Apply("arena", {put(true)});
  RouteQuery query = Between({0, 0}, {1, 1});
  query.agent.profile_name = "rook";
  EXPECT_THAT(Watch(query), HasSubstr("2: "));
  After({put(false)});
  EXPECT_THAT(After({Unblock({0, 1})}), HasSubstr("1.41421: "));
}

// On every fourth map, which is small, an agent for which most changes matter goes from side to side.
class RandomWatchTest : public WatchedRoutesTest, public ::testing::WithParamInterface<int> {
 protected:
  Cell AnyCell() {
    const int border = is_small_ ? 1 : 0;
    return {random_.Between(border, width_ - 1 - border), random_.Between(0, height_ - 1)};
  }

  std::vector<std::string> AnyRows() {
    std::vector<std::string> rows(height_, std::string(width_, '.'));
    for (std::string& row : rows) {
      for (char& cell : row) {
        cell = is_small_ ? ".~s"[random_.Between(0, 2)] : "....~s#"[random_.Between(0, 6)];
      }
    }
    if (is_small_) {
      rows.front().front() = rows.back().back() = '~';
    }
    return rows;
  }

  Edit AnyEdit() {
    const Cell cell = AnyCell();
    switch (random_.Between(0, 9)) {
      case 0:
        return SwitchPortal{.id = absl::StrCat("p", random_.Between(0, 2)), .closed = random_.Chance(0.5)};
      case 1:
      case 2:
        return Paint(cell, ".~s"[random_.Between(0, 2)]);
      case 3:
        return PutObstacle{.obstacle = {.id = "fire",
                                        .shape = {.discs = {{{cell.x + 0.5, cell.y + 0.5}, 2}}},
                                        .effect = {.kind = ObstacleEffect::Kind::kAddCost,
                                                   .amount = random_.Chance(0.5) ? 2.0 : -0.5}},
                           .replace = true};
      case 4:
      case 5:
      case 6:
        return Block(cell);
      default:
        return Unblock(cell);
    }
  }

  void PutPortals(const std::string& to_map = "") {
    for (int i = 0; i < 3; ++i) {
      const Edit put = PutPortal{.portal = {.id = absl::StrCat("p", i),
                                            .from = AnyCell(),
                                            .to_map = to_map,
                                            .to = AnyCell(),
                                            .cost = CostFromDouble(random_.Between(0, 3)),
                                            .both_ways = random_.Chance(0.5),
                                            .closed = random_.Chance(0.4)}};
      static_cast<void>(store_.UpdateAndWait("arena", {.edits = {put}}));
    }
  }

  RouteQuery AnyQuery() {
    RouteQuery query = Between(AnyCell(), AnyCell());
    if (is_small_) {
      query = Between({0, 0}, {width_ - 1, height_ - 1});
      query.agent.profile = MovementProfile{.corner_rule = CornerRule::kAlways,
                                            .terrain_costs = {{'~', 0.5}, {'s', 1.25}},
                                            .forbidden_terrains = {'.'}};
      return query;
    }
    if (random_.Chance(0.5)) {
      query.agent.profile = MovementProfile{.terrain_costs = {{'~', random_.Chance(0.5) ? 0.5 : 2.0}}};
    }
    if (random_.Chance(0.3)) {
      query.agent.footprint = 2;
    }
    if (random_.Chance(0.3)) {
      query.agent.corner_rule = CornerRule::kAlways;
    }
    if (random_.Chance(0.3)) {
      query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
    }
    return query;
  }

  const bool is_small_ = GetParam() % 4 == 0;
  const int width_ = is_small_ ? 12 : 90;
  const int height_ = is_small_ ? 6 : 40;
  Random random_{static_cast<std::uint64_t>(GetParam())};
};

// On maps with portals and with profiles: as long as the subscriber hears nothing, the path that it was told
// can be walked, and none is cheaper.
TEST_P(RandomWatchTest, SilenceMeansThatTheAnswerHolds) {
  Create("arena", AnyRows(), Sea());
  PutPortals();
  const RouteQuery query = AnyQuery();
  std::string told = CostOf(Watch(query));
  int edits = 0;
  int news = 0;
  for (int i = 0; i < (is_small_ ? 1500 : 150); ++i) {
    if (!store_.UpdateAndWait("arena", {.edits = {AnyEdit()}}).ok()) {
      continue;
    }
    ++edits;
    const std::string now = CostOf(SearchIfQueued());
    told = now == kNothing ? told : now;
    news += now == kNothing ? 0 : 1;
    ASSERT_EQ(told, CostOf(Told("arena", query))) << i;
    if (!told_points_.empty()) {
      ASSERT_TRUE(CostOfWhatWasTold()) << i;
    }
  }
  EXPECT_TRUE(!is_small_ || news > 2) << news;
  RecordProperty("searches", searches_);
  RecordProperty("edits", edits);
}

// As long as an agent that walks to another map hears nothing, what is left of its path is a cheapest one.
TEST_P(RandomWatchTest, SilenceMeansThatAPathToAnotherMapIsCheapest) {
  Create("arena", AnyRows(), Sea());
  Create("cellar", AnyRows(), Sea());
  PutPortals("cellar");
  RouteQuery query = AnyQuery();
  query.goal_map = "cellar";
  query.unreachable_policy = UnreachablePolicy::kReport;
  std::string told = CostOf(Watch(query));
  for (int i = 0; i < 80; ++i) {
    const std::string map = random_.Chance(0.5) ? "arena" : "cellar";
    if (!store_.UpdateAndWait(map, {.edits = {AnyEdit()}}).ok()) {
      continue;
    }
    if (map == "cellar") {
      subscriptions_.Outdate(*subscription_);
    }
    if (random_.Chance(0.3)) {
      Walk();
    }
    const std::string now = CostOf(SearchIfQueued());
    told = now == kNothing ? told : now;
    if (!told_points_.empty()) {
      query.start = {.cell = told_points_.front()};
      const std::optional<double> cost = CostOfWhatWasTold();
      ASSERT_TRUE(cost) << i;
      told = absl::StrCat(*cost);
    }
    ASSERT_EQ(told, CostOf(Told("arena", query))) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomWatchTest, ::testing::Range(1, 81));

// A wide map on which edits far from a path concern nobody.
class FarEditsTest : public WatchedRoutesTest {
 protected:
  FarEditsTest() { Create("arena", std::vector<std::string>(100, std::string(400, '.')), Sea()); }

  // How many searches far edits lead to.
  int SearchesFor(const RouteQuery& query) {
    Watch(query);
    searches_ = 0;
    for (int i = 0; i < 20; ++i) {
      After({Block({300 + i, 80})});
      After({Unblock({300 + i, 80})});
      After({Paint({300 + i, 90}, '~')});
      After({Paint({300 + i, 90}, 's')});
    }
    return searches_;
  }

  static RouteQuery Query() { return Between({5, 5}, {40, 20}); }
  static Portal Gate(bool closed) {
    return {.id = "gate", .from = {10, 70}, .to = {60, 80}, .both_ways = true, .closed = closed};
  }
};

TEST_F(FarEditsTest, ConcernNobodyOnAPlainMap) { EXPECT_EQ(SearchesFor(Query()), 0); }

TEST_F(FarEditsTest, ConcernNobodyBesideAClosedPortal) {
  Apply("arena", {PutPortal{.portal = Gate(true)}, Block({20, 12})});
  EXPECT_EQ(SearchesFor(Query()), 0);
}

TEST_F(FarEditsTest, ConcernNobodyBesideAnOpenPortalThatIsFar) {
  Apply("arena", {PutPortal{.portal = Gate(false)}, Block({20, 12})});
  EXPECT_EQ(SearchesFor(Query()), 0);
}

TEST_F(FarEditsTest, ConcernNobodyWhosePathTakesAPortal) {
  Apply("arena", {PutPortal{.portal = {.id = "gate", .from = {6, 6}, .to = {39, 19}, .both_ways = true}}});
  EXPECT_EQ(SearchesFor(Query()), 0);
  EXPECT_THAT(After({Block({6, 6})}), HasSubstr(": "));
}

TEST_F(FarEditsTest, ConcernNobodyBesideACheapCell) {
  const auto gold = [](std::string id, Cell cell) {
    return PutObstacle{.obstacle = {.id = std::move(id),
                                    .shape = {.cells = {cell}},
                                    .effect = {.kind = ObstacleEffect::Kind::kMultiplyCost, .amount = 0.01}}};
  };
  Apply("arena", {gold("far", {320, 60}), Block({20, 12})});
  EXPECT_EQ(SearchesFor(Query()), 0);
  // The path leads through it.
  Apply("arena", {gold("near", {19, 11})});
  EXPECT_EQ(SearchesFor(Query()), 0);
  EXPECT_THAT(After({RemoveObstacle{.id = "near"}}), HasSubstr(": "));
}

TEST_F(FarEditsTest, ConcernNobodyWithAProfile) {
  RouteQuery query = Query();
  query.agent.profile = MovementProfile{.terrain_costs = {{'~', 2.0}}};
  EXPECT_EQ(SearchesFor(query), 0);
  EXPECT_EQ(After({Block({200, 12})}), kNothing);
  for (int x = 6; x < 40; ++x) {
    Apply("arena", {Block({x, 12})});
  }
  EXPECT_NE(SearchIfQueued(), kNothing);
}

TEST_F(WatchedRoutesTest, OverlayIsPartOfTheQuery) {
  Create("arena", {"....", "...."});
  Apply("arena", {PutObstacle{.obstacle = {.id = "cart", .shape = {.cells = {{2, 1}}}}}});
  RouteQuery query = Between({0, 0}, {3, 0});
  query.agent.overlay = Overlay{.blocked = {.cells = {{1, 0}}}, .ignored_obstacles = {"cart"}};
  EXPECT_EQ(Watch(query), "4.41421: (0, 0) (0, 1) (1, 1) (2, 1) (3, 0)");
  EXPECT_EQ(After({Block({2, 0})}), "5: (0, 0) (0, 1) (1, 1) (2, 1) (3, 1) (3, 0)");
  EXPECT_EQ(After({Block({1, 1})}), "no way");
}

TEST_F(WatchedRoutesTest, FollowTheCellThatIsSnappedTo) {
  Create("arena", {"........",  //
                   "...##...",  //
                   "...##...",  //
                   "........"});
  RouteQuery query = {.start = {.position = WorldPoint{4.4, 2.4}},
                      .goals = {{.position = WorldPoint{7.5, 2.5}}}};
  query.snap = Snap{4};
  EXPECT_THAT(Watch(query), HasSubstr(": (5, 2) "));
  EXPECT_THAT(After({Unblock({4, 2})}), HasSubstr(": (4, 2) "));
  EXPECT_THAT(After({Block({4, 2}), Block({5, 2})}), HasSubstr(": (4, 3) "));
}

TEST_F(WatchedRoutesTest, TellWhenAPortalOpensClosesOrIsBlocked) {
  Create("arena", {"..#..",  //
                   "..#..",  //
                   "....."});
  EXPECT_THAT(Watch(Between({0, 0}, {4, 0})), HasSubstr("(2, 2)"));
  const Portal gate = {.id = "gate", .from = {1, 0}, .to = {3, 0}, .cost = CostFromDouble(1)};
  EXPECT_EQ(After({PutPortal{.portal = gate}}), "3: (0, 0) (1, 0) (3, 0) (4, 0)");
  EXPECT_EQ(After({Block({1, 1})}), kNothing);
  EXPECT_THAT(After({SwitchPortal{.id = "gate", .closed = true}}), HasSubstr("(2, 2)"));
  EXPECT_EQ(After({SwitchPortal{.id = "gate"}}), "3: (0, 0) (1, 0) (3, 0) (4, 0)");
  EXPECT_THAT(After({Block({3, 0})}), HasSubstr("(2, 2)")) << "its far end is blocked";
}

TEST_F(WatchedRoutesTest, StayOnTheirMap) {
  Create("arena", {"..#.."});
  Create("cellar", {"....."});
  const auto stairs = [](int x, const std::string& to_map) {
    return PutPortal{.portal = {.id = "stairs", .from = {x, 0}, .to_map = to_map, .to = {x, 0}}};
  };
  Apply("arena", {stairs(1, "cellar")});
  Apply("cellar", {stairs(3, "arena")});
  ASSERT_THAT(Told("arena", Between({0, 0}, {4, 0})), HasSubstr("4: "));
  EXPECT_EQ(Watch(Between({0, 0}, {4, 0})), "no way");
}

TEST_F(WatchedRoutesTest, LeaveTheirMapForAGoalElsewhere) {
  Create("arena", {"....."});
  Create("cellar", {"....."});
  const auto stairs = [](int x, double cost) {
    return PutPortal{.portal = {.id = absl::StrCat("stairs", x),
                                .from = {x, 0},
                                .to_map = "cellar",
                                .to = {x, 0},
                                .cost = CostFromDouble(cost)}};
  };
  Apply("arena", {stairs(1, 1), stairs(3, 5)});
  RouteQuery query = Between({0, 0}, {4, 0});
  query.goal_map = "cellar";
  EXPECT_EQ(Watch(query), "5: (0, 0) (1, 0) (1, 0) (2, 0) (3, 0) (4, 0)");
  Walk();
  EXPECT_EQ(SearchIfQueued(), kNothing) << "the agent is on its path";
  Apply("cellar", {Block({0, 0})});
  subscriptions_.Outdate(*subscription_);
  EXPECT_EQ(SearchIfQueued(), kNothing) << "the rest of the path is still the cheapest";
  Apply("cellar", {Block({2, 0})});
  subscriptions_.Outdate(*subscription_);
  EXPECT_EQ(SearchIfQueued(), "8: (1, 0) (2, 0) (3, 0) (3, 0) (4, 0)");
  EXPECT_EQ(After({SwitchPortal{.id = "stairs3", .closed = true}}), "no way");
  while_searching_ = [&] { subscriptions_.Outdate(*subscription_); };
  EXPECT_THAT(After({SwitchPortal{.id = "stairs3"}}), HasSubstr("8: "));
  EXPECT_TRUE(is_queued_again_);
}

TEST_F(WatchedRoutesTest, AreQueuedAgainByWhatChangesDuringTheSearch) {
  Create("arena", {"....", "....", "...."});
  while_searching_ = [&] { Apply("arena", {Block({2, 0})}); };
  EXPECT_EQ(Watch(Between({0, 0}, {3, 0})), "3: (0, 0) (1, 0) (2, 0) (3, 0)");
  EXPECT_TRUE(is_queued_again_);
  while_searching_ = [&] { Apply("arena", {Block({0, 2})}); };
  EXPECT_EQ(SearchIfQueued(), "4.41421: (0, 0) (1, 1) (2, 1) (3, 1) (3, 0)");
  EXPECT_FALSE(is_queued_again_) << "the commit does not concern the path";
  EXPECT_EQ(SearchIfQueued(), kNothing);
}

}  // namespace
}  // namespace waystar::core
