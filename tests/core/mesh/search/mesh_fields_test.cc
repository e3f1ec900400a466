#include "server/core/mesh/search/mesh_fields.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/base/memory_account.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/polygons_around.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MeshFieldsTest : public ::testing::Test {
 protected:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kPlenty = std::size_t{1} << 28;

  // REQUIRES, of both: no limit stands in the way.
  std::vector<ReachablePolygon> Reach(const NavMesh& mesh, const MeshReachQuery& query) {
    absl::StatusOr<ReachablePolygons> reachable = FindReachablePolygons(mesh, query, budget_, scratch_);
    EXPECT_THAT(reachable, IsOk());
    return reachable.ok() ? std::move(reachable->polygons) : std::vector<ReachablePolygon>();
  }
  std::vector<MeshFlowStep> Flow(const NavMesh& mesh, const std::vector<MeshPlace>& goals,
                                 std::optional<double> max_cost = std::nullopt,
                                 std::optional<Box> region = std::nullopt) {
    const std::vector<std::optional<MeshPlace>> given(goals.begin(), goals.end());
    absl::StatusOr<MeshFlow> flow =
        ComputeMeshFlow(mesh, {.goals = given, .max_cost = max_cost, .region = region}, budget_, scratch_);
    EXPECT_THAT(flow, IsOk());
    return flow.ok() ? std::move(flow->steps) : std::vector<MeshFlowStep>();
  }
  absl::Status RefusedFlow(const NavMesh& mesh, const std::vector<std::optional<MeshPlace>>& goals,
                           std::optional<Box> region = std::nullopt) {
    return ComputeMeshFlow(mesh, {.goals = goals, .max_cost = std::nullopt, .region = region}, budget_,
                           scratch_)
        .status();
  }
  absl::Status RefusedReach(const NavMesh& mesh, const MeshReachQuery& query) {
    return FindReachablePolygons(mesh, query, budget_, scratch_).status();
  }

  double Length(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal) {
    return LengthOf(mesh, start, goal, searches_);
  }
  double LengthToNearest(const NavMesh& mesh, const MeshPlace& start, const std::vector<MeshPlace>& goals) {
    double least = kInfinity;
    for (const MeshPlace& goal : goals) {
      least = std::min(least, Length(mesh, start, goal));
    }
    return least;
  }

  // Expects that the steps are those of paths of the least lengths, as searches find them: of all polygons,
  // or of each so many.
  void ExpectShortest(const NavMesh& mesh, const std::vector<MeshPlace>& goals,
                      const std::vector<MeshFlowStep>& steps, std::size_t stride = 1) {
    for (std::size_t i = 0; i < steps.size() && !HasFailure(); i += stride) {
      const MeshFlowStep& step = steps[i];
      SCOPED_TRACE(::testing::Message()
                   << "from " << step.middle.x << " " << step.middle.y << " in " << step.polygon);
      const double slack = 1e-9 * (1.0 + step.cost);
      MeshPlace at{step.polygon, step.middle};
      EXPECT_NEAR(step.cost, LengthToNearest(mesh, at, goals), slack);
      // Where the path turns a shorter one begins.
      const MeshRayHit hit = CastMeshRay(mesh, at, step.next);
      EXPECT_FALSE(hit.is_blocked);
      EXPECT_EQ(hit.end.point.x, step.next.x);
      EXPECT_EQ(hit.end.point.y, step.next.y);
      EXPECT_NEAR(hit.length + LengthToNearest(mesh, hit.end, goals), step.cost, slack);
    }
  }

  Budget budget_;
  MeshScratch scratch_{kPlenty};
  MeshScratch searches_{kPlenty};
};

