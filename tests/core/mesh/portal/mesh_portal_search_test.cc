// Paths through portals of navigation meshes, judged by searches between all ends of portals.

#include "server/core/mesh/portal/mesh_portal_search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/landmarks.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/search/interruption.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/seeds.h"

namespace waystar::core {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Meshes final : public MeshWorld {
 public:
  const NavMesh* Find(absl::string_view id) override {
    const auto found = meshes.find(std::string(id));
    return found == meshes.end() ? nullptr : &found->second;
  }

  // REQUIRES: the map takes the portal.
  void Put(const std::string& map, const MeshPortal& portal) {
    EXPECT_EQ(TryToPut(map, portal), absl::OkStatus());
  }
  absl::Status TryToPut(const std::string& map, const MeshPortal& portal) {
    const std::vector<Edit> edits = {PutMeshPortal{.portal = portal}};
    MeshBatchEditor editor(meshes.at(map));
    const absl::Status status = editor.Apply(edits, absl::UnixEpoch()).status();
    meshes.at(map) = std::move(editor).Finish();
    return status;
  }

  std::map<std::string, NavMesh> meshes;
};

// A square floor of this size with its lower left corner there.
NavMesh Square(double x, double y, double size, double z = 0.0) {
  return MeshOf(
      DrawMesh({{x, y, z}, {x + size, y, z}, {x + size, y + size, z}, {x, y + size, z}}, {{0, 1, 2, 3}}));
}

// Two rooms of 10 units, far apart on one mesh.
NavMesh TwoRooms() {
  return MeshOf(DrawMesh(
      {{0, 0, 0}, {10, 0, 0}, {10, 10, 0}, {0, 10, 0}, {100, 0, 5}, {110, 0, 5}, {110, 10, 5}, {100, 10, 5}},
      {{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

// A path with the parts that live in the scratch.
struct Found {
  absl::StatusOr<MeshPortalPath> path;
  std::vector<WorldPoint> corners;
  std::vector<PolygonNumber> corridor;
};

// Returns the middle of a polygon, or a corner of it.
WorldPoint PointOf(const NavMesh& mesh, Random& random) {
  const auto polygon =
      static_cast<PolygonNumber>(random.Between(0, static_cast<int>(mesh.polygon_count()) - 1));
  if (random.Chance(0.3)) {
    return mesh.VertexAt(mesh.VerticesOf(polygon).front());
  }
  const WorldPoint middle = MiddleOf(mesh, polygon);
  return mesh.NearestPoint(polygon, middle.x, middle.y);
}

class MeshPortalSearchTest : public ::testing::Test {
 protected:
  Found Find(const std::string& home, const MeshPortalQuery& query, const Budget& budget = {}) {
    // The answer names maps by what the net keeps.
    nets_.push_back(std::make_unique<MeshPortalNet>(world_.meshes.at(home), world_, tags_));
    Found found{.path = FindMeshPathThroughPortals(*nets_.back(), query, budget, scratch_),
                .corners = {},
                .corridor = {}};
    if (found.path.ok()) {
      const MeshPathResult& path = found.path->path;
      found.corners.assign(path.corners.begin(), path.corners.end());
      found.corridor.assign(path.corridor.begin(), path.corridor.end());
    }
    return found;
  }

  // Two rooms, and a ferry from the right side of one to the left side of the other.
  void PutKeep(double cost = 3) {
    world_.meshes.emplace("keep", TwoRooms());
    world_.Put("keep", {.id = "ferry", .from = {9, 5, 0}, .to = {101, 5, 5}, .cost = cost});
  }

  static MeshPortalQuery Query(WorldPoint start, WorldPoint goal, absl::string_view goal_map = "") {
    MeshPortalQuery query;
    query.path.start = start;
    query.path.goals.push_back(goal);
    query.goal_map = goal_map;
    return query;
  }

  Meshes world_;
  std::vector<std::string> tags_;
  std::vector<std::unique_ptr<MeshPortalNet>> nets_;
  MeshScratch scratch_{std::size_t{1} << 24};
};

TEST_F(MeshPortalSearchTest, LeadsThroughAPortalToAnotherPart) {
  PutKeep();
  const Found found = Find("keep", Query({1, 5, 0}, {109, 5, 5}));
  ASSERT_TRUE(found.path.ok()) << found.path.status();
  EXPECT_EQ(found.path->path.outcome, Outcome::kFound);
  EXPECT_EQ(found.path->path.cost, 8.0 + 3.0 + 8.0);
  EXPECT_THAT(found.corners, ElementsAre(WorldPoint{1, 5, 0}, WorldPoint{9, 5, 0}, WorldPoint{101, 5, 5},
                                         WorldPoint{109, 5, 5}));
  EXPECT_THAT(found.corridor, ElementsAre(0U, 1U));
  ASSERT_THAT(found.path->crossings, SizeIs(1));
  const MeshCrossing& crossing = found.path->crossings.front();
  EXPECT_EQ(crossing.portal->id, "ferry");
  EXPECT_FALSE(crossing.is_reversed);
  EXPECT_EQ(crossing.map, "");
  EXPECT_EQ(crossing.arrival, (WorldPoint{101, 5, 5}));
  EXPECT_EQ(crossing.index, 2U);
  EXPECT_EQ(crossing.corridor_index, 1U);
}

// A floor from (0, 0) to (2, 2) and one from (2, 2) to (5, 5), which touch in the vertex alone, and a third.
NavMesh TouchingFloors() {
  return MeshOf(
      DrawMesh({{0, 0}, {2, 0}, {2, 2}, {0, 2}, {5, 2}, {5, 5}, {2, 5}, {20, 0}, {24, 0}, {24, 4}, {20, 4}},
               {{0, 1, 2, 3}, {2, 4, 5, 6}, {7, 8, 9, 10}}));
}

TEST_F(MeshPortalSearchTest, PortalsOnAVertexBeginAndEndInAllPolygonsThatHaveIt) {
  world_.meshes.emplace("keep", TouchingFloors());
  world_.Put("keep", {.id = "ferry", .from = {2, 2}, .to = {20, 4}, .cost = 1, .both_ways = true});
  const auto cost = [&](const WorldPoint& from, const WorldPoint& to) {
    return Find("keep", Query(from, to)).path->path.cost;
  };
  for (const WorldPoint& end : {WorldPoint{2, 0}, WorldPoint{2, 4}}) {
    EXPECT_EQ(cost(end, {22, 4}), 2.0 + 1.0 + 2.0);
    EXPECT_EQ(cost({22, 4}, end), 2.0 + 1.0 + 2.0);
    EXPECT_EQ(cost({2, 2}, end), 2.0);
    EXPECT_EQ(cost(end, {2, 2}), 2.0);
  }
  EXPECT_EQ(cost({2, 0}, {2, 4}), 2.0 + 1.0 + 1.0 + 2.0) << "there and back, from one floor to the other";
}

// Two halls touch in a vertex alone, and a long way leads round from one to the other.
TEST_F(MeshPortalSearchTest, LandmarksTakeAGoalOnAVertexForOneOfAllPolygonsThatHaveIt) {
  const std::vector<WorldPoint> vertices = {{0, 0},    {10, 0},  {10, 10},  {0, 10},  {20, 10},  {20, 20},
                                            {10, 20},  {-10, 0}, {-10, 10}, {0, 40},  {-10, 40}, {0, 50},
                                            {-10, 50}, {10, 40}, {10, 50},  {20, 40}, {20, 50}};
  const NavMesh mesh = MeshOf(DrawMesh(vertices, {{0, 1, 2, 3},
                                                  {2, 4, 5, 6},
                                                  {7, 0, 3, 8},
                                                  {8, 3, 9, 10},
                                                  {10, 9, 11, 12},
                                                  {9, 13, 14, 11},
                                                  {13, 15, 16, 14},
                                                  {6, 5, 15, 13}}));
  for (const bool has_landmarks : {false, true}) {
    world_.meshes.insert_or_assign("keep", has_landmarks ? *WithLandmarks(mesh) : mesh);
    world_.Put("keep", {.id = "jump", .from = {-5, 44}, .to = {11, 11}, .cost = 38});
    const Found found = Find("keep", Query({-5, 45}, {10, 10}));
    ASSERT_TRUE(found.path.ok()) << found.path.status();
    EXPECT_NEAR(found.path->path.cost, 1 + 38 + std::sqrt(2.0), 1e-9) << has_landmarks;
  }
}

TEST_F(MeshPortalSearchTest, AStartOnAVertexMayTakeThePortalsOfAllPartsThatHaveIt) {
  world_.meshes.emplace("keep", TouchingFloors());
  world_.Put("keep", {.id = "ferry", .from = {2, 0}, .to = {20, 4}, .cost = 1});
  world_.Put("keep", {.id = "lift", .from = {2, 4}, .to = {24, 4}, .cost = 1});
  for (const WorldPoint& goal : {WorldPoint{20, 3}, WorldPoint{24, 3}}) {
    EXPECT_EQ(Find("keep", Query({2, 2}, goal)).path->path.cost, 2.0 + 1.0 + 1.0);
  }
}

TEST_F(MeshPortalSearchTest, AWidePortalIsCrossedAtItsBestLane) {
  world_.meshes.emplace("keep", TwoRooms());
  world_.Put("keep",
             {.id = "ferry", .from = {9, 5, 0}, .to = {101, 5, 5}, .cost = 3, .both_ways = true, .width = 8});
  const auto cost = [&](const WorldPoint& start, const WorldPoint& goal) {
    return Find("keep", Query(start, goal)).path->path.cost;
  };
  for (const double y : {1.0, 3.0, 5.0, 7.0, 9.0}) {
    EXPECT_EQ(cost({1, y, 0}, {109, y, 5}), 8.0 + 3.0 + 8.0) << y;
    EXPECT_EQ(cost({109, y, 5}, {1, y, 0}), 8.0 + 3.0 + 8.0) << y;
  }
  const Found found = Find("keep", Query({1, 1, 0}, {109, 1, 5}));
  EXPECT_EQ(found.path->crossings.front().arrival, (WorldPoint{101, 1, 5}));
  // A crate on a lane closes that lane alone.
  MeshBatchEditor editor(world_.meshes.at("keep"));
  const std::vector<Edit> crate = {PutMeshObstacle{
      {.obstacle = {.id = "crate", .shape = {.cells = {{8, 0}, {9, 0}, {8, 1}, {9, 1}}}}}, {}}};
  ASSERT_EQ(editor.Apply(crate, absl::UnixEpoch()).status(), absl::OkStatus());
  world_.meshes.at("keep") = std::move(editor).Finish();
  EXPECT_GT(cost({1, 1, 0}, {109, 1, 5}), 19.0);
  EXPECT_EQ(cost({1, 3, 0}, {109, 3, 5}), 19.0);
}

TEST_F(MeshPortalSearchTest, LanesBesideTheGroundAreClosed) {
  NavMesh mesh = MeshOf(DrawMesh({{0, 0, 0},
                                  {10, 0, 0},
                                  {10, 20, 0},
                                  {0, 20, 0},
                                  {20, 0, 0},
                                  {30, 0, 0},
                                  {30, 10, 0},
                                  {20, 10, 0},
                                  {20, 20, -30},
                                  {30, 20, -30},
                                  {30, 30, -30},
                                  {20, 30, -30}},
                                 {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}));
  world_.meshes.emplace("pier", std::move(mesh));
  world_.Put("pier", {.id = "jump", .from = {10, 0, 0}, .to = {20, 0, 0}, .width = 40});
  std::vector<bool> is_open;
  for (const PortalLane& lane : world_.meshes.at("pier").portals().Find("jump")->lanes) {
    is_open.push_back(lane.is_open());
  }
  // The middle one, and those at y = -20, -10, 10 and 20, where the ground is far below.
  EXPECT_THAT(is_open, ElementsAre(true, false, false, true, false));
}

TEST_F(MeshPortalSearchTest, TagsKeepAgentsOut) {
  world_.meshes.emplace("keep", TwoRooms());
  world_.Put("keep",
             {.id = "ferry", .from = {9, 5, 0}, .to = {101, 5, 5}, .both_ways = true, .tags = {"boat"}});
  for (const auto& [tag, outcome] : {std::pair("boat", Outcome::kFound), {"wings", Outcome::kUnreachable}}) {
    tags_ = {tag};
    EXPECT_EQ(Find("keep", Query({1, 5, 0}, {109, 5, 5})).path->path.outcome, outcome);
  }
  tags_ = {};
  const Found back = Find("keep", Query({109, 5, 5}, {1, 5, 0}));
  EXPECT_EQ(back.path->path.outcome, Outcome::kFound);
  EXPECT_TRUE(back.path->crossings.front().is_reversed);
}

TEST_F(MeshPortalSearchTest, LeadsToAnotherMap) {
  world_.meshes.emplace("town", Square(0, 0, 10));
  world_.meshes.emplace("cellar", Square(-5, -5, 20, -3));
  world_.Put("town", {.id = "stairs", .from = {9, 9, 0}, .to_map = "cellar", .to = {0, 0, -3}, .cost = 1});
  const Found found = Find("town", Query({9, 1, 0}, {0, 6, -3}, "cellar"));
  ASSERT_TRUE(found.path.ok()) << found.path.status();
  EXPECT_EQ(found.path->path.cost, 8.0 + 1.0 + 6.0);
  ASSERT_THAT(found.path->crossings, SizeIs(1));
  EXPECT_EQ(found.path->crossings.front().map, "cellar");

  EXPECT_EQ(ErrorReasonOf(Find("town", Query({9, 1, 0}, {0, 6, -3}, "tower")).path.status()),
            "MAP_NOT_FOUND");
  EXPECT_EQ(ErrorFieldOf(Find("town", Query({9, 1, 0}, {0, 6, -3}, "tower")).path.status()), "goal_map");
  EXPECT_EQ(Find("cellar", Query({0, 0, -3}, {1, 1, 0}, "town")).path->path.outcome, Outcome::kUnreachable)
      << "no portal leads back";
  EXPECT_EQ(ErrorReasonOf(Find("town", Query({9, 1, 0}, {90, 6, -3}, "cellar")).path.status()),
            "GOAL_BLOCKED");
}

TEST_F(MeshPortalSearchTest, AWalkAsShortAsAPortalIsPreferred) {
  world_.meshes.emplace("yard", Square(0, 0, 10));
  world_.Put("yard", {.id = "jump", .from = {3, 5, 0}, .to = {6, 5, 0}, .cost = 3});
  EXPECT_THAT(Find("yard", Query({1, 5, 0}, {9, 5, 0})).path->crossings, IsEmpty());
  world_.Put("yard", {.id = "slide", .from = {3, 5, 0}, .to = {7, 5, 0}, .cost = 2});
  const Found found = Find("yard", Query({1, 5, 0}, {9, 5, 0}));
  EXPECT_EQ(found.path->path.cost, 6.0);
  ASSERT_THAT(found.path->crossings, SizeIs(1));
  EXPECT_EQ(found.path->crossings.front().portal->id, "slide");
}

TEST_F(MeshPortalSearchTest, TheNearestPlaceThatCanBeReachedStandsInForAGoal) {
  PutKeep();
  MeshPortalQuery query = Query({1, 5, 0}, {114, 5, 5});
  EXPECT_EQ(ErrorReasonOf(Find("keep", query).path.status()), "GOAL_BLOCKED");
  query.path.unreachable_policy = UnreachablePolicy::kNearestByDistance;
  const Found found = Find("keep", query);
  ASSERT_TRUE(found.path.ok()) << found.path.status();
  EXPECT_EQ(found.path->path.outcome, Outcome::kPartial);
  EXPECT_EQ(found.path->path.reason, OutcomeReason::kGoalBlocked);
  EXPECT_EQ(found.corners.back(), (WorldPoint{110, 5, 5}));
}

TEST_F(MeshPortalSearchTest, ALimitOfExpansionsEndsTheSearch) {
  world_.meshes.emplace("keep", TwoRooms());
  Random random(7);
  world_.meshes.emplace("floor", MeshOf(BentFloors(random, 1, 20, 20)));
  const NavMesh& floor = world_.meshes.at("floor");
  const WorldPoint from = floor.NearestPoint(0, 0, 0);
  const MeshPlace last{static_cast<PolygonNumber>(floor.polygon_count() - 1), {}};
  const WorldPoint to = floor.NearestPoint(last.polygon, 20, 20);
  ASSERT_EQ(floor.PartOf(0), floor.PartOf(last.polygon));
  world_.Put("keep", {.id = "hole", .from = {9, 5, 0}, .to_map = "floor", .to = from});
  const MeshPortalQuery query = Query({1, 5, 0}, to, "floor");
  EXPECT_EQ(Find("keep", query).path->path.outcome, Outcome::kFound);
  Budget budget;
  budget.max_expansions = 3;
  const Found found = Find("keep", query, budget);
  ASSERT_TRUE(found.path.ok()) << found.path.status();
  EXPECT_EQ(found.path->path.outcome, Outcome::kBudgetExhausted);
  EXPECT_EQ(found.path->path.reason, OutcomeReason::kExpansionLimit);
  EXPECT_THAT(found.corners, IsEmpty());
}

TEST_F(MeshPortalSearchTest, AMatrixSaysWhichLimitItReaches) {
  PutKeep();
  const NavMesh& keep = world_.meshes.at("keep");
  const std::vector<MeshPlace> starts = {{0, keep.NearestPoint(0, 1, 5)}};
  const std::vector<MeshPlace> goals = {{1, keep.NearestPoint(1, 109, 5)}};
  const auto message = [&](const Budget& budget, std::size_t bytes) {
    MeshScratch scratch(bytes);
    MeshPortalNet net(keep, world_, tags_);
    const absl::Status status = ComputeMatrixThroughMeshPortals(net, starts, goals, budget, scratch).status();
    EXPECT_EQ(ErrorReasonOf(status), "REGION_TOO_LARGE");
    return std::string(status.message());
  };
  EXPECT_THAT(message({.max_expansions = 0}, std::size_t{1} << 24), ::testing::HasSubstr("expansions"));
  EXPECT_THAT(message({}, 16), ::testing::AllOf(::testing::HasSubstr("memory"),
                                                ::testing::Not(::testing::HasSubstr("expansions"))));
}

// A place on one of several meshes.
struct Stop {
  const NavMesh* mesh = nullptr;
  MeshPlace place;
};

// The length of a shortest path between two stops without portals.
double LengthOf(const Stop& from, const Stop& to, MeshScratch& scratch) {
  if (from.mesh != to.mesh) {
    return kInfinity;
  }
  const MeshSearchReport report =
      SearchMesh(*from.mesh, {.start = from.place, .goal = to.place}, {}, scratch);
  return report.end == SearchEnd::kGoalReached ? report.length : kInfinity;
}

// The cost of a cheapest path, by the relaxation of all ways between the ends of portals.
double OracleCost(Meshes& world, const Stop& start, const Stop& goal, MeshScratch& scratch) {
  struct Edge {
    Stop from;
    Stop to;
    double cost;
  };
  std::vector<Edge> edges;
  for (const auto& [id, mesh] : world.meshes) {
    mesh.portals().VisitAfter("", [&, &mesh = mesh](const PlacedPortal& portal) {
      const NavMesh* there = portal.to_map.empty() ? &mesh : world.Find(portal.to_map);
      if (portal.closed || there == nullptr) {
        return true;
      }
      for (const PortalLane& lane : portal.lanes) {
        const Stop from{&mesh, lane.from};
        const Stop to{there, portal.to_map.empty() ? lane.to : *MeshPlaceAt(*there, portal.to)};
        if (from.place.polygon == kNoPolygon || to.place.polygon == kNoPolygon) {
          continue;
        }
        edges.push_back({from, to, portal.cost});
        if (portal.both_ways) {
          edges.push_back({to, from, portal.cost});
        }
      }
      return true;
    });
  }
  // The cost of the way from the start to behind each portal.
  std::vector<double> behind;
  for (const Edge& edge : edges) {
    behind.push_back(LengthOf(start, edge.from, scratch) + edge.cost);
  }
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      for (std::size_t j = 0; j < edges.size(); ++j) {
        const double cost = behind[i] + LengthOf(edges[i].to, edges[j].from, scratch) + edges[j].cost;
        if (cost < behind[j] - 1e-12) {
          behind[j] = cost;
          is_changed = true;
        }
      }
    }
  }
  double least = LengthOf(start, goal, scratch);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    least = std::min(least, behind[i] + LengthOf(edges[i].to, goal, scratch));
  }
  return least;
}

TEST_F(MeshPortalSearchTest, PathsAreTheCheapestOfRandomWorlds) {
  const BudgetStop stop{Budget()};
  int crossed = 0;
  int found_paths = 0;
  ForSeeds(80, [&](Random& random) {
    Meshes world;
    const std::vector<std::string> ids = {"a", "b", "c"};
    // On one mesh, without shortcuts.
    const bool has_jumps_alone = random.Chance(0.4);
    for (const std::string& id : ids) {
      const NavMesh mesh = MeshOf(BentFloors(random, 1, 2, 6));
      world.meshes.emplace(id, random.Chance(0.7) ? *WithLandmarks(mesh) : mesh);
    }
    const auto any = [&] { return ids[static_cast<std::size_t>(random.Between(0, 2))]; };
    // More than eight on one map, sometimes: then the heuristic is another.
    const int portals = random.Between(1, 25);
    for (int i = 0; i < portals; ++i) {
      const std::string from = has_jumps_alone ? "a" : any();
      const std::string to = has_jumps_alone ? "a" : any();
      const WorldPoint start = PointOf(world.meshes.at(from), random);
      const WorldPoint end = PointOf(world.meshes.at(to), random);
      const double least = has_jumps_alone ? DistanceInPlan(start, end) : 0.0;
      // Some lead from a place to the same place, which is refused.
      world
          .TryToPut(from, {.id = absl::StrCat("p", i),
                           .from = start,
                           .to_map = from == to ? "" : to,
                           .to = end,
                           .cost = least + random.Between(0, 12) * 0.25,
                           .both_ways = from == to && random.Chance(0.5),
                           .closed = random.Chance(0.1),
                           .width = from == to ? random.Between(0, 2) * 0.5 : 0.0})
          .IgnoreError();
    }
    // Sometimes so many that a search does not visit each of them beforehand.
    if (random.Chance(0.2)) {
      std::vector<Edit> closed;
      for (int i = 0; i < 1001; ++i) {
        closed.push_back(PutMeshPortal{.portal = {.id = absl::StrCat("c", i),
                                                  .from = PointOf(world.meshes.at("a"), random),
                                                  .to_map = "b",
                                                  .to = {1.0 * i, 0.5, 0.0},
                                                  .closed = true}});
      }
      MeshBatchEditor editor(world.meshes.at("a"));
      ASSERT_EQ(editor.Apply(closed, absl::UnixEpoch()).status(), absl::OkStatus());
      world.meshes.at("a") = std::move(editor).Finish();
    }
    const NavMesh& home = world.meshes.at("a");
    // One for all questions.
    MeshPortalNet net(home, world, {});
    for (int i = 0; i < 4; ++i) {
      const std::string goal_map = has_jumps_alone ? "a" : any();
      const NavMesh& there = world.meshes.at(goal_map);
      const MeshPortalQuery query = Query(PointOf(home, random), PointOf(there, random),
                                          goal_map == "a" ? absl::string_view() : goal_map);
      const Stop start{&home, *MeshPlaceAt(home, query.path.start)};
      const Stop goal{&there, *MeshPlaceAt(there, query.path.goals.front())};
      const double least = OracleCost(world, start, goal, scratch_);
      const auto map = net.FindMap(query.goal_map);
      const absl::StatusOr<ReachableParts> parts = ReachableParts::Find(net, start.place, stop);
      ASSERT_TRUE(parts.ok()) << parts.status();
      EXPECT_EQ(map && parts->IsReached(*map, goal.place), least < kInfinity);
      const absl::StatusOr<MeshPortalPath> found = FindMeshPathThroughPortals(net, query, {}, scratch_);
      ASSERT_TRUE(found.ok()) << found.status();
      if (least == kInfinity) {
        EXPECT_EQ(found->path.outcome, Outcome::kUnreachable);
        continue;
      }
      ++found_paths;
      ASSERT_EQ(found->path.outcome, Outcome::kFound);
      EXPECT_NEAR(found->path.cost, least, 1e-9);
      crossed += found->crossings.empty() ? 0 : 1;

      std::vector<CrossedMeshPortal> crossings;
      for (const MeshCrossing& crossing : found->crossings) {
        crossings.push_back({crossing.portal->id, crossing.arrival, crossing.index});
      }
      const std::vector<WorldPoint> corners(found->path.corners.begin(), found->path.corners.end());
      const absl::StatusOr<MeshPathCheck> check =
          ValidateThroughMeshPortals(home, world, corners, crossings, {});
      ASSERT_TRUE(check.ok()) << check.status();
      EXPECT_TRUE(check->is_walkable) << check->blocked_index;
      EXPECT_NEAR(check->cost, least, 1e-9);
      if (goal_map == "a") {
        const auto matrix =
            ComputeMatrixThroughMeshPortals(net, {start.place, start.place}, {goal.place}, {}, scratch_);
        ASSERT_TRUE(matrix.ok()) << matrix.status();
        EXPECT_THAT(matrix->lengths, Each(::testing::DoubleNear(least, 1e-9)));
        ReachedMeshParts reached(net);
        EXPECT_TRUE(reached.IsReached(start.place, goal.place, stop).value_or(false));
      }
    }
  });
  EXPECT_GT(found_paths, static_cast<int>(Rounds(80)));
  EXPECT_GT(crossed, static_cast<int>(Rounds(40)));
}

// More shortcuts than a search estimates the rest of the way for. On open ground, lengths are those of lines.
TEST_F(MeshPortalSearchTest, PathsThroughThousandsOfShortcutsAreTheCheapest) {
  constexpr int kPortals = 1100;
  Random random(11);
  const auto any = [&] {
    return WorldPoint{random.Between(0, 400) * 0.25, random.Between(0, 400) * 0.25, 0};
  };
  world_.meshes.emplace("yard", Square(0, 0, 100));
  world_.meshes.emplace("cellar", Square(0, 0, 100));
  std::vector<Edit> edits;
  std::vector<MeshPortal> portals;
  for (int i = 0; i < kPortals; ++i) {
    portals.push_back({.id = absl::StrCat("p", i),
                       .from = any(),
                       .to_map = i % 50 == 0 ? "cellar" : "",
                       .to = any(),
                       .cost = 0.25 * random.Between(0, 4)});
    edits.push_back(PutMeshPortal{.portal = portals.back()});
  }
  MeshBatchEditor editor(world_.meshes.at("yard"));
  ASSERT_EQ(editor.Apply(edits, absl::UnixEpoch()).status(), absl::OkStatus());
  world_.meshes.at("yard") = std::move(editor).Finish();
  for (const char* const goal_map : {"", "cellar", "", "cellar", ""}) {
    const WorldPoint start = any();
    const WorldPoint goal = any();
    // Dijkstra's algorithm over the portals. None leads out of the cellar.
    std::vector<double> behind;
    for (const MeshPortal& portal : portals) {
      behind.push_back(DistanceInPlan(start, portal.from) + portal.cost);
    }
    std::vector<bool> is_done(portals.size());
    double least = *goal_map == '\0' ? DistanceInPlan(start, goal) : kInfinity;
    for (int round = 0; round < kPortals; ++round) {
      std::size_t next = portals.size();
      for (std::size_t i = 0; i < portals.size(); ++i) {
        next = !is_done[i] && (next == portals.size() || behind[i] < behind[next]) ? i : next;
      }
      is_done[next] = true;
      const MeshPortal& passed = portals[next];
      if (passed.to_map == goal_map) {
        least = std::min(least, behind[next] + DistanceInPlan(passed.to, goal));
      }
      for (std::size_t i = 0; i < portals.size() && passed.to_map.empty(); ++i) {
        behind[i] =
            std::min(behind[i], behind[next] + DistanceInPlan(passed.to, portals[i].from) + portals[i].cost);
      }
    }
    EXPECT_NEAR(Find("yard", Query(start, goal, goal_map)).path->path.cost, least, 1e-9);
  }
  // All of them are in one polygon.
  MeshPortalNet net(world_.meshes.at("yard"), world_, {});
  MeshScratch small(std::size_t{1} << 16);
  const auto found = FindMeshPathThroughPortals(net, Query(any(), any()), {}, small);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->path.reason, OutcomeReason::kScratchLimit);
}

TEST_F(MeshPortalSearchTest, TheNearestOfSeveralGoalsIsFound) {
  world_.meshes.emplace("keep", TwoRooms());
  world_.Put("keep", {.id = "ferry", .from = {2, 5, 0}, .to = {101, 5, 5}, .cost = 1});
  MeshPortalQuery query = Query({1, 5, 0}, {9, 5, 0});
  query.path.goals.push_back({103, 5, 5});
  query.path.goals.push_back({50, 50, 0});
  Found found = Find("keep", query);
  ASSERT_TRUE(found.path.ok()) << found.path.status();
  EXPECT_EQ(found.path->path.goal_index, 1U);
  EXPECT_EQ(found.path->path.cost, 4.0);
  query.path.goals[0] = {4, 5, 0};
  found = Find("keep", query);
  EXPECT_EQ(found.path->path.goal_index, 0U);
  EXPECT_THAT(found.path->crossings, IsEmpty());
}

TEST_F(MeshPortalSearchTest, OfEquallyNearGoalsTheFirstIsFound) {
  PutKeep(1);
  MeshPortalQuery query = Query({1, 5, 0}, {109, 5, 5});
  query.path.goals.push_back({105, 5, 5});
  query.path.goals.push_back({101, 9, 5});
  query.path.goals.push_back({101, 1, 5});
  const Found found = Find("keep", query);
  ASSERT_TRUE(found.path.ok()) << found.path.status();
  EXPECT_EQ(found.path->path.goal_index, 1U);
}

// Each door to the place would begin a search of its own there.
TEST_F(MeshPortalSearchTest, ManyPortalsToOnePlaceCostNoMoreThanOne) {
  world_.meshes.emplace("yard", Square(0, 0, 100));
  Random random(3);
  world_.meshes.emplace("floor", MeshOf(BentFloors(random, 1, 20, 20)));
  const NavMesh& floor = world_.meshes.at("floor");
  const WorldPoint arrival = floor.NearestPoint(0, 0, 0);
  const WorldPoint goal = floor.NearestPoint(static_cast<PolygonNumber>(floor.polygon_count() - 1), 20, 20);
  std::uint64_t of_one = 0;
  for (int i = 0; i < 50; ++i) {
    world_.Put("yard",
               {.id = absl::StrCat("p", i), .from = {50.0 + i, 50, 0}, .to_map = "floor", .to = arrival});
    const Found found = Find("yard", Query({1, 50, 0}, goal, "floor"));
    ASSERT_TRUE(found.path.ok()) << found.path.status();
    ASSERT_EQ(found.path->path.outcome, Outcome::kFound);
    if (i == 0) {
      of_one = found.path->path.statistics.expanded;
    }
    EXPECT_LE(found.path->path.statistics.expanded, of_one);
  }
}

TEST_F(MeshPortalSearchTest, WhatStopsASearchIsSeenWhilePortalsAreCollected) {
  PutKeep();
  std::atomic<bool> cancelled = true;
  Budget budget;
  budget.cancelled = &cancelled;
  const Found found = Find("keep", Query({1, 5, 0}, {109, 5, 5}), budget);
  EXPECT_TRUE(absl::IsCancelled(found.path.status())) << found.path.status();
}

// An earlier search of a large mesh leaves a scratch that is nearly full.
TEST_F(MeshPortalSearchTest, WhatEarlierSearchesLeftDoesNotCount) {
  Random random(5);
  const NavMesh large = MeshOf(BentFloors(random, 1, 60, 60));
  world_.meshes.emplace("town", Square(0, 0, 10));
  world_.meshes.emplace("floor", large);
  const WorldPoint goal = large.NearestPoint(static_cast<PolygonNumber>(large.polygon_count() - 1), 60, 60);
  world_.Put("town",
             {.id = "stairs", .from = {9, 9, 0}, .to_map = "floor", .to = large.NearestPoint(0, 0, 0)});
  const MeshPortalQuery query = Query({1, 1, 0}, goal, "floor");
  const auto outcome_with = [&](std::size_t bytes, bool is_used) {
    MeshScratch scratch(bytes);
    if (is_used) {
      const MeshPlace last{static_cast<PolygonNumber>(large.polygon_count() - 1), goal};
      SearchMesh(large, {.start = {0, large.NearestPoint(0, 0, 0)}, .goal = last}, {}, scratch);
    }
    MeshPortalNet net(world_.meshes.at("town"), world_, {});
    return FindMeshPathThroughPortals(net, query, {}, scratch)->path.outcome;
  };
  std::size_t enough = std::size_t{1} << 12;
  while (outcome_with(enough, false) != Outcome::kFound) {
    ASSERT_LT(enough, std::size_t{1} << 26);
    enough *= 2;
  }
  EXPECT_EQ(outcome_with(enough + enough / 2, true), Outcome::kFound);
  EXPECT_EQ(outcome_with(enough / 8, false), Outcome::kBudgetExhausted);
}

TEST_F(MeshPortalSearchTest, AChangedPortalBlocksAPath) {
  PutKeep();
  std::vector<WorldPoint> corners = {{1, 5, 0}, {9, 5, 0}, {101, 5, 5}, {109, 5, 5}};
  const auto check = [&](const CrossedMeshPortal& crossing) {
    return ValidateThroughMeshPortals(world_.meshes.at("keep"), world_, corners, {{crossing}}, {});
  };
  EXPECT_TRUE(check({"ferry", {101, 5, 5}, 2})->is_walkable);
  EXPECT_EQ(check({"ferry", {101, 5, 5}, 2})->cost, 19.0);
  EXPECT_FALSE(check({"bridge", {101, 5, 5}, 2})->is_walkable);
  EXPECT_EQ(check({"bridge", {101, 5, 5}, 2})->blocked_index, 2U);
  EXPECT_FALSE(check({"ferry", {102, 5, 5}, 2})->is_walkable);
  EXPECT_EQ(ErrorFieldOf(check({"ferry", {101, 5, 5}, 4}).status()), "crossings[0].index");
  EXPECT_EQ(ErrorFieldOf(check({"ferry", {101, 5, 5}, 0}).status()), "crossings[0].index");
  corners.back().x = kInfinity;
  EXPECT_EQ(ErrorFieldOf(check({"bridge", {101, 5, 5}, 2}).status()), "positions[3].x");
}

}  // namespace
}  // namespace waystar::core
