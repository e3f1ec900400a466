// Searches of every kind with little memory, one after the other on the same scratches. What a query is
// answered does not depend on what was asked before it.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/graph_search.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/hierarchy/hierarchy.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/mesh/search/mesh_flood.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/query/solve.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

// Rows of this sign, of which every third is a wall with one gap, on the right and on the left in turn.
GridMap Meander(int side, char sign, const GridSettings& settings = {}) {
  const auto size = static_cast<std::size_t>(side);
  std::vector<std::string> rows(size, std::string(size, sign));
  for (std::size_t y = 2; y < size; y += 3) {
    rows[y] = std::string(size, '#');
    rows[y][y % 2 == 0 ? 0 : size - 1] = sign;
  }
  return DrawMap(rows, settings);
}

// Open ground on which the second half of each row is mud.
GridMap Muddy(int side) {
  GridSettings settings;
  settings.terrains.push_back({.symbol = 'm', .name = "mud", .cost = 3});
  const auto size = static_cast<std::size_t>(side);
  const std::string row = std::string(size / 2, '.') + std::string(size - size / 2, 'm');
  return DrawMap(std::vector<std::string>(size, row), settings);
}

GridMap Blank(int side) { return *GridMap::Create(side, side, {}); }

// A hub with so many spokes, and a goal behind all of them.
WaypointGraph Wheel(int spokes) {
  WaypointSpec spec{.nodes = {{"hub", {0, 0}}, {"goal", {900, 900}}}};
  for (int i = 0; i < spokes; ++i) {
    const std::string id = absl::StrCat("spoke", i);
    spec.nodes.push_back({id, {static_cast<double>(i), 1}});
    spec.edges.push_back({.name = {"hub", id}});
    spec.edges.push_back({.name = {id, "goal"}, .cost = 5000});
  }
  return *WaypointGraph::Create(spec);
}

NavMesh Floor(int side) {
  Random random(7);
  MeshSpec spec;
  AddFloor(spec, side, side, 0.0, random);
  return MeshOf(std::move(spec));
}

std::string ToldAs(Outcome outcome, OutcomeReason reason, double cost) {
  return outcome == Outcome::kFound               ? absl::StrCat("found ", cost)
         : reason == OutcomeReason::kScratchLimit ? "scratch limit"
                                                  : "something else";
}

class ScratchLimitTest : public ::testing::Test {
 protected:
  struct Question {
    std::string name;
    std::function<std::string(QueryScratch&)> ask;
  };