TEST_F(MeshFieldsTest, AVertexIsInAllPolygonsThatHaveIt) {
  const NavMesh mesh = MeshOf(DrawRooms({".#",  //
                                         "#."}));
  const MeshPlace vertex = PlaceAt(mesh, 1, 1);
  const std::vector<ReachablePolygon> both = {{0, {1, 1}, 0.0}, {1, {1, 1}, 0.0}};
  EXPECT_EQ(Reach(mesh, {.start = vertex}), both);
  EXPECT_EQ(Reach(mesh, {.start = vertex, .region = Box{0, 0, 2, 2}}), both);
  EXPECT_EQ(Reach(mesh, {.start = vertex, .region = Box{1, 1, 2, 2}}).size(), 1U);
  EXPECT_EQ(Flow(mesh, {vertex}).size(), 2U);
}

TEST_F(MeshFieldsTest, FlowLeadsToTheNearestGoal) {
  const NavMesh mesh = MeshOf(DrawRooms({"......#."}));
  const MeshPlace left = PlaceAt(mesh, 0.5, 0.5);
  const MeshPlace right = PlaceAt(mesh, 5.5, 0.5);
  // Goals off the mesh are passed over, and a goal may be given twice.
  const std::vector<std::optional<MeshPlace>> goals = {std::nullopt, right, left, right};
  const absl::StatusOr<MeshFlow> flow =
      ComputeMeshFlow(mesh, {.goals = goals, .max_cost = std::nullopt}, budget_, scratch_);
  ASSERT_THAT(flow, IsOk());
  std::vector<double> next;
  for (const MeshFlowStep& step : flow->steps) {
    next.push_back(step.next.x);
  }
  EXPECT_THAT(next, ElementsAre(0.5, 0.5, 0.5, 5.5, 5.5, 5.5));
  EXPECT_EQ(flow->steps[0].cost, 0.0);
  EXPECT_EQ(Flow(mesh, {left, right}, 1.0).size(), 4u) << "those a unit away are within";
  EXPECT_EQ(ErrorReasonOf(RefusedFlow(mesh, {std::nullopt, std::nullopt})), "GOAL_BLOCKED");
}

TEST_F(MeshFieldsTest, VerticesThatThePathOnlyTouchesAreNotNext) {
  // A wall below the line from the right to the left touches it in two vertices.
  const NavMesh mesh = MeshOf(DrawMesh(
      {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {4, 1}, {3, 1}, {2, 1}, {1, 1}, {0, 1}, {0, -1}, {1, -1}},
      {{0, 1, 8, 9}, {1, 2, 7, 8}, {2, 3, 6, 7}, {3, 4, 5, 6}, {10, 11, 1, 0}}));
  const MeshPlace goal{4, {0.5, -0.25}};
  const std::vector<MeshFlowStep> steps = Flow(mesh, {goal});
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[3].next, (WorldPoint{1, 0}));
  ExpectShortest(mesh, {goal}, steps);
}

TEST_F(MeshFieldsTest, RegionsHoldWholePolygons) {
  const NavMesh mesh = MeshOf(DrawRooms({"....", ".##.", "...."}));
  const Box upper{-1, -1, 4, 2.5};
  // The way along the lower row is not in the region.
  const MeshPlace start = PlaceAt(mesh, 0.5, 1.5);
  const std::vector<ReachablePolygon> reached =
      Reach(mesh, {.start = start, .max_cost = std::nullopt, .region = upper});
  ASSERT_EQ(reached.size(), 6u);
  EXPECT_EQ(reached.back().nearest, (WorldPoint{3, 1}));
  EXPECT_EQ(Flow(mesh, {start}, std::nullopt, upper).size(), 6u);
  EXPECT_EQ(Flow(mesh, {start}, std::nullopt, Box{0, 0, 4, 3}).size(), 10u) << "edges belong to it";

  const MeshPlace outside = PlaceAt(mesh, 0.5, 2.25);
  EXPECT_THAT(RefusedReach(mesh, {.start = outside, .max_cost = 1.0, .region = upper}),
              IsError(kInvalid, ErrorReason::kBadValue, "start"));
  EXPECT_THAT(RefusedFlow(mesh, {start, outside}, upper),
              IsError(kInvalid, ErrorReason::kBadValue, "goals[1]"));
  // On the edge the start is in a polygon of the region as well.
  EXPECT_EQ(Reach(mesh, {.start = PlaceAt(mesh, 0.5, 2), .max_cost = std::nullopt, .region = upper}).size(),
            6u);
}

