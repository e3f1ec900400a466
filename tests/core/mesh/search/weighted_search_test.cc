#include "server/core/mesh/search/weighted_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_fields.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/polygons_around.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/random.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

constexpr std::size_t kScratchBytes = std::size_t{1} << 28;
constexpr double kNoPath = std::numeric_limits<double>::infinity();

// Dijkstra's algorithm over points of all edges between polygons, so many to each: what it finds is the cost
// of a path.
class PointsOracle {
 public:
  PointsOracle(const NavMesh& mesh, int points) : mesh_(mesh) {
    for (const PolygonNumber polygon : mesh.Polygons()) {
      ForEachEdge(mesh, polygon, [&](std::uint32_t k, const WorldPoint& a, const WorldPoint& b) {
        for (int i = 0; i <= points && mesh.NeighboursOf(polygon)[k] != kNoPolygon; ++i) {
          // From the same end on both sides.
          const auto [from, to] = std::minmax(a, b);
          points_of_[polygon].push_back({from, to, static_cast<double>(i) / points});
          polygons_at_[points_of_[polygon].back()].push_back(polygon);
        }
      });
    }
  }

  double Cost(const MeshPlace& start, const MeshPlace& goal) const {
    std::map<EdgePoint, double> reached;
    std::priority_queue<std::pair<double, EdgePoint>, std::vector<std::pair<double, EdgePoint>>,
                        std::greater<>>
        open;
    double best = kNoPath;
    std::vector<PolygonNumber> goals;
    FindPolygonsOfAllFans(mesh_, goal, goals);
    const auto leave = [&](const WorldPoint& point, PolygonNumber polygon, double cost) {
      const double unit = mesh_.CostOf(polygon);
      if (std::ranges::find(goals, polygon) != goals.end()) {
        best = std::min(best, cost + unit * PlanDistance(point, goal.point));
      }
      const auto points = points_of_.find(polygon);
      for (const EdgePoint& next : points == points_of_.end() ? std::vector<EdgePoint>() : points->second) {
        const double whole = cost + unit * PlanDistance(point, PointOf(next));
        const auto [entry, is_new] = reached.try_emplace(next, whole);
        if (is_new || whole < entry->second) {
          entry->second = whole;
          open.emplace(whole, next);
        }
      }
    };
    std::vector<PolygonNumber> starts;
    FindPolygonsOfAllFans(mesh_, start, starts);
    for (const PolygonNumber polygon : starts) {
      leave(start.point, polygon, 0.0);
    }
    while (!open.empty() && open.top().first < best) {
      const auto [cost, point] = open.top();
      open.pop();
      for (const PolygonNumber polygon :
           cost > reached.at(point) ? std::vector<PolygonNumber>() : polygons_at_.at(point)) {
        leave(PointOf(point), polygon, cost);
      }
    }
    return best;
  }

 private:
  using EdgePoint = std::tuple<WorldPoint, WorldPoint, double>;

  static WorldPoint PointOf(const EdgePoint& point) {
    const auto& [from, to, share] = point;
    return {from.x + share * (to.x - from.x), from.y + share * (to.y - from.y), 0.0};
  }

  const NavMesh& mesh_;
  std::map<PolygonNumber, std::vector<EdgePoint>> points_of_;
  std::map<EdgePoint, std::vector<PolygonNumber>> polygons_at_;
};

NavMesh WithCosts(MeshSpec spec, const std::vector<double>& costs) {
  const NavMesh mesh = MeshOf(std::move(spec));
  AreaCosts all = mesh.costs();
  std::ranges::copy(costs, all.begin());
  absl::StatusOr<NavMesh> view = mesh.WithCosts(all);
  EXPECT_THAT(view, IsOk());
  return *std::move(view);
}

MeshSearchReport Search(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal,
                        MeshScratch& scratch, const Budget& budget = {}) {
  return SearchWeightedMesh(mesh, {.start = start, .goal = goal}, budget, scratch);
}

// A square of 3 by 3 whose middle costs as much as given.
MeshSpec Pond() {
  MeshSpec spec = DrawRooms({"...", "...", "..."});
  spec.polygons[4].area = 1;
  return spec;
}

TEST(WeightedSearchTest, GoesAroundGroundThatCostsMuch) {
  const NavMesh mesh = WithCosts(Pond(), {1.0, 10.0});
  MeshScratch scratch(kScratchBytes);
  const auto report = Search(mesh, PlaceAt(mesh, 0.5, 1.5), PlaceAt(mesh, 2.5, 1.5), scratch);
  EXPECT_NEAR(report.length, 2.0 * std::sqrt(0.5) + 1.0, 1e-6);
  EXPECT_EQ(report.corners.size(), 4U);
  EXPECT_LE(report.bound, kWeightedBound);
}