  ScratchLimitTest() {
    for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra, Algorithm::kJumpPoint,
                                      Algorithm::kSubgoalHierarchy, Algorithm::kLazyThetaStar}) {
      AddGrid("meander", Meander(100, '.'), algorithm);
      AddGrid("small meander", Meander(40, '.'), algorithm);
      AddGrid("blank", Blank(1000), algorithm);
    }
    for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra, Algorithm::kJumpPoint}) {
      AddGrid("mud", Muddy(90), algorithm);
      AddNearest("meander", Meander(100, '.'), algorithm);
      AddThroughPortal("mud", Muddy(90), algorithm);
      AddThroughPortal("meander", Meander(100, '.'), algorithm);
    }
    AddGraph(100);
    AddGraph(3000);
    AddMesh(5);
    AddMesh(30);
  }

  void Add(const std::string& name, std::function<std::string(QueryScratch&)> ask) {
    questions_.push_back({name, std::move(ask)});
  }

  const GridMap& Keep(GridMap map) {
    maps_.push_back(std::make_unique<GridMap>(std::move(map)));
    return *maps_.back();
  }

  // The path of a search without room leads along the map, be it to the start alone.
  static std::string ToldOf(const PathResult& path, Cell start) {
    if (path.points.empty() || path.points.front() != start || path.points.back() != path.end) {
      return "a path from elsewhere";
    }
    return ToldAs(path.outcome, path.reason, path.cost);
  }

  void AddGrid(const std::string& name, GridMap drawn, Algorithm algorithm) {
    const GridMap& map = Keep(std::move(drawn));
    if (algorithm == Algorithm::kSubgoalHierarchy) {
      map.static_index().Put(*Hierarchy::Build(map.walk(), map.min_straight(), map.min_diagonal(), {}),
                             map.walkable());
    }
    const PathQuery query{
        .start = {0, 0}, .goal = {map.width() - 1, map.height() - 1}, .algorithm = algorithm};
    Add(absl::StrCat(name, " ", static_cast<int>(algorithm)), [&map, query](QueryScratch& scratch) {
      return ToldOf(*FindPath(map, query, {}, scratch.scratch), query.start);
    });
  }

  void AddNearest(const std::string& name, GridMap drawn, Algorithm algorithm) {
    const GridMap& map = Keep(std::move(drawn));
    const PathQuery query{.start = {0, 0}, .algorithm = algorithm};
    Add(absl::StrCat(name, " to the nearest ", static_cast<int>(algorithm)),
        [&map, query](QueryScratch& scratch) {
          const std::vector<Cell> goals = {{map.width() - 1, map.height() - 1}, {0, map.height() - 1}};
          return ToldOf(FindPathToNearest(map, query, goals, {}, scratch.scratch)->path, query.start);
        });
  }

  void AddThroughPortal(const std::string& name, const GridMap& drawn, Algorithm algorithm) {
    const int last = drawn.width() - 1;
    const GridMap& map = Keep(With(drawn, {Between("gate", {0, last / 2}, {last, last / 2}, 5.0)}));
    const PathQuery query{.start = {0, 0}, .goal = {last, last}, .algorithm = algorithm};
    Add(absl::StrCat(name, " through a portal ", static_cast<int>(algorithm)),
        [&map, query](QueryScratch& scratch) {
          Maps none;
          return ToldOf(FindPathThroughPortals(map, none, {.path = query}, {}, scratch.scratch)->path,
                        query.start);
        });
  }

  void AddGraph(int spokes) {
    graphs_.push_back(std::make_unique<WaypointGraph>(Wheel(spokes)));
    const WaypointGraph& graph = *graphs_.back();
    Add(absl::StrCat("graph of ", spokes), [&graph](QueryScratch& scratch) {
      const GraphPathResult path =
          *FindGraphPath(graph, {.start = "hub", .goals = {"goal"}}, {}, scratch.graph_scratch);
      return ToldAs(path.outcome, path.reason, path.cost);
    });
    Add(absl::StrCat("flood of a graph of ", spokes), [&graph](QueryScratch& scratch) {
      const GraphSeed seed{.node = 0, .cost = 0};
      const auto visit = [](NodeNumber /*node*/, Cost /*cost*/) { return true; };
      const SearchEnd end = FloodGraph(graph, {.seeds = {&seed, 1}}, {}, scratch.graph_scratch, visit).end;
      return std::string(end == SearchEnd::kExhausted ? "done" : "scratch limit");
    });
  }

  void AddMesh(int side) {
    meshes_.push_back(std::make_unique<NavMesh>(Floor(side)));
    const NavMesh& mesh = *meshes_.back();
    const auto last = static_cast<PolygonNumber>(mesh.polygon_count() - 1);
    const WorldPoint start = mesh.VertexAt(mesh.VerticesOf(0)[0]);
    const WorldPoint goal = mesh.VertexAt(mesh.VerticesOf(last)[0]);
    Add(absl::StrCat("mesh of ", side), [&mesh, start, goal](QueryScratch& scratch) {
      const MeshPathResult path =
          *FindMeshPath(mesh, {.start = start, .goals = {goal}}, {}, scratch.mesh_scratch);
      return ToldAs(path.outcome, path.reason, path.cost);
    });
    Add(absl::StrCat("flood of a mesh of ", side), [&mesh, start](QueryScratch& scratch) {
      const MeshPlace seed{.polygon = 0, .point = start};
      const SearchEnd end = FloodMesh(mesh, {.seeds = {&seed, 1}}, {}, scratch.mesh_scratch).end;
      return std::string(end == SearchEnd::kExhausted ? "done" : "scratch limit");
    });
  }

  std::vector<std::unique_ptr<GridMap>> maps_;
  std::vector<std::unique_ptr<WaypointGraph>> graphs_;
  std::vector<std::unique_ptr<NavMesh>> meshes_;
  std::vector<Question> questions_;
};

TEST_F(ScratchLimitTest, AnswersDoNotDependOnEarlierQueries) {
  // What the open lists take although they are empty, and the way that a hierarchy unpacks.
  constexpr std::size_t kEmptyBytes = std::size_t{110} << 10;
  constexpr std::size_t kWayBytes = std::size_t{4} << 10;
  constexpr int kQuestions = 150;
  Random random(1);
  std::map<std::string, int> told;
  for (const std::size_t kib : {0, 40, 64, 90, 120, 160, 220, 300, 400, 700}) {
    const std::size_t limit = kib << 10;
    std::vector<std::string> alone;
    for (const Question& question : questions_) {
      QueryScratch fresh(limit);
      alone.push_back(question.ask(fresh));
      ++told[alone.back().substr(0, 5)];
    }
    QueryScratch used(limit);
    std::string before = "nothing";
    for (int i = 0; i < kQuestions; ++i) {
      const auto any = static_cast<std::size_t>(random.Between(0, static_cast<int>(questions_.size()) - 1));
      const std::string& name = questions_[any].name;
      EXPECT_EQ(questions_[any].ask(used), alone[any])
          << name << " after " << before << " within " << kib << " KiB";
      EXPECT_LE(used.scratch.memory_bytes(), std::max(limit, kEmptyBytes) + kWayBytes) << name;
      before = name;
    }
  }
  EXPECT_GT(told["found"], 100);
  EXPECT_GT(told["done"], 10);
  EXPECT_GT(told["scrat"], 100);
}

}  // namespace
}  // namespace waystar::core