TEST_F(MeshFieldsTest, TheMeshOfARegionIsInTheMemoryAccount) {
  const NavMesh mesh = MeshOf(DrawRooms({"....", ".##.", "...."}));
  const MeshPlace start = PlaceAt(mesh, 0.5, 0.5);
  const std::vector<std::optional<MeshPlace>> goals = {start};
  const Box all{0, 0, 4, 3};
  const auto status_within = [&](std::size_t bytes, const std::optional<Box>& region) {
    MemoryAccount account(bytes);
    const absl::Status reached =
        RefusedReach(mesh, {.start = start, .max_cost = {}, .region = region, .memory = &account});
    EXPECT_EQ(ComputeMeshFlow(mesh, {.goals = goals, .max_cost = {}, .region = region, .memory = &account},
                              budget_, scratch_)
                  .status(),
              reached);
    EXPECT_EQ(account.taken(), 0u) << "it is given back";
    return reached;
  };
  EXPECT_THAT(status_within(2 * mesh.memory_bytes(), all), IsOk());
  const absl::Status status = status_within(mesh.memory_bytes() / 2, all);
  EXPECT_EQ(ErrorReasonOf(status), "MAPS_MEMORY_FULL");
  EXPECT_EQ(ErrorFieldOf(status), "region");
  EXPECT_THAT(status_within(0, std::nullopt), IsOk()) << "without a region nothing is put together";
}

TEST_F(MeshFieldsTest, RegionsStopWithTheirBudget) {
  // A rival lets the search go on for some of its looks.
  class Looks final : public Rival {
   public:
    explicit Looks(int allowed) : allowed_(allowed) {}
    bool GoOn(std::uint64_t /*expanded*/) override { return ++looks_ > allowed_; }
    int looks() const { return looks_; }

   private:
    const int allowed_;
    int looks_ = 0;
  };
  Random random(2);
  MeshSpec spec;
  AddFloor(spec, 80, 80, 0.0, random);
  const NavMesh mesh = MeshOf(std::move(spec));
  const MeshReachQuery query{.start = {0, mesh.VertexAt(mesh.VerticesOf(0)[0])},
                             .max_cost = std::nullopt,
                             .region = Box{-10, -10, 100, 100}};
  Looks never(std::numeric_limits<int>::max());
  budget_.rival = &never;
  Reach(mesh, query);
  for (int allowed = 0; allowed < never.looks(); allowed += 1 + allowed / 10) {
    Looks looks(allowed);
    budget_.rival = &looks;
    EXPECT_EQ(RefusedReach(mesh, query).code(), absl::StatusCode::kCancelled) << allowed;
    EXPECT_LE(looks.looks(), allowed + 2);
  }
}

TEST_F(MeshFieldsTest, RefusesCostsBelowZero) {
  const NavMesh mesh = MeshOf(DrawRooms({"..", ".."}));
  for (const double cost : {-1.0, std::nan("")}) {
    EXPECT_THAT(RefusedReach(mesh, {.start = PlaceAt(mesh, 0.5, 0.5), .max_cost = cost}),
                IsError(kInvalid, ErrorReason::kBadValue, "max_cost"));
  }
  EXPECT_EQ(Reach(mesh, {.start = PlaceAt(mesh, 0.5, 0.5), .max_cost = kInfinity}).size(), 4u);
}

