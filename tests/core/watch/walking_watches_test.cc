// Watches of agents that walk: what is left of the path that an agent was told is a cheapest path from where
// it is, as long as it is told nothing.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/store/store_listener.h"
#include "server/core/watch/answer_renewal.h"
#include "server/core/watch/course.h"
#include "server/core/watch/held_path.h"
#include "server/core/watch/map_subscriptions.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/query/route_test.h"
#include "tests/testing/seeds.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(CourseTest, FollowsTheStretchThatTheAgentIsOn) {
  // There and back again, a unit beside.
  Course course({{0, 0}, {10, 0}, {10, 1}, {0, 1}}, {});
  EXPECT_TRUE(course.Follow({2, 0.2}, 0.5));
  EXPECT_EQ(course.place().next, 1U);
  EXPECT_DOUBLE_EQ(course.place().share, 0.2);
  EXPECT_FALSE(course.Follow({1, 0}, 0.5)) << "which is behind";
  EXPECT_FALSE(course.Follow({4, -0.6}, 0.5));
  EXPECT_DOUBLE_EQ(course.place().share, 0.2);
  EXPECT_TRUE(course.Follow({9.9, 0.95}, 0.5)) << "past the corner";
  EXPECT_EQ(course.place().next, 3U);
  EXPECT_TRUE(course.Follow({0, 1}, 0.5));
  EXPECT_TRUE(course.Follow({0, 1}, 0.5));
  EXPECT_FALSE(course.Follow({1, 1}, 0.5));
}

TEST(CourseTest, LeapsOverPortals) {
  Course course({{0, 0}, {2, 0}, {8, 8}, {9, 8}}, {2});
  EXPECT_TRUE(course.Follow({2, 0}, 0.1));
  EXPECT_FALSE(course.Follow({5, 4}, 0.5)) << "between the ends of the portal";
  EXPECT_TRUE(course.Follow({8, 8}, 0.1));
  EXPECT_TRUE(course.Follow({8.5, 8}, 0.1));
  EXPECT_EQ(course.place().next, 3U);
}

TEST(CourseTest, SaysWhatLiesAhead) {
  using Points = std::vector<WorldPoint>;
  Course course({{0, 0}, {2, 0, 2}, {8, 8}, {9, 8}}, {2});
  EXPECT_EQ(course.RestAhead().points, (Points{{0, 0}, {2, 0, 2}, {8, 8}, {9, 8}}));
  EXPECT_THAT(course.RestAhead().leaps, ElementsAre(2));
  course.Follow({1, 0}, 0.1);
  EXPECT_EQ(course.RestAhead().points, (Points{{1, 0, 1}, {2, 0, 2}, {8, 8}, {9, 8}}));
  EXPECT_THAT(course.RestAhead().leaps, ElementsAre(2));
  course.Follow({8, 8}, 0.1);
  EXPECT_EQ(course.RestAhead().points.back(), (WorldPoint{9, 8}));
  EXPECT_THAT(course.RestAhead().leaps, IsEmpty());
  EXPECT_EQ(Course({{0, 0}, {8, 8}}, {1}).RestAhead().points, (Points{{0, 0}, {8, 8}}));
  EXPECT_THAT(Course({{0, 0}, {8, 8}}, {1}).RestAhead().leaps, ElementsAre(1));
  EXPECT_EQ(Course({{3, 3}}, {}).RestAhead().points, (Points{{3, 3}}));
  EXPECT_THAT(Course().RestAhead().points, IsEmpty());
}

TEST(CourseTest, EndsWhereItBegins) {
  Course none;
  EXPECT_FALSE(none.Follow({0, 0}, 1.0));
  Course point({{3, 3}}, {});
  EXPECT_TRUE(point.Follow({3, 3.5}, 0.5));
  EXPECT_FALSE(point.Follow({3, 4}, 0.5));
}

// An agent on the map "arena".
class WalkingWatchesTest : public RouteTest, public StoreListener {
 protected:
  WalkingWatchesTest() { store_.AddListener(this); }

  void OnCommit(const PinnedSnapshot& snapshot, absl::Span<const CommitPtr> /*commits*/,
                const MapChanges& changes) override {
    if (map_ != nullptr) {
      map_->Commit(snapshot, changes);
    }
  }
  void OnDelete(const PinnedSnapshot& /*last*/) override {}

