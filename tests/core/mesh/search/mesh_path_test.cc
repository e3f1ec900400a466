// Path queries on navigation meshes: which places positions stand for, and which answers there are.

#include "server/core/mesh/search/mesh_path.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/mesh/search/sight_graph.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::waystar::testing::DrawFans;
using ::waystar::testing::DrawMesh;
using ::waystar::testing::MeshOf;

// A floor at height 0 from (0, 0) to (12, 4) in three squares of which the middle one is a ramp up to height
// 3, then a bridge back over the floor at that height, to (4, 4). Beside it, an island.
//
//   0      4      8     12     (height 0, and 3 from x = 8 on)
//   [floor][ramp ][ top ]
//          [   bridge at height 3, above the ramp and the floor, from y = 4 to 8 ]
NavMesh House() {
  return MeshOf(
      DrawMesh({{0, 0, 0},
                {4, 0, 0},
                {8, 0, 3},
                {12, 0, 3},
                {12, 4, 3},
                {8, 4, 3},
                {4, 4, 0},
                {0, 4, 0},
                {12, 8, 3},
                {8, 8, 3},
                {0, 0, 3},
                {0, 8, 3},
                {30, 0, 1},
                {34, 0, 1},
                {34, 4, 1},
                {30, 4, 1}},
               {{0, 1, 6, 7}, {1, 2, 5, 6}, {2, 3, 4, 5}, {5, 4, 8, 9}, {10, 5, 9, 11}, {12, 13, 14, 15}}));
}

struct Answer {
  absl::StatusOr<MeshPathResult> result;
  std::vector<WorldPoint> corners;
  std::vector<PolygonNumber> corridor;
};

class MeshPathTest : public ::testing::Test {
 protected:
  Answer Find(const MeshQuery& query, const Budget& budget = {}) {
    Answer answer{.result = FindMeshPath(mesh_, query, budget, scratch_), .corners = {}, .corridor = {}};
    if (answer.result.ok()) {
      answer.corners.assign(answer.result->corners.begin(), answer.result->corners.end());
      answer.corridor.assign(answer.result->corridor.begin(), answer.result->corridor.end());
    }
    return answer;
  }
  static MeshQuery Query(WorldPoint start, WorldPoint goal) {
    MeshQuery query;
    query.start = start;
    query.goals.push_back(goal);
    return query;
  }
  static std::string FieldOf(const Answer& answer) { return ErrorFieldOf(answer.result.status()); }
  static std::string ReasonOf(const Answer& answer) { return ErrorReasonOf(answer.result.status()); }

  const NavMesh mesh_ = House();
  MeshScratch scratch_{std::size_t{1} << 24};
};

TEST_F(MeshPathTest, LeadsOverTheRamp) {
  const Answer answer = Find(Query({1, 1, 0}, {11, 1, 3}));
  ASSERT_TRUE(answer.result.ok()) << answer.result.status();
  EXPECT_EQ(answer.result->outcome, Outcome::kFound);
  EXPECT_EQ(answer.result->cost, 10.0) << "slopes do not count";
  EXPECT_EQ(answer.result->statistics.algorithm, Algorithm::kPolyanya);
  EXPECT_THAT(answer.corners, ElementsAre(WorldPoint{1, 1, 0}, WorldPoint{11, 1, 3}));
  EXPECT_THAT(answer.corridor, ElementsAre(0U, 1U, 2U));
}

TEST_F(MeshPathTest, ASurfaceLineFollowsTheGround) {
  const Answer answer = Find(Query({1, 1, 0}, {11, 1, 3}));
  const std::vector<WorldPoint> line = SurfaceLine(mesh_, answer.corners, answer.corridor);
  EXPECT_THAT(
      line, ElementsAre(WorldPoint{1, 1, 0}, WorldPoint{4, 1, 0}, WorldPoint{8, 1, 3}, WorldPoint{11, 1, 3}));
  EXPECT_EQ(LengthInSpace(line), 11.0) << "the ramp is 5 long";
  EXPECT_THAT(SurfaceLine(mesh_, {}, {}), IsEmpty());
}

// The way from under the bridge to its top leads over the ramp, though both are near in the plan.
TEST_F(MeshPathTest, PositionsBelongToTheNearerFloor) {
  const Answer below = Find(Query({1, 2, 1.25}, {2, 2, 0}));
  EXPECT_EQ(below.result->cost, 1.0);
  EXPECT_THAT(below.corners.front(), (WorldPoint{1, 2, 0}));
  const Answer above = Find(Query({1, 2, 1.75}, {2, 2, 0}));
  ASSERT_EQ(above.result->outcome, Outcome::kFound);
  EXPECT_GT(above.result->cost, 12.0);
  EXPECT_THAT(above.corners.front(), (WorldPoint{1, 2, 3}));
  EXPECT_EQ(above.corridor.front(), 4U);
}

