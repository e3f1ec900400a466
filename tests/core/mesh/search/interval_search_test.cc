#include "server/core/mesh/search/interval_search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/mesh/map/plan.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/movingai_data.h"

namespace waystar::core {
namespace {

using ::testing::IsEmpty;

constexpr std::size_t kPlenty = std::size_t{1} << 28;

// A path that outlives the scratch.
struct Found {
  SearchEnd end = SearchEnd::kExhausted;
  double length = 0.0;
  std::vector<WorldPoint> corners;
  std::vector<PolygonNumber> corridor;
  std::uint64_t expanded = 0;
  std::uint64_t generated = 0;
  std::size_t open_peak = 0;

  friend bool operator==(const Found&, const Found&) = default;
};

Found Kept(const MeshSearchReport& report) {
  return {report.end,
          report.length,
          {report.corners.begin(), report.corners.end()},
          {report.corridor.begin(), report.corridor.end()},
          report.statistics.expanded,
          report.statistics.generated,
          report.open_peak};
}

class IntervalSearchTest : public ::testing::Test {
 protected:
  Found Search(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal) {
    return Kept(SearchMesh(mesh, {start, goal}, budget_, scratch_));
  }

  Budget budget_;
  MeshScratch scratch_{kPlenty};
};

// Expects that polygons of the corridor adjoin, and that the path runs through all of them in order.
void ExpectSound(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal, const Found& found) {
  ASSERT_EQ(found.end, SearchEnd::kGoalReached);
  ASSERT_FALSE(found.corners.empty());
  EXPECT_EQ(found.corners.front(), start.point);
  EXPECT_EQ(found.corners.back(), goal.point);
  double length = 0.0;
  for (std::size_t i = 1; i < found.corners.size(); ++i) {
    const double leg = PlanDistance(found.corners[i - 1], found.corners[i]);
    EXPECT_GT(leg, 0.0);
    length += leg;
  }
  EXPECT_DOUBLE_EQ(found.length, length);

  ASSERT_FALSE(found.corridor.empty());
  EXPECT_TRUE(mesh.Contains(found.corridor.front(), ToFixed(start.point)));
  EXPECT_TRUE(mesh.Contains(found.corridor.back(), ToFixed(goal.point)));
  // How far along the path, as a leg and a share of it, the edges between the polygons have been crossed.
  std::size_t leg = 0;
  double share = 0.0;
  for (std::size_t i = 0; i + 1 < found.corridor.size(); ++i) {
    const auto neighbours = mesh.NeighboursOf(found.corridor[i]);
    const auto vertices = mesh.VerticesOf(found.corridor[i]);
    bool is_crossed = false;
    for (std::size_t k = 0; k < neighbours.size() && !is_crossed; ++k) {
      if (neighbours[k] != found.corridor[i + 1]) {
        continue;
      }
      const WorldPoint& a = mesh.VertexAt(vertices[k]);
      const WorldPoint& b = mesh.VertexAt(vertices[(k + 1) % vertices.size()]);
      const double length_of_edge = PlanDistance(a, b);
      const auto side = [&](const WorldPoint& p) {
        return ((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x)) / length_of_edge;
      };
      for (std::size_t l = leg; l + 1 < found.corners.size() && !is_crossed; ++l) {
        const WorldPoint& from = found.corners[l];
        const WorldPoint& to = found.corners[l + 1];
        const double from_side = side(from);
        const double to_side = side(to);
        if (std::min(from_side, to_side) > 1e-9 || std::max(from_side, to_side) < -1e-9) {
          continue;
        }
        // A leg along the edge crosses it where it first touches it.
        const auto share_at = [&](const WorldPoint& p) {
          const double dx = to.x - from.x;
          const double dy = to.y - from.y;
          return std::clamp(((p.x - from.x) * dx + (p.y - from.y) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
        };
        std::vector<double> shares = {l == leg ? share : 0.0, share_at(a), share_at(b), 1.0};
        if (std::abs(from_side - to_side) > 1e-9) {
          shares.push_back(std::clamp(from_side / (from_side - to_side), 0.0, 1.0));
        }
        std::sort(shares.begin(), shares.end());
        for (const double t : shares) {
          const WorldPoint p{from.x + t * (to.x - from.x), from.y + t * (to.y - from.y), 0.0};
          if (PlanDistance(a, p) + PlanDistance(p, b) <= length_of_edge + 1e-9 &&
              (l > leg || t >= share - 1e-9)) {
            is_crossed = true;
            leg = l;
            share = t;
            break;
          }
        }
      }
    }
    EXPECT_TRUE(is_crossed) << "from polygon " << found.corridor[i] << " to " << found.corridor[i + 1];
  }
}

TEST_F(IntervalSearchTest, CornersHaveTheHeightsOfTheirVertices) {
  MeshSpec spec = DrawRooms({".#", ".."});
  for (WorldPoint& vertex : spec.vertices) {
    vertex.z = 10.0 * vertex.x + vertex.y;
  }
  const NavMesh mesh = MeshOf(std::move(spec));
  const Found found = Search(mesh, PlaceAt(mesh, 0.5, 0.25, 5.25), PlaceAt(mesh, 1.5, 1.25, 16.25));
  ASSERT_EQ(found.corners.size(), 3u);
  EXPECT_EQ(found.corners[1], (WorldPoint{1, 1, 11}));
  EXPECT_EQ(found.corners[0].z, 5.25);
  EXPECT_EQ(found.corners[2].z, 16.25);
}

// Cells are wider than polygons: the vertex lies in the middle of a side of one.
TEST_F(IntervalSearchTest, BeginsAtAVertexInTheMiddleOfALongWall) {
  const NavMesh mesh = MeshOf(DrawMesh({{-2, -1}, {0, -1}, {2, -1}, {2, 0}, {0, 0}, {-2, 0}, {1, 2}, {-1, 2}},
                                       {{0, 1, 4, 5}, {1, 2, 3, 4}, {4, 6, 7}}));
  ASSERT_EQ(mesh.part_count(), 2u);
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    const MeshPlace place{polygon, {0, 0}};
    EXPECT_DOUBLE_EQ(Search(mesh, place, PlaceAt(mesh, 0, 2)).length, 2.0);
    EXPECT_DOUBLE_EQ(Search(mesh, PlaceAt(mesh, 2, -1), place).length, std::hypot(2.0, 1.0));
  }
}

TEST_F(IntervalSearchTest, AVertexOnAnotherFloorIsAnotherPlace) {
  const NavMesh mesh = MeshOf(
      DrawMesh({{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {2, 2, 1}, {4, 2, 1}, {4, 4, 1}, {2, 4, 1}},
               {{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(Search(mesh, PlaceAt(mesh, 2, 2, 0), PlaceAt(mesh, 4, 4, 1)).end, SearchEnd::kExhausted);
  EXPECT_EQ(Search(mesh, PlaceAt(mesh, 2, 2, 1), PlaceAt(mesh, 4, 4, 1)).end, SearchEnd::kGoalReached);
}

TEST_F(IntervalSearchTest, EntersNoRoomThatItWouldLeaveThroughTheSameDoor) {
  const NavMesh mesh = MeshOf(DrawRooms({"........",  //
                                         ".######.",  //
                                         ".#....#.",  //
                                         ".#....#.",  //
                                         ".#.####.",  //
                                         "........"}));
  const NavMesh without = MeshOf(DrawRooms({"........",  //
                                            ".######.",  //
                                            ".######.",  //
                                            ".######.",  //
                                            ".#.####.",  //
                                            "........"}));
  const Found found = Search(mesh, PlaceAt(mesh, 3.5, 5.5), PlaceAt(mesh, 3.5, 0.5));
  const Found same = Search(without, PlaceAt(without, 3.5, 5.5), PlaceAt(without, 3.5, 0.5));
  EXPECT_EQ(found.corners, same.corners);
  EXPECT_EQ(found.expanded, same.expanded);
  // It does if the goal is there, or the start.
  const Found inside = Search(mesh, PlaceAt(mesh, 3.5, 5.5), PlaceAt(mesh, 5.5, 2.5));
  EXPECT_EQ(inside.end, SearchEnd::kGoalReached);
  const Found outside = Search(mesh, PlaceAt(mesh, 5.5, 2.5), PlaceAt(mesh, 3.5, 5.5));
  EXPECT_DOUBLE_EQ(outside.length, inside.length);
}

// A short way before a long edge adds less to a length than rounding takes.
TEST_F(IntervalSearchTest, TurnsAtTheVertexBesideTheStartIntoALongEdge) {
  const NavMesh mesh =
      MeshOf(DrawMesh({{-1, -1}, {0, -1}, {0, 0}, {-1, 0}, {100, -1}, {100, 0}, {100, 100}, {0, 100}},
                      {{0, 1, 2, 3}, {1, 4, 5, 2}, {2, 5, 6}, {2, 6, 7}}));
  const MeshPlace goal = PlaceAt(mesh, 0.5, 70.0);
  Random random(19);
  for (int i = 0; i < 200; ++i) {
    const int y = random.Between(1, 1'000);
    const MeshPlace start =
        PlaceAt(mesh, -std::ldexp(y + random.Between(1, 1'000), -20), -std::ldexp(y, -20));
    const Found found = Search(mesh, start, goal);
    ASSERT_EQ(found.end, SearchEnd::kGoalReached);
    EXPECT_DOUBLE_EQ(found.length, PlanDistance(start.point, {0, 0}) + PlanDistance({0, 0}, goal.point));
  }
}

TEST_F(IntervalSearchTest, AStartOnAWallStaysOnItsSide) {
  // A wall without width between the polygons, from (2, 1) to (4, 1); both have a corner at (2, 1).
  const NavMesh mesh = MeshOf(DrawMesh({{0, 0}, {4, 0}, {4, 1}, {2, 1}, {0, 1}, {4, 1}, {4, 2}, {0, 2}},
                                       {{0, 1, 2, 3, 4}, {4, 3, 5, 6, 7}}));
  const WorldPoint on_wall{3, 1};
  const WorldPoint above{3, 1.5};
  EXPECT_DOUBLE_EQ(Search(mesh, {0, on_wall}, {1, above}).length, 1.0 + std::hypot(1.0, 0.5));
  EXPECT_DOUBLE_EQ(Search(mesh, {1, on_wall}, {1, above}).length, 0.5);
  EXPECT_DOUBLE_EQ(Search(mesh, {1, above}, {0, on_wall}).length, 1.0 + std::hypot(1.0, 0.5));
  EXPECT_DOUBLE_EQ(Search(mesh, {1, on_wall}, {0, on_wall}).length, 2.0);
}

TEST_F(IntervalSearchTest, AStartOnAVertexOfAWallWithoutWidthIsOnBothSides) {
  // As above, but the wall has a vertex at (3, 1).
  const NavMesh mesh =
      MeshOf(DrawMesh({{0, 0}, {4, 0}, {4, 1}, {3, 1}, {2, 1}, {0, 1}, {3, 1}, {4, 1}, {4, 2}, {0, 2}},
                      {{0, 1, 2, 3, 4, 5}, {5, 4, 6, 7, 8, 9}}));
  const WorldPoint on_wall{3, 1};
  for (const PolygonNumber polygon : {0U, 1U}) {
    EXPECT_DOUBLE_EQ(Search(mesh, {polygon, on_wall}, {1, {3, 1.5}}).length, 0.5);
    EXPECT_DOUBLE_EQ(Search(mesh, {0, {3, 0.5}}, {polygon, on_wall}).length, 0.5);
  }
  EXPECT_DOUBLE_EQ(Search(mesh, {0, {3, 0.5}}, {1, {3, 1.5}}).length, 2.0 * std::hypot(1.0, 0.5));
}

TEST_F(IntervalSearchTest, StopsAtTheExpansionLimit) {
  const NavMesh mesh = MeshOf(DrawRooms({"......", ".####.", "......"}));
  const MeshPlace start = PlaceAt(mesh, 0.5, 1.5);
  const MeshPlace goal = PlaceAt(mesh, 5.5, 1.5);
  const Found found = Search(mesh, start, goal);
  ASSERT_GT(found.expanded, 1u);
  for (std::uint64_t limit = 0; limit < found.expanded; ++limit) {
    budget_.max_expansions = limit;
    const Found cut = Search(mesh, start, goal);
    EXPECT_EQ(cut.end, SearchEnd::kExpansionLimit);
    EXPECT_EQ(cut.expanded, limit);
    EXPECT_THAT(cut.corners, IsEmpty());
  }
  budget_.max_expansions = found.expanded;
  EXPECT_EQ(Search(mesh, start, goal), found);
}

TEST_F(IntervalSearchTest, StopsWhenCancelledOrLate) {
  const NavMesh mesh = MeshOf(DrawRooms({"......", ".####.", "......"}));
  const std::atomic<bool> yes = true;
  budget_.cancelled = &yes;
  EXPECT_EQ(Search(mesh, PlaceAt(mesh, 0.5, 1.5), PlaceAt(mesh, 5.5, 1.5)).end, SearchEnd::kCancelled);
  budget_.cancelled = nullptr;
  budget_.evicted = &yes;
  EXPECT_EQ(Search(mesh, PlaceAt(mesh, 0.5, 1.5), PlaceAt(mesh, 5.5, 1.5)).end, SearchEnd::kEvicted);
  budget_.evicted = nullptr;
  budget_.deadline = std::chrono::steady_clock::time_point::min();
  EXPECT_EQ(Search(mesh, PlaceAt(mesh, 0.5, 1.5), PlaceAt(mesh, 5.5, 1.5)).end, SearchEnd::kDeadline);
}

TEST_F(IntervalSearchTest, StopsAtTheMemoryLimit) {
  const NavMesh mesh = MeshOf(DrawRooms({"......", ".####.", "......"}));
  for (const std::size_t bytes : {0, 600}) {
    MeshScratch scratch(bytes);
    const MeshSearchReport report =
        SearchMesh(mesh, {PlaceAt(mesh, 0.5, 1.5), PlaceAt(mesh, 5.5, 1.5)}, budget_, scratch);
    EXPECT_EQ(report.end, SearchEnd::kScratchLimit);
    EXPECT_LE(scratch.memory_bytes(), bytes + 256);
  }
}

// Compares paths between random places of a mesh with the oracle's.
void ExpectShortest(const NavMesh& mesh, int pairs, Random& random) {
  const SightGraph oracle(mesh);
  MeshScratch scratch(kPlenty);
  const Budget budget;
  for (int i = 0; i < pairs; ++i) {
    const MeshPlace start = RandomPlace(mesh, random);
    const MeshPlace goal = RandomPlace(mesh, random);
    SCOPED_TRACE(Between(start, goal.point));
    const auto search = [&](const MeshPlace& from, const MeshPlace& to) {
      return Kept(SearchMesh(mesh, {from, to}, budget, scratch));
    };
    const Found found = search(start, goal);
    const double expected = oracle.Length(start, goal);
    if (expected == std::numeric_limits<double>::infinity()) {
      EXPECT_EQ(found.end, SearchEnd::kExhausted);
      continue;
    }
    ExpectSound(mesh, start, goal, found);
    EXPECT_NEAR(found.length, expected, 1e-9 * std::max(1.0, expected));
    EXPECT_NEAR(search(goal, start).length, found.length, 1e-12 * std::max(1.0, expected));
    EXPECT_EQ(search(start, goal), found);
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
}

TEST(IntervalSearchOracleTest, FindsShortestPaths) {
  ForMeshes(120, 1, [](const NavMesh& mesh, Random& random) { ExpectShortest(mesh, 60, random); });
}

// Places that were rounded to an edge may lie half a unit of rounding outside.
TEST(IntervalSearchOracleTest, FindsPathsBetweenPlacesRoundedToWalls) {
  ForSeeds(60, [&](Random& random) {
    const NavMesh mesh = MeshOf(BentFloors(random, 1, 6, 6));
    MeshScratch scratch(kPlenty);
    for (int i = 0; i < 60; ++i) {
      const auto pull_inside = [&](const MeshPlace& place) {
        const WorldPoint middle = MiddleOf(mesh, place.polygon);
        return MeshPlace{place.polygon,
                         mesh.NearestPoint(place.polygon, place.point.x + 1e-4 * (middle.x - place.point.x),
                                           place.point.y + 1e-4 * (middle.y - place.point.y))};
      };
      const MeshPlace start = RoundedPlace(mesh, random);
      const MeshPlace goal = RoundedPlace(mesh, random);
      if (mesh.PartOf(start.polygon) != mesh.PartOf(goal.polygon)) {
        continue;
      }
      const double found = LengthOf(mesh, start, goal, scratch);
      ASSERT_TRUE(std::isfinite(found));
      EXPECT_NEAR(LengthOf(mesh, goal, start, scratch), found, 1e-5);
      EXPECT_NEAR(LengthOf(mesh, pull_inside(start), pull_inside(goal), scratch), found, 1e-3);
    }
  });
}

struct MeshScenario {
  WorldPoint start;
  WorldPoint goal;
  double length = 0.0;
};

// REQUIRES: there are meshes.
std::vector<MeshScenario> LoadScenarios(const std::string& name) {
  std::ifstream file(*DataFolder() / "meshes" / "polyanya" / name);
  std::string line;
  std::getline(file, line);
  std::vector<MeshScenario> scenarios;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string skipped;
    MeshScenario scenario;
    words >> skipped >> skipped >> skipped >> skipped >> scenario.start.x >> scenario.start.y >>
        scenario.goal.x >> scenario.goal.y >> scenario.length;
    EXPECT_TRUE(words) << line;
    scenarios.push_back(scenario);
  }
  return scenarios;
}

TEST_F(IntervalSearchTest, MatchesTheLengthsOfTheBenchmark) {
  const std::optional<NavMesh> mesh = LoadMesh("scene_mp_2p_01");
  if (!mesh) {
    GTEST_SKIP() << "WAYSTAR_DATA names no folder with meshes/polyanya";
  }
  const std::vector<MeshScenario> scenarios = LoadScenarios("scene_mp_2p_01.mesh.scen");
  EXPECT_EQ(scenarios.size(), 2'000u);
  for (const MeshScenario& scenario : scenarios) {
    const MeshPlace start = PlaceAt(*mesh, scenario.start.x, scenario.start.y);
    const MeshPlace goal = PlaceAt(*mesh, scenario.goal.x, scenario.goal.y);
    const Found found = Search(*mesh, start, goal);
    ASSERT_EQ(found.end, SearchEnd::kGoalReached);
    // The mesh rounds its vertices to 2^-20, which moves each corner by half as much in x and in y.
    const double moved = std::ldexp(1.0, -20) * static_cast<double>(found.corners.size());
    EXPECT_NEAR(found.length, scenario.length, moved + 1e-9 * scenario.length);
    ExpectSound(*mesh, start, goal, found);
  }
}

// The meshes of grids, as triangles and merged into larger polygons. Lengths of the scenarios are those of
// paths from cell to cell, which no shortest path exceeds.
TEST_F(IntervalSearchTest, MergedPolygonsGiveTheSameLengths) {
  for (const std::string name : {"arena", "aurora"}) {
    const std::optional<NavMesh> mesh = LoadMesh(name);
    const std::optional<NavMesh> merged = LoadMesh(name + "-merged");
    if (!mesh || !merged) {
      GTEST_SKIP() << "WAYSTAR_DATA names no folder with meshes/polyanya";
    }
    const std::vector<MeshScenario> scenarios = LoadScenarios(name + ".scen");
    // They are in the order of their lengths, so that any some hundred of them are short and long ones.
    const std::size_t step = std::max<std::size_t>(scenarios.size() / 300, 1);
    int skipped = 0;
    for (std::size_t i = 0; i < scenarios.size(); i += step) {
      const MeshScenario& scenario = scenarios[i];
      const auto start = mesh->FindNearest({scenario.start, 0.0, 0.0});
      const auto goal = mesh->FindNearest({scenario.goal, 0.0, 0.0});
      const auto merged_start = merged->FindNearest({scenario.start, 0.0, 0.0});
      const auto merged_goal = merged->FindNearest({scenario.goal, 0.0, 0.0});
      if (!start || !goal || !merged_start || !merged_goal) {
        ++skipped;
        continue;
      }
      const Found found = Search(*mesh, *start, *goal);
      const Found same = Search(*merged, *merged_start, *merged_goal);
      ExpectSound(*mesh, *start, *goal, found);
      ExpectSound(*merged, *merged_start, *merged_goal, same);
      EXPECT_NEAR(found.length, same.length, 1e-9 * found.length) << name;
    }
    EXPECT_EQ(skipped, 0) << name;
  }
}

// Corners in the middle of slanted sides are rounded, so that polygons have small dents.
TEST(IntervalSearchPropertyTest, DentsDoNotMatter) {
  int found = 0;
  int dented = 0;
  // Along a wall in line with dents, a path may keep to a wrong side of it.
  int longer = 0;
  ForSeeds(400, [&](Random& random) {
    const MeshSpec straight = DrawRooms(RandomRooms(random), &random);
    MeshSpec turned = straight;
    for (WorldPoint& vertex : turned.vertices) {
      vertex = {(2.0 * vertex.x - 1.0 * vertex.y) / 3.0, (1.0 * vertex.x + 2.0 * vertex.y) / 3.0, 0.0};
    }
    const NavMesh mesh = MeshOf(straight);
    const NavMesh dents = MeshOf(turned);
    for (PolygonNumber polygon = 0; polygon < dents.polygon_count(); ++polygon) {
      dented += dents.IsDented(polygon) ? 1 : 0;
    }
    MeshScratch scratch(std::size_t{1} << 24);
    for (int i = 0; i < 40; ++i) {
      const auto draw = [&] {
        const auto polygon =
            static_cast<PolygonNumber>(random.Between(0, static_cast<int>(mesh.polygon_count()) - 1));
        return std::pair(MeshPlace{polygon, Rounded(MiddleOf(mesh, polygon))},
                         MeshPlace{polygon, Rounded(MiddleOf(dents, polygon))});
      };
      const auto [start, turned_start] = draw();
      const auto [goal, turned_goal] = draw();
      const MeshSearchReport plain = SearchMesh(mesh, {start, goal}, {}, scratch);
      const double length = plain.length;
      const SearchEnd end = plain.end;
      const MeshSearchReport report = SearchMesh(dents, {turned_start, turned_goal}, {}, scratch);
      ASSERT_EQ(report.end, end);
      // Turning makes all lengths sqrt(5) / 3 times as long.
      const double expected = length * std::sqrt(5.0) / 3.0;
      EXPECT_GT(report.length, expected - 1e-4);
      longer += report.length > expected + 1e-4 ? 1 : 0;
      found += end == SearchEnd::kGoalReached ? 1 : 0;
    }
  });
  EXPECT_LE(longer, found / 1000) << "of " << found;
  EXPECT_GT(found, static_cast<int>(Rounds(5'000)));
  EXPECT_GT(dented, static_cast<int>(Rounds(500)));
}

}  // namespace
}  // namespace waystar::core