TEST_F(MeshFieldsTest, StopsAtItsLimits) {
  const NavMesh mesh = MeshOf(DrawRooms({"......", ".####.", "......"}));
  const MeshReachQuery query{.start = PlaceAt(mesh, 0.5, 1.5), .max_cost = std::nullopt};
  const absl::StatusOr<ReachablePolygons> whole = FindReachablePolygons(mesh, query, budget_, scratch_);
  ASSERT_THAT(whole, IsOk());
  const std::uint64_t expanded = whole->statistics.expanded;
  budget_.max_expansions = expanded;
  EXPECT_EQ(Reach(mesh, query), whole->polygons);
  budget_.max_expansions = expanded - 1;
  EXPECT_EQ(ErrorReasonOf(RefusedReach(mesh, query)), "REGION_TOO_LARGE");
  budget_ = {};
  for (const std::size_t bytes : {0, 600, 25'000}) {
    MeshScratch scratch(bytes);
    EXPECT_EQ(ErrorReasonOf(FindReachablePolygons(mesh, query, budget_, scratch).status()),
              "REGION_TOO_LARGE")
        << bytes;
    EXPECT_LE(scratch.memory_bytes(), bytes + 256);
  }
  const std::atomic<bool> yes = true;
  budget_.cancelled = &yes;
  EXPECT_EQ(RefusedReach(mesh, query).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(RefusedFlow(mesh, {query.start}).code(), absl::StatusCode::kCancelled);
}

class MeshFieldsOracleTest : public MeshFieldsTest {
 protected:
  void JudgeFlow(const NavMesh& mesh, Random& random) {
    std::vector<MeshPlace> goals;
    for (int i = random.Between(1, 4); i > 0; --i) {
      goals.push_back(RandomPlace(mesh, random));
    }
    const std::vector<MeshFlowStep> steps = Flow(mesh, goals);
    std::vector<PolygonNumber> polygons;
    for (const MeshFlowStep& step : steps) {
      polygons.push_back(step.polygon);
    }
    std::vector<PolygonNumber> connected;
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      if (std::ranges::any_of(goals, [&](const MeshPlace& goal) {
            return HaveSharedPart(FindPartsAround(mesh, goal), {mesh.PartOf(polygon)});
          })) {
        connected.push_back(polygon);
      }
    }
    EXPECT_EQ(polygons, connected);
    ExpectShortest(mesh, goals, steps);
    // A limit leaves out what is further away, and changes nothing else.
    const double max_cost = random.Between(0, 400) / 100.0;
    std::vector<MeshFlowStep> within;
    std::ranges::copy_if(steps, std::back_inserter(within),
                         [&](const MeshFlowStep& step) { return step.cost <= max_cost; });
    EXPECT_EQ(Flow(mesh, goals, max_cost), within);
  }

  // A limit that is the cost of a polygon leaves that in, and what is as near, in a region as well.
  void JudgeLimits(const NavMesh& mesh, Random& random) {
    MeshReachQuery query{.start = RandomPlace(mesh, random), .max_cost = std::nullopt};
    if (random.Chance(0.5)) {
      query.region = Box{-10, -10, 20, 20};
    }
    const std::vector<ReachablePolygon> all = Reach(mesh, query);
    for (const ReachablePolygon& limit : all) {
      query.max_cost = limit.cost;
      std::vector<ReachablePolygon> within;
      std::ranges::copy_if(all, std::back_inserter(within), [&](const ReachablePolygon& polygon) {
        return polygon.cost <= limit.cost + limit.cost * 1e-8;
      });
      EXPECT_EQ(Reach(mesh, query), within) << "polygon " << limit.polygon << " at " << limit.cost;
    }
  }

  void JudgeReach(const NavMesh& mesh, Random& random) {
    const MeshPlace start = RandomPlace(mesh, random);
    const double max_cost = random.Between(0, 600) / 100.0;
    SCOPED_TRACE(::testing::Message() << "from " << start.point.x << " " << start.point.y << " in "
                                      << start.polygon << " within " << max_cost);
    std::map<PolygonNumber, ReachablePolygon> reached;
    for (const ReachablePolygon& polygon : Reach(mesh, {.start = start, .max_cost = max_cost})) {
      reached[polygon.polygon] = polygon;
    }
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      const auto found = reached.find(polygon);
      double least = max_cost;
      if (found != reached.end()) {
        least = found->second.cost;
        EXPECT_LE(least, max_cost * (1 + 1e-8));
        const MeshPlace nearest{polygon, found->second.nearest};
        // A path to a vertex may end in other polygons that have it, and then it is shorter.
        const double length = Length(mesh, start, nearest);
        EXPECT_LE(length, least + 1e-9 * (1.0 + least));
        if (FindPlacesAround(mesh, nearest).size() == 1) {
          EXPECT_NEAR(least, length, 1e-9 * (1.0 + least));
        }
      }
      // No point of its edges is nearer, but for the rounding of points.
      const auto vertices = mesh.VerticesOf(polygon);
      for (std::size_t k = 0; k < vertices.size(); ++k) {
        const WorldPoint& a = mesh.VertexAt(vertices[k]);
        const WorldPoint& b = mesh.VertexAt(vertices[(k + 1) % vertices.size()]);
        for (const double share : {0.0, 0.25, 0.5, 0.75}) {
          const WorldPoint point =
              mesh.NearestPoint(polygon, a.x + share * (b.x - a.x), a.y + share * (b.y - a.y));
          if (FindPlacesAround(mesh, {polygon, point}).size() == 1) {
            EXPECT_GE(Length(mesh, start, {polygon, point}), least - 2e-6) << "polygon " << polygon;
          }
        }
      }
      if (HasFailure()) {
        return;
      }
    }
  }
};