TEST_F(MeshPathTest, ASnapMovesWhatIsOffTheMesh) {
  MeshQuery query = Query({1, -0.5, 0}, {11, 1, 3});
  EXPECT_EQ(ReasonOf(Find(query)), "START_BLOCKED");
  EXPECT_EQ(FieldOf(Find(query)), "start");
  query.snap = {.radius = 0.5};
  EXPECT_THAT(Find(query).corners.front(), (WorldPoint{1, 0, 0}));
  query.snap = {.radius = 0.25};
  EXPECT_EQ(ReasonOf(Find(query)), "START_BLOCKED");
  // A position in single precision may be a little off.
  EXPECT_TRUE(Find(Query({1, -0.0005, 0}, {11, 1, 3})).result.ok());

  query = Query({1, 1, 0}, {11, 1, 9});
  EXPECT_TRUE(Find(query).result.ok()) << "heights have no limit by themselves";
  query.snap = {.radius = 1, .height = 5};
  EXPECT_EQ(ReasonOf(Find(query)), "GOAL_BLOCKED");
  EXPECT_EQ(FieldOf(Find(query)), "goals[0]");
}

TEST_F(MeshPathTest, AnotherPartIsKnownToBeUnreachable) {
  MeshQuery query = Query({1, 1, 0}, {31, 1, 1});
  const Answer answer = Find(query);
  EXPECT_EQ(answer.result->outcome, Outcome::kUnreachable);
  EXPECT_EQ(answer.result->reason, OutcomeReason::kNoRoute);
  EXPECT_EQ(answer.result->statistics.expanded, 0U);
  EXPECT_THAT(answer.corners, IsEmpty());

  query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
  const Answer partial = Find(query);
  EXPECT_EQ(partial.result->outcome, Outcome::kPartial);
  EXPECT_EQ(partial.result->reason, OutcomeReason::kNoRoute);
  EXPECT_THAT(partial.corners.back(), (WorldPoint{12, 1, 3}));
  EXPECT_EQ(partial.result->cost, 11.0);
}

TEST_F(MeshPathTest, AGoalOffTheMeshMayBeCloseEnough) {
  MeshQuery query = Query({1, 1, 0}, {20, 6, 3});
  EXPECT_EQ(ReasonOf(Find(query)), "GOAL_BLOCKED");
  query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
  const Answer partial = Find(query);
  EXPECT_EQ(partial.result->outcome, Outcome::kPartial);
  EXPECT_EQ(partial.result->reason, OutcomeReason::kGoalBlocked);
  EXPECT_THAT(partial.corners.back(), (WorldPoint{12, 6, 3}));
}

TEST_F(MeshPathTest, OfSeveralGoalsTheNearestAlongTheMeshCounts) {
  // In a straight line the first is nearest, and it lies upstairs; the second is on the island, and the third
  // is off the mesh.
  MeshQuery query = Query({1, 2, 0}, {1, 2.5, 3});
  query.goals.push_back({31, 1, 1});
  query.goals.push_back({-5, 0, 0});
  query.goals.push_back({6, 2, 1.5});
  query.goals.push_back({6, 2, 1.5});
  const Answer answer = Find(query);
  ASSERT_TRUE(answer.result.ok()) << answer.result.status();
  EXPECT_EQ(answer.result->outcome, Outcome::kFound);
  EXPECT_EQ(answer.result->goal_index, 3U);
  EXPECT_EQ(answer.result->cost, 5.0);
  EXPECT_THAT(answer.corners, ElementsAre(WorldPoint{1, 2, 0}, WorldPoint{6, 2, 1.5}));

  query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
  EXPECT_EQ(ReasonOf(Find(query)), "BAD_VALUE");
  EXPECT_EQ(FieldOf(Find(query)), "goals");
}

TEST_F(MeshPathTest, NoneOfSeveralGoalsMayBeReachable) {
  MeshQuery query = Query({1, 2, 0}, {31, 1, 1});
  query.goals.push_back({32, 1, 1});
  EXPECT_EQ(Find(query).result->outcome, Outcome::kUnreachable);
  query.goals = {{50, 0, 0}, {60, 0, 0}};
  EXPECT_EQ(ReasonOf(Find(query)), "GOAL_BLOCKED");
  EXPECT_EQ(FieldOf(Find(query)), "goals");
}

TEST_F(MeshPathTest, ABudgetEndsTheSearch) {
  const Answer answer = Find(Query({1, 2, 0}, {1, 2, 3}), {.max_expansions = 0});
  EXPECT_EQ(answer.result->outcome, Outcome::kBudgetExhausted);
  EXPECT_EQ(answer.result->reason, OutcomeReason::kExpansionLimit);
  EXPECT_THAT(answer.corners, IsEmpty());
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      Find(Query({1, 2, 0}, {1, 2, 3}), {.deadline = std::chrono::steady_clock::time_point::min()})
          .result.status()));
}