  void Start(AnyMap map, const RouteQuery& query) {
    map_.reset();
    static_cast<void>(store_.Delete("arena"));
    ASSERT_THAT(store_.Create("arena", std::move(map), absl::UnixEpoch()), IsOk());
    map_ = std::make_unique<MapSubscriptions>(Latest()->revision);
    agent_ = std::make_shared<PathSubscription>();
    agent_->query = query;
    agent_->query.with_positions = true;
    told_.clear();
    place_ = query.start;
    map_->Add(agent_);
    Search();
  }

  PinnedSnapshot Latest() { return *store_.Pin("arena"); }

  void MoveTo(const Location& place) {
    place_ = place;
    map_->MoveTo(*agent_, MoveOn(*Latest(), place, kOffPath, ++moves_));
  }

  // Takes the agent away from its path. Does nothing if the place is near that.
  void Jump(const Location& place) {
    constexpr double kNear = 0.6;
    const WorldPoint at = MoveOn(*Latest(), place, kOffPath, 0).position;
    Course course(told_, {});
    if (!course.Follow(at, kNear)) {
      MoveTo(place);
    }
  }

  // Searches for the agent if it is queued. Returns true if it was told anything.
  bool Search() {
    bool is_news = false;
    const auto queue_cheaper = [&] {
      return map_->QueueCheaper({agent_}, PathSubscription::Clock::time_point::max());
    };
    for (queue_cheaper(); map_->BeginSearch(*agent_); queue_cheaper()) {
      ++searches_;
      const PinnedSnapshot snapshot = Latest();
      AnswerRenewal renewal(Others(), *snapshot, *agent_);
      const absl::StatusOr<Route> route = renewal.Search({}, scratch_);
      if (renewal.answer() == nullptr) {
        renewal.TakeError(route.status());
      }
      if (renewal.is_news()) {
        is_news = true;
        told_.clear();
        nodes_.clear();
        if (route.ok() && route->path.outcome == Outcome::kFound) {
          told_ = route->positions;
          nodes_.assign(route->nodes.begin(), route->nodes.end());
        }
      }
      EXPECT_LE(map_->StandingOf({agent_}).right, snapshot->revision);
      map_->EndSearch(*agent_, *snapshot, renewal.answer());
    }
    news_ += is_news ? 1 : 0;
    EXPECT_EQ(map_->StandingOf({agent_}).right, Latest()->revision);
    EXPECT_EQ(map_->StandingOf({agent_}).walkable, Latest()->revision);
    return is_news;
  }

  // As after a lost connection: another subscription adopts the path that the agent was told, which was right
  // at that revision.
  void Reconnect(std::uint64_t revision, double cost) {
    const PinnedSnapshot snapshot = Latest();
    HeldPath held{.cost = cost};
    for (const NodeNumber node : nodes_) {
      held.nodes.push_back(snapshot->graph().IdOf(node));
    }
    for (const WorldPoint& position : told_) {
      if (const GridMap* const grid = std::get_if<GridMap>(&snapshot->map)) {
        held.points.push_back(grid->settings().frame.CellAt(position));
      }
    }
    held.corners = told_;
    const auto agent = std::make_shared<PathSubscription>();
    agent->query = agent_->query;
    agent->StartAt(MoveOn(*snapshot, place_, kOffPath, ++moves_));
    agent_ = agent;
    map_ = std::make_unique<MapSubscriptions>(snapshot->revision);
    map_->Add(agent_);
    ASSERT_TRUE(map_->BeginSearch(*agent_));
    AnswerRenewal renewal(Others(), *snapshot, *agent_);
    const absl::StatusOr<bool> is_adopted = renewal.Adopt(held, {});
    ASSERT_THAT(is_adopted, IsOk());
    if (!*is_adopted) {
      // The agent has left the path.
      map_->AbandonSearch(*agent_);
      return;
    }
    const absl::StatusOr<History> history =
        store_.ReadHistory("arena", revision + 1, snapshot->revision - revision);
    ASSERT_THAT(history, IsOk());
    const bool is_right =
        renewal.answer()->EffectOf(ChangesOf(history->commits, *snapshot), *snapshot) == ChangeEffect::kNone;
    map_->EndSearch(*agent_, *snapshot, renewal.answer(), is_right ? 0 : revision + 1);
    ++(is_right ? kept_ : doubted_);
  }
  // Reconnects now and then, unless the path that the agent was told is blocked or costs more now. `cost` is
  // what it cost at the revision of the last search.
  void MayReconnect(Random& random, std::uint64_t revision, double cost) {
    const double fresh = FreshCost();
    if (!told_.empty() && random.Chance(0.2) && fresh >= 0.0 && fresh <= cost + 1e-6) {
      Reconnect(revision, cost);
    }
  }