TEST(WeightedSearchTest, DecidesWhetherAPathWithinTheLimitExists) {
  const NavMesh mesh = WithCosts(Pond(), {1.0, 10.0});
  MeshScratch scratch(kScratchBytes);
  const auto search = [&](double max_cost) {
    return Search(mesh, PlaceAt(mesh, 0.5, 1.5), PlaceAt(mesh, 2.5, 1.5), scratch,
                  {.max_cost = static_cast<Cost>(max_cost * kCostScale)});
  };
  EXPECT_EQ(search(2.42).end, SearchEnd::kGoalReached);
  EXPECT_EQ(search(2.40).end, SearchEnd::kCostLimit);
  EXPECT_GT(search(2.40).least_length, 2.40);
}

TEST(WeightedSearchTest, GoesStraightThroughGroundThatCostsLittle) {
  const NavMesh mesh = WithCosts(Pond(), {1.0, 1.1});
  MeshScratch scratch(kScratchBytes);
  const auto report = Search(mesh, PlaceAt(mesh, 0.5, 1.5), PlaceAt(mesh, 2.5, 1.5), scratch);
  EXPECT_NEAR(report.length, 2.1, 1e-6);
  EXPECT_LE(report.bound, kWeightedBound);
}

// Snell's law: the path crosses the border where its sines are as the costs.
TEST(WeightedSearchTest, BreaksWhereTheCostChanges) {
  MeshSpec spec = DrawMesh({{0, 0, 0}, {10, 0, 0}, {20, 0, 0}, {20, 20, 0}, {10, 20, 0}, {0, 20, 0}},
                           {{0, 1, 4, 5}, {1, 2, 3, 4}});
  spec.polygons[1].area = 1;
  const NavMesh mesh = WithCosts(std::move(spec), {1.0, 2.0});
  MeshScratch scratch(kScratchBytes);
  const auto report = Search(mesh, PlaceAt(mesh, 2.0, 2.0), PlaceAt(mesh, 18.0, 15.0), scratch);
  ASSERT_EQ(report.corners.size(), 3U);
  const auto sine = [](const WorldPoint& a, const WorldPoint& b) { return (b.y - a.y) / PlanDistance(a, b); };
  EXPECT_NEAR(sine(report.corners[0], report.corners[1]), 2.0 * sine(report.corners[1], report.corners[2]),
              1e-3);
}

TEST(WeightedSearchTest, CostsBelowOneAttract) {
  MeshSpec spec = DrawRooms({".....", "....."});
  for (MeshPolygon& polygon : spec.polygons) {
    polygon.area = static_cast<std::uint8_t>(&polygon - spec.polygons.data() < 5 ? 0 : 1);
  }
  const NavMesh mesh = WithCosts(std::move(spec), {1.0, 0.1});
  MeshScratch scratch(kScratchBytes);
  const auto report = Search(mesh, PlaceAt(mesh, 0.5, 0.5), PlaceAt(mesh, 4.5, 0.5), scratch);
  EXPECT_LT(report.length, 1.5);
}

// Expects that a path with these corners is one, and costs so much.
void ExpectCost(const NavMesh& mesh, absl::Span<const WorldPoint> corners, double expected) {
  double cost = 0.0;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const WorldPoint& a = corners[i - 1];
    const WorldPoint& b = corners[i];
    constexpr int kParts = 200;
    for (int part = 0; part < kParts; ++part) {
      const double share = (part + 0.5) / kParts;
      std::vector<MeshPlace> places;
      mesh.FindAllNear({.position = {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z},
                        .radius = 1e-4,
                        .height = 1.0},
                       places);
      ASSERT_FALSE(places.empty());
      double least = kNoPath;
      for (const MeshPlace& place : places) {
        least = std::min(least, mesh.CostOf(place.polygon));
      }
      cost += least * PlanDistance(a, b) / kParts;
    }
  }
  EXPECT_NEAR(cost, expected, 0.02 * expected + 1e-6);
}

MeshPathCheck Validate(const NavMesh& mesh, absl::Span<const WorldPoint> corners) {
  const absl::StatusOr<MeshPathCheck> check = ValidateMeshPath(mesh, corners);
  EXPECT_THAT(check, IsOk());
  return check.value_or(MeshPathCheck());
}

TEST(WeightedWalkTest, CostsTheGroundUnderItAndTheCheaperSideOfEdges) {
  const NavMesh mesh = WithCosts(Pond(), {2.0, 10.0});
  constexpr double kRounding = 1.0 / (1 << 20);
  const auto cost = [&](const std::vector<WorldPoint>& corners) {
    const MeshPathCheck check = Validate(mesh, corners);
    EXPECT_TRUE(check.is_walkable);
    return check.cost;
  };
  EXPECT_DOUBLE_EQ(cost({{0.5, 1.5, 0}, {2.5, 1.5, 0}}), 2.0 + 10.0);
  EXPECT_DOUBLE_EQ(cost({{0.5, 0.5, 0}, {0.5, 1.5, 0}, {1.5, 1.5, 0}}), 2.0 + 1.0 + 5.0);
  EXPECT_DOUBLE_EQ(cost({{0, 0, 0}, {3, 3, 0}}), std::sqrt(2.0) * (2.0 + 10.0 + 2.0));
  for (const double y : {1.0, 1.0 - kRounding, 1.0 + kRounding, 2.0}) {
    EXPECT_DOUBLE_EQ(cost({{0, y, 0}, {3, y, 0}}), 6.0) << y;
    EXPECT_DOUBLE_EQ(cost({{2.5, y, 0}, {1.5, y, 0}}), 2.0) << y;
  }
  EXPECT_NEAR(cost({{0, 1, 0}, {3, 1 + kRounding, 0}}), 6.0, 1e-9);
  EXPECT_GT(cost({{0, 1, 0}, {3, 1.001, 0}}), 13.0);
  const MeshPathCheck blocked = Validate(mesh, {{0.5, 1.5, 0}, {1.5, 1.5, 0}, {4.5, 1.5, 0}});
  EXPECT_EQ(blocked.blocked_index, 2U);
  EXPECT_DOUBLE_EQ(blocked.cost, 1.0 + 5.0);
}