TEST_F(MeshPathTest, RefusesBadQueries) {
  EXPECT_EQ(FieldOf(Find(Query({NAN, 0, 0}, {1, 1, 0}))), "start.position.x");
  EXPECT_EQ(FieldOf(Find(Query({1, 1, 0}, {1, 1, 1e9}))), "goals[0].position.z");
  MeshQuery query = Query({1, 1, 0}, {2, 2, 0});
  for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra, Algorithm::kJumpPoint}) {
    query.algorithm = algorithm;
    EXPECT_EQ(ReasonOf(Find(query)), "ALGORITHM_UNSUITED");
  }
}

// The start is near the vertex (4, 4), but the polygons around it that lead on meet the others there in the
// vertex alone: the path goes round, and turns at the vertex after all.
TEST(MeshFansTest, AVertexIsReachedInEachFanByItself) {
  const NavMesh mesh = MeshOf(DrawFans());
  EXPECT_EQ(mesh.part_count(), 1U);
  MeshScratch scratch(std::size_t{1} << 20);
  MeshQuery query;
  query.start = {3, 3.5, 0};
  query.goals.push_back({0.5, 4.9375, 0});
  const double length = std::hypot(1, 2.5) + std::hypot(1, 2) + std::hypot(1, 1) + std::hypot(3.5, 0.9375);
  const absl::StatusOr<MeshPathResult> there = FindMeshPath(mesh, query, {}, scratch);
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_EQ(there->outcome, Outcome::kFound);
  EXPECT_NEAR(there->cost, length, 1e-12);
  std::swap(query.start, query.goals.front());
  EXPECT_NEAR(FindMeshPath(mesh, query, {}, scratch)->cost, length, 1e-12);
}

// Two squares that touch in the vertex (2, 2) alone.
TEST(MeshFansTest, TheNearestPointIsSoughtInAllPartsThatHaveTheStart) {
  const NavMesh mesh = MeshOf(
      DrawMesh({{0, 0}, {2, 0}, {2, 2}, {0, 2}, {5, 2}, {5, 5}, {2, 5}}, {{0, 1, 2, 3}, {2, 4, 5, 6}}));
  MeshScratch scratch(std::size_t{1} << 20);
  MeshQuery query{.unreachable_policy = UnreachablePolicy::kNearestByDistance};
  query.start = {2, 2, 0};
  for (const auto& [goal, nearest] : {std::pair(WorldPoint{-1, -1}, WorldPoint{0, 0}), {{6, 6}, {5, 5}}}) {
    query.goals = {goal};
    const absl::StatusOr<MeshPathResult> there = FindMeshPath(mesh, query, {}, scratch);
    ASSERT_TRUE(there.ok()) << there.status();
    EXPECT_EQ(there->outcome, Outcome::kPartial);
    EXPECT_EQ(there->corners.back(), nearest);
  }
}

// Three turns round a pillar of 2 x 2, up to where the path began, seen from above.
TEST(SpiralStairsTest, AreClimbedTurnByTurn) {
  constexpr std::uint32_t kSides = 13;
  MeshSpec spec;
  for (std::uint32_t i = 0; i <= kSides; ++i) {
    const double x = i % 4 == 1 || i % 4 == 2 ? 1 : -1;
    const double y = i % 4 >= 2 ? 1 : -1;
    spec.vertices.push_back({x, y, i * 1.0});
    spec.vertices.push_back({3 * x, 3 * y, i * 1.0});
  }
  for (std::uint32_t i = 0; i < kSides; ++i) {
    spec.AddPolygon({2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2});
  }
  const NavMesh mesh = MeshOf(std::move(spec));
  MeshScratch scratch(std::size_t{1} << 20);
  MeshQuery query;
  query.start = {0, -2, 0.5};
  query.goals.push_back({0, -2, 12.5});
  const absl::StatusOr<MeshPathResult> up = FindMeshPath(mesh, query, {}, scratch);
  ASSERT_TRUE(up.ok()) << up.status();
  EXPECT_EQ(up->outcome, Outcome::kFound);
  EXPECT_NEAR(up->cost, 11 * 2 + 2 * std::sqrt(2.0), 1e-12);
  EXPECT_EQ(up->corners.size(), 14U);
  std::swap(query.start, query.goals.front());
  EXPECT_NEAR(FindMeshPath(mesh, query, {}, scratch)->cost, 11 * 2 + 2 * std::sqrt(2.0), 1e-12);
}

}  // namespace
}  // namespace waystar::core