  // Returns the cost of a path from where the agent is now; -1 without one. On a mesh, `fresh_start_` is then
  // that place on its ground.
  double FreshCost() {
    RouteQuery query = agent_->query;
    query.start = place_;
    const absl::StatusOr<Route> route = Find("arena", query);
    if (!route.ok() || route->path.outcome != Outcome::kFound) {
      return -1.0;
    }
    fresh_start_ = route->positions.empty() ? WorldPoint() : route->positions.front();
    return route->path.cost;
  }

  std::unique_ptr<MapSubscriptions> map_;
  std::shared_ptr<PathSubscription> agent_;
  // Positions of the path that the agent was told, from where it is; empty without a path. On graphs, the
  // nodes.
  std::vector<WorldPoint> told_;
  std::vector<NodeNumber> nodes_;
  Location place_;
  WorldPoint fresh_start_;
  std::uint64_t moves_ = 0;
  int searches_ = 0;
  int news_ = 0;
  // Adopted paths that no change since may have made dear, and others.
  int kept_ = 0;
  int doubted_ = 0;
};

TEST_F(WalkingWatchesTest, WhatLiesBehindConcernsNobody) {
  Start(DrawMap({"..........", "..........", ".........."}), Between({0, 1}, {9, 1}));
  MoveTo({.cell = Cell{5, 1}});
  EXPECT_EQ(searches_, 1);
  Apply("arena", {BlockCells{.shape = {.cells = {{2, 1}}}}});
  EXPECT_FALSE(Search());
  EXPECT_EQ(searches_, 1) << "which lies behind";
  Apply("arena", {BlockCells{.shape = {.cells = {{7, 1}}}}});
  EXPECT_TRUE(Search());
  EXPECT_EQ(told_.front(), (WorldPoint{5.5, 1.5}));
  EXPECT_EQ(searches_, 2);
}

TEST_F(WalkingWatchesTest, AnAgentThatLeavesItsPathGetsAnother) {
  Start(DrawMap({"..........", "..........", ".........."}), Between({0, 0}, {9, 0}));
  MoveTo({.position = WorldPoint{4.5, 0.9}});
  EXPECT_FALSE(Search()) << "0.4 cells beside it";
  MoveTo({.position = WorldPoint{4.5, 1.1}});
  EXPECT_TRUE(Search());
  EXPECT_EQ(told_.front(), (WorldPoint{4.5, 1.5}));
  MoveTo({.cell = Cell{40, 40}});
  EXPECT_TRUE(Search());
  EXPECT_TRUE(told_.empty()) << "off the map";
  MoveTo({.cell = Cell{4, 0}});
  EXPECT_TRUE(Search());
  EXPECT_EQ(told_.size(), 6U);
}

TEST_F(WalkingWatchesTest, CheaperPathsWait) {
  Start(DrawMap({".....", ".###.", "....."}), Between({0, 0}, {4, 2}));
  using Clock = PathSubscription::Clock;
  Apply("arena", {UnblockCells{.shape = {.cells = {{2, 1}}}}});
  EXPECT_FALSE(map_->BeginSearch(*agent_));
  EXPECT_EQ(map_->StandingOf({agent_}).right, 1U);
  EXPECT_EQ(map_->StandingOf({agent_}).walkable, 2U);
  EXPECT_THAT(map_->QueueCheaper({agent_}, Clock::time_point::min()), IsEmpty());
  EXPECT_THAT(map_->QueueCheaper({agent_}, Clock::time_point::max()), SizeIs(1));
  EXPECT_EQ(map_->StandingOf({agent_}).walkable, 2U);
  // A change that blocks the path is searched for at once.
  Apply("arena", {BlockCells{.shape = {.cells = {{0, 1}, {4, 1}}}}});
  EXPECT_EQ(map_->StandingOf({agent_}).right, 1U);
  EXPECT_EQ(map_->StandingOf({agent_}).walkable, 2U);
  EXPECT_TRUE(Search());
  EXPECT_EQ(searches_, 2);
}