TEST_F(MeshFieldsOracleTest, EqualsSearches) {
  ForMeshes(150, 2, [&](const NavMesh& mesh, Random& random) {
    JudgeFlow(mesh, random);
    JudgeReach(mesh, random);
  });
}

TEST_F(MeshFieldsOracleTest, LimitsLeaveOutWhatIsFurther) {
  ForSeeds(150, [&](Random& random) { JudgeLimits(MeshOf(BentFloors(random, 2, 3, 8)), random); });
}

// A region is a mesh of what it holds.
TEST_F(MeshFieldsOracleTest, RegionsAreMeshesOfTheirOwn) {
  ForSeeds(100, [&](Random& random) {
    MeshSpec spec;
    AddFloor(spec, 7, 7, 0.0, random);
    const Box region{random.Between(-100, 300) / 100.0, random.Between(-100, 300) / 100.0,
                     random.Between(400, 800) / 100.0, random.Between(400, 800) / 100.0};
    const NavMesh mesh = MeshOf(spec);
    MeshSpec held;
    held.vertices = spec.vertices;
    std::vector<PolygonNumber> numbers;
    std::size_t first = 0;
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      const auto vertices = mesh.VerticesOf(polygon);
      const bool is_held = std::ranges::all_of(vertices, [&](std::uint32_t vertex) {
        const WorldPoint& at = mesh.VertexAt(vertex);
        return at.x >= region.x_low && at.x <= region.x_high && at.y >= region.y_low && at.y <= region.y_high;
      });
      if (is_held) {
        held.AddPolygon(absl::MakeSpan(spec.corners).subspan(first, vertices.size()));
        numbers.push_back(polygon);
      }
      first += vertices.size();
    }
    if (numbers.empty()) {
      return;
    }
    const NavMesh part = MeshOf(std::move(held));
    const auto index = static_cast<std::size_t>(random.Between(0, static_cast<int>(numbers.size()) - 1));
    const WorldPoint middle = MiddleOf(mesh, numbers[index]);
    const MeshPlace goal{numbers[index], mesh.NearestPoint(numbers[index], middle.x, middle.y)};
    const std::vector<MeshFlowStep> steps = Flow(mesh, {goal}, std::nullopt, region);
    std::vector<MeshFlowStep> same = Flow(part, {{static_cast<PolygonNumber>(index), goal.point}});
    ASSERT_EQ(steps.size(), same.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_EQ(steps[i].polygon, numbers[same[i].polygon]);
      EXPECT_NEAR(
          steps[i].cost,
          Length(part, {same[i].polygon, same[i].middle}, {static_cast<PolygonNumber>(index), goal.point}),
          1e-9);
      EXPECT_EQ(steps[i].next, same[i].next);
    }
  });
}