// Two squares on one side of the line, and a long rectangle on the other.
TEST(WeightedWalkTest, RunsAlongSeveralEdgesOfAPolygon) {
  MeshSpec spec =
      DrawMesh({{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {0, 1, 0}, {0, 2, 0}, {1, 2, 0}, {2, 2, 0}},
               {{0, 1, 2, 3, 4}, {4, 3, 6, 5}, {3, 2, 7, 6}});
  spec.polygons[1].area = 1;
  spec.polygons[2].area = 2;
  const NavMesh mesh = WithCosts(std::move(spec), {3.0, 2.0, 10.0});
  for (const auto& [from, to] : {std::pair(0.0, 2.0), {2.0, 0.0}}) {
    EXPECT_DOUBLE_EQ(Validate(mesh, {{from, 1, 0}, {to, 1, 0}}).cost, 2.0 + 3.0);
  }
}

TEST(WeightedSearchPropertyTest, PathsAreNearlyCheapestAndBoundsHold) {
  int found = 0;
  int lines = 0;
  ForSeeds(60, [&](Random& random) {
    MeshSpec spec = DrawRooms(RandomRooms(random), &random);
    for (MeshPolygon& polygon : spec.polygons) {
      polygon.area = static_cast<std::uint8_t>(random.Between(0, 3));
    }
    NavMesh mesh = WithCosts(std::move(spec), {1.0, random.Between(2, 40) / 10.0, 0.5, 10.0});
    if (random.Between(0, 1) == 0) {
      Shape shape;
      shape.discs.push_back({{random.Between(0, 6) + 0.3, random.Between(0, 6) + 0.4}, 0.8});
      const auto holes = HolesOf(shape, {});
      ASSERT_THAT(holes, IsOk());
      mesh = *ChangeHoles(mesh, {.removed = {}, .added = *holes});
    }
    if (mesh.Polygons().empty()) {
      return;
    }
    const PointsOracle oracle(mesh, 12);
    MeshScratch scratch(kScratchBytes);
    for (int i = 0; i < 5; ++i) {
      const MeshPlace start = RandomPlace(mesh, random);
      const MeshPlace goal = RandomPlace(mesh, random);
      const absl::StatusOr<MeshMatrix> matrix =
          ComputeMeshMatrix(mesh, {&start, 1}, {&goal, 1}, Budget{}, scratch);
      ASSERT_THAT(matrix, IsOk());
      const MeshSearchReport report = Search(mesh, start, goal, scratch);
      const double expected = oracle.Cost(start, goal);
      ASSERT_EQ(report.end == SearchEnd::kGoalReached, std::isfinite(expected)) << Between(start, goal.point);
      EXPECT_EQ(matrix->lengths.front(), std::isfinite(expected) ? report.length : MeshMatrix::kUnreachable);
      if (!std::isfinite(expected)) {
        continue;
      }
      ++found;
      EXPECT_LE(report.length / report.bound, expected + 1e-9) << Between(start, goal.point);
      EXPECT_LE(report.length, 1.05 * expected + 1e-9) << Between(start, goal.point);
      EXPECT_LE(report.bound, kWeightedBound) << Between(start, goal.point);
      ExpectCost(mesh, report.corners, report.length);
      const MeshPathCheck check = Validate(mesh, report.corners);
      EXPECT_TRUE(check.is_walkable) << Between(start, goal.point);
      EXPECT_LE(check.cost, report.length * (1.0 + 1e-5) + 1e-5) << Between(start, goal.point);
      EXPECT_GE(check.cost, report.length / report.bound - 1e-5) << Between(start, goal.point);
      const MeshPathCheck line = Validate(mesh, {start.point, goal.point});
      if (line.is_walkable) {
        ++lines;
        ExpectCost(mesh, {start.point, goal.point}, line.cost);
      }
      EXPECT_FALSE(report.corridor.empty());
      for (std::size_t k = 1; k < report.corridor.size(); ++k) {
        const auto next = mesh.NeighboursOf(report.corridor[k - 1]);
        bool adjoins = false;
        for (std::size_t e = 0; e < next.size(); ++e) {
          adjoins |= mesh.Across(report.corridor[k - 1], e) == report.corridor[k];
        }
        EXPECT_TRUE(adjoins);
      }
    }
  });
  EXPECT_GT(found, 20);
  EXPECT_GT(lines, 20);
}

}  // namespace
}  // namespace waystar::core