TEST_F(WalkingWatchesTest, AnAnswerThatWasLostIsRepeated) {
  Start(DrawMap({"....."}), Between({0, 0}, {4, 0}));
  EXPECT_TRUE(map_->Repeat(*agent_));
  EXPECT_FALSE(map_->Repeat(*agent_)) << "which is queued";
  EXPECT_TRUE(Search());
  EXPECT_EQ(news_, 2);
}

TEST_F(WalkingWatchesTest, WhatIsLeftOnAGridIsACheapestPath) {
  int ticks = 0;
  ForSeeds(60, [&](Random& random) {
    const int width = random.Between(5, 70);
    const int height = random.Between(5, 30);
    const auto any_cell = [&] { return Cell{random.Between(0, width - 1), random.Between(0, height - 1)}; };
    std::vector<std::string> rows(height, std::string(width, '.'));
    for (std::string& row : rows) {
      std::ranges::generate(row, [&] { return "....s#"[random.Between(0, 5)]; });
    }
    RouteQuery query = Between(any_cell(), any_cell());
    query.path_form = random.Chance(0.5) ? PathForm::kEveryCell : PathForm::kCorners;
    Start(DrawMap(rows, Sea()), query);
    for (int tick = 0; tick < 60; ++tick) {
      if (random.Chance(0.05)) {
        Jump({.cell = any_cell()});
      } else if (told_.size() > 1 && query.path_form == PathForm::kEveryCell) {
        told_.erase(told_.begin());
        MoveTo({.position = told_.front()});
      }
      const Cell cell = any_cell();
      Edit edit = UnblockCells{.shape = {.cells = {cell}}};
      if (random.Chance(0.4)) {
        edit = BlockCells{.shape = {.cells = {cell}}};
      } else if (random.Chance(0.3)) {
        edit = SetTerrain{.shape = {.cells = {cell}}, .symbol = random.Chance(0.5) ? 's' : '.'};
      }
      const std::uint64_t revision = Latest()->revision;
      const double cost = FreshCost();
      Apply("arena", {edit});
      MayReconnect(random, revision, cost);
      Search();
      ++ticks;
      const double fresh = FreshCost();
      if (told_.empty()) {
        ASSERT_LT(fresh, 0.0) << tick;
        continue;
      }
      const GridMap& map = Latest()->grid();
      std::vector<Cell> cells;
      for (const WorldPoint& position : told_) {
        cells.push_back(map.settings().frame.CellAt(position));
      }
      const auto rest = ValidatePath(map, {.points = cells, .path_form = PathForm::kCorners});
      ASSERT_THAT(rest, IsOk());
      ASSERT_TRUE(rest->walkable) << tick;
      ASSERT_NEAR(rest->cost, fresh, 1e-3) << tick;
    }
  });
  EXPECT_LT(news_, ticks);
  EXPECT_GT(kept_, doubted_);
  RecordProperty("searches", searches_);
  RecordProperty("news", news_);
}