TEST_F(MeshFieldsTest, EqualsSearchesOnMeshesOfGames) {
  for (const std::string name : {"arena", "aurora-merged", "scene_mp_2p_01"}) {
    SCOPED_TRACE(name);
    const std::optional<NavMesh> mesh = LoadMesh(name);
    if (!mesh) {
      GTEST_SKIP() << "WAYSTAR_DATA names no folder with meshes/polyanya";
    }
    Random random(7);
    const std::vector<MeshPlace> goals = {RandomPlace(*mesh, random), RandomPlace(*mesh, random)};
    const std::vector<MeshFlowStep> steps = Flow(*mesh, goals);
    EXPECT_GT(steps.size(), mesh->polygon_count() / 3);
    ExpectShortest(*mesh, goals, steps, std::max<std::size_t>(steps.size() / 100, 1));
    const std::vector<ReachablePolygon> reached = Reach(*mesh, {.start = goals[0], .max_cost = std::nullopt});
    for (std::size_t i = 0; i < reached.size(); i += std::max<std::size_t>(reached.size() / 100, 1)) {
      EXPECT_NEAR(reached[i].cost, Length(*mesh, goals[0], {reached[i].polygon, reached[i].nearest}),
                  1e-9 * (1.0 + reached[i].cost));
    }
  }
}

class MeshMatrixTest : public ::testing::Test {
 protected:
  // REQUIRES: no limit stands in the way.
  MeshMatrix Compute(const NavMesh& mesh, const std::vector<MeshPlace>& starts,
                     const std::vector<MeshPlace>& goals) {
    absl::StatusOr<MeshMatrix> matrix = ComputeMeshMatrix(mesh, starts, goals, budget_, scratch_);
    EXPECT_THAT(matrix, IsOk());
    return *std::move(matrix);
  }

  MeshSearchReport Search(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal) {
    return SearchMesh(mesh, {start, goal}, Budget{}, scratch_);
  }

  Budget budget_;
  MeshScratch scratch_{std::size_t{1} << 28};
};

TEST_F(MeshMatrixTest, SearchesOnceForTheSameTwoPlaces) {
  const NavMesh mesh = MeshOf(DrawRooms({"......", ".####.", "......"}));
  const MeshPlace a = PlaceAt(mesh, 0.5, 1.5);
  const MeshPlace b = PlaceAt(mesh, 5.5, 1.5);
  const MeshSearchReport single = Search(mesh, a, b);
  const SearchStatistics statistics = single.statistics;
  const double length = single.length;
  ASSERT_GT(statistics.expanded, 0u);
  const MeshMatrix matrix = Compute(mesh, {a, b, a}, {b, a, b});
  EXPECT_THAT(matrix.lengths, ElementsAre(length, 0, length, 0, length, 0, length, 0, length));
  EXPECT_EQ(matrix.statistics.expanded, statistics.expanded);
  EXPECT_EQ(matrix.statistics.generated, statistics.generated);
  EXPECT_EQ(matrix.statistics.algorithm, Algorithm::kPolyanya);
}