TEST_F(WalkingWatchesTest, WhatIsLeftOnAGraphIsACheapestPath) {
  ForSeeds(60, [&](Random& random) {
    constexpr int kSide = 9;
    const auto name = [](int x, int y) { return absl::StrCat(x, ":", y); };
    const auto any_node = [&] { return name(random.Between(0, kSide - 1), random.Between(0, kSide - 1)); };
    WaypointSpec spec;
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        spec.nodes.push_back({.id = name(x, y), .position = {x + random.Between(0, 2) / 8.0, double(y)}});
        if (x > 0) {
          spec.edges.push_back({.name = {name(x - 1, y), name(x, y)}});
        }
        if (y > 0) {
          spec.edges.push_back({.name = {name(x, y - 1), name(x, y)}});
        }
      }
    }
    Start(*WaypointGraph::Create(spec), {.start = {.node = any_node()}, .goals = {{.node = any_node()}}});
    for (int tick = 0; tick < 40; ++tick) {
      if (random.Chance(0.05)) {
        Jump({.node = any_node()});
      } else if (nodes_.size() > 1) {
        nodes_.erase(nodes_.begin());
        MoveTo({.node = Latest()->graph().IdOf(nodes_.front())});
      }
      const int x = random.Between(1, kSide - 1);
      const int y = random.Between(1, kSide - 1);
      const EdgeName edge =
          random.Chance(0.5) ? EdgeName{name(x - 1, y), name(x, y)} : EdgeName{name(x, y - 1), name(x, y)};
      const std::uint64_t revision = Latest()->revision;
      const double cost = FreshCost();
      if (random.Chance(0.2)) {
        Apply("arena",
              {PutObstacle{.obstacle = {.id = "crate", .shape = {.discs = {{{x + 0.5, double(y)}, 0.3}}}},
                           .replace = true}});
      } else {
        Apply("arena", {SetEnabled{.edges = {edge}, .enabled = random.Chance(0.5)}});
      }
      MayReconnect(random, revision, cost);
      Search();
      const double fresh = FreshCost();
      if (nodes_.empty()) {
        ASSERT_LT(fresh, 0.0) << tick;
        continue;
      }
      const WaypointGraph& graph = Latest()->graph();
      double rest = 0.0;
      for (std::size_t i = 1; i < nodes_.size(); ++i) {
        const Arc* const arc = graph.FindArc(nodes_[i - 1], nodes_[i]);
        ASSERT_NE(arc, nullptr);
        ASSERT_TRUE(arc->is_open()) << tick;
        rest += CostToDouble(arc->cost);
      }
      ASSERT_NEAR(rest, fresh, 1e-3) << tick;
    }
  });
}

TEST_F(WalkingWatchesTest, WhatIsLeftOnAMeshIsAShortestPath) {
  ForSeeds(60, [&](Random& random) {
    const NavMesh mesh = MeshOf(BentFloors(random, 1, 8, 14)).WithAgentRadius(0.25);
    const auto place = [&] {
      return MiddleOf(
          mesh, static_cast<PolygonNumber>(random.Between(0, static_cast<int>(mesh.polygon_count()) - 1)));
    };
    Start(mesh, {.start = {.position = place()}, .goals = {{.position = place()}}});
    for (int tick = 0; tick < 30; ++tick) {
      if (random.Chance(0.05)) {
        Jump({.position = place()});
      } else if (told_.size() > 1) {
        const double share = random.Between(0, 4) / 4.0;
        const WorldPoint& to = told_[1];
        WorldPoint& at = told_.front();
        at = {at.x + share * (to.x - at.x), at.y + share * (to.y - at.y), at.z + share * (to.z - at.z)};
        MoveTo({.position = at});
        if (share == 1.0) {
          told_.erase(told_.begin());
        }
      }
      const WorldPoint at = place();
      const Obstacle crate{.id = absl::StrCat("crate", random.Between(0, 9)),
                           .shape = {.discs = {{{at.x, at.y}, random.Between(1, 8) / 8.0}}}};
      const std::uint64_t revision = Latest()->revision;
      const double cost = FreshCost();
      Apply("arena", {PutObstacle{.obstacle = crate, .replace = true}});
      MayReconnect(random, revision, cost);
      Search();
      const double fresh = FreshCost();
      if (told_.empty()) {
        ASSERT_LT(fresh, 0.0) << tick;
        continue;
      }
      double rest = 0.0;
      for (std::size_t i = 1; i < told_.size(); ++i) {
        // The agent may be beside the ground by a tolerance.
        const WorldPoint& from = i == 1 ? fresh_start_ : told_[i - 1];
        rest += std::hypot(told_[i].x - from.x, told_[i].y - from.y);
      }
      ASSERT_NEAR(rest, fresh, 1e-6) << tick;
    }
  });
}

}  // namespace
}  // namespace waystar::core