TEST_F(MeshMatrixTest, NeedsNoSearchForOtherParts) {
  const NavMesh mesh = MeshOf(DrawRooms({"..#..", "..#.."}));
  budget_.max_expansions = 0;
  EXPECT_THAT(Compute(mesh, {PlaceAt(mesh, 0.5, 0.5)}, {PlaceAt(mesh, 4.5, 1.5)}).lengths,
              ElementsAre(MeshMatrix::kUnreachable));
  EXPECT_THAT(Compute(mesh, {}, {PlaceAt(mesh, 0.5, 0.5)}).lengths, IsEmpty());
}

TEST_F(MeshMatrixTest, AVertexIsInAllPartsThatHaveIt) {
  const NavMesh mesh = MeshOf(DrawRooms({"..##", "..##", "##..", "##.."}));
  const std::vector<MeshPlace> rooms = {PlaceAt(mesh, 1, 1), PlaceAt(mesh, 3, 3)};
  EXPECT_THAT(Compute(mesh, {PlaceAt(mesh, 2, 2)}, rooms).lengths,
              ElementsAre(std::sqrt(2.0), std::sqrt(2.0)));
  EXPECT_THAT(Compute(mesh, rooms, rooms).lengths,
              ElementsAre(0.0, MeshMatrix::kUnreachable, MeshMatrix::kUnreachable, 0.0));
}

TEST_F(MeshMatrixTest, TheBudgetIsOneForAll) {
  const NavMesh mesh = MeshOf(DrawRooms({"......", ".####.", "......"}));
  const std::vector<MeshPlace> starts = {PlaceAt(mesh, 0.5, 1.5), PlaceAt(mesh, 0.5, 1.25)};
  const std::vector<MeshPlace> goals = {PlaceAt(mesh, 5.5, 1.5), PlaceAt(mesh, 5.5, 1.75)};
  const MeshMatrix whole = Compute(mesh, starts, goals);
  budget_.max_expansions = whole.statistics.expanded;
  EXPECT_EQ(Compute(mesh, starts, goals).lengths, whole.lengths);
  --budget_.max_expansions;
  EXPECT_EQ(ErrorReasonOf(ComputeMeshMatrix(mesh, starts, goals, budget_, scratch_).status()),
            "REGION_TOO_LARGE");
  MeshScratch small(600);
  EXPECT_EQ(ErrorReasonOf(ComputeMeshMatrix(mesh, starts, goals, Budget{}, small).status()),
            "REGION_TOO_LARGE");
  const std::atomic<bool> yes = true;
  budget_ = {.cancelled = &yes};
  EXPECT_EQ(ComputeMeshMatrix(mesh, starts, goals, budget_, scratch_).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_F(MeshMatrixTest, EqualsSingleSearches) {
  ForSeeds(60, [&](Random& random) {
    const NavMesh mesh = MeshOf(BentFloors(random, 2, 3));
    std::vector<MeshPlace> places;
    for (int i = 0; i < 8; ++i) {
      places.push_back(RandomPlace(mesh, random));
    }
    // Some in both, and some twice.
    const auto draw = [&] {
      std::vector<MeshPlace> drawn;
      for (int i = 0; i < 6; ++i) {
        drawn.push_back(places[static_cast<std::size_t>(random.Between(0, 7))]);
      }
      return drawn;
    };
    const std::vector<MeshPlace> starts = draw();
    const std::vector<MeshPlace> goals = draw();
    const MeshMatrix matrix = Compute(mesh, starts, goals);
    ASSERT_EQ(matrix.lengths.size(), starts.size() * goals.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      for (std::size_t j = 0; j < goals.size(); ++j) {
        const double expected = LengthOf(mesh, starts[i], goals[j], scratch_);
        const double length = matrix.lengths[i * goals.size() + j];
        if (std::isfinite(expected)) {
          EXPECT_NEAR(length, expected, 1e-12 * (1.0 + expected));
        } else {
          EXPECT_EQ(length, MeshMatrix::kUnreachable);
        }
      }
    }
  });
}

}  // namespace
}  // namespace waystar::core
