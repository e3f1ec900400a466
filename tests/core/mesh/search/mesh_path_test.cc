// Path queries on navigation meshes: which places positions stand for, and which answers there are.

#include "server/core/mesh/search/mesh_path.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/mesh/search/landmarks.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

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
  Answer Find(const MeshQuery& query, const Budget& budget = {}) { return FindOn(mesh_, query, budget); }
  Answer FindOn(const NavMesh& mesh, const MeshQuery& query, const Budget& budget = {}) {
    Answer answer{.result = FindMeshPath(mesh, query, budget, scratch_), .corners = {}, .corridor = {}};
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

// Without finer ground the line would lead through the ridge.
TEST(SurfaceLineTest, BendsWhereFinerGroundDoes) {
  MeshSpec spec = DrawMesh({{0, 0, 0}, {8, 0, 0}, {8, 4, 0}, {0, 4, 0}, {12, 0, 0}, {12, 4, 0}},
                           {{0, 1, 2, 3}, {1, 4, 5, 2}});
  // A ridge at x = 4, 8 high, whose east side has a fold that does not bend.
  const std::vector<DetailPoint> points = {{0, 0, 0}, {8, 0, 0}, {8, 4, 0}, {0, 4, 0},
                                           {4, 0, 8}, {4, 4, 8}, {6, 0, 4}, {6, 4, 4}};
  spec.detail.Add(
      points, std::vector<DetailTriangle>{{0, 4, 5}, {0, 5, 3}, {4, 6, 7}, {4, 7, 5}, {6, 1, 2}, {6, 2, 7}});
  spec.detail.Add({});
  const NavMesh mesh = MeshOf(std::move(spec));
  const std::vector<WorldPoint> corners = {{1, 2, 2}, {10, 2, 0}};
  EXPECT_THAT(
      SurfaceLine(mesh, corners, std::vector<PolygonNumber>{0, 1}),
      ElementsAre(WorldPoint{1, 2, 2}, WorldPoint{4, 2, 8}, WorldPoint{8, 2, 0}, WorldPoint{10, 2, 0}));
}

// Each of its bends is so slight that the line may do without it, but not without several.
TEST(SurfaceLineTest, FollowsAGentleArc) {
  constexpr std::uint8_t kStrips = 40;
  MeshSpec spec = DrawMesh({{0, 0, 0}, {kStrips, 0, 0}, {kStrips, 4, 0}, {0, 4, 0}}, {{0, 1, 2, 3}});
  std::vector<DetailPoint> points;
  std::vector<DetailTriangle> triangles;
  for (std::uint8_t x = 0; x <= kStrips; ++x) {
    const float z = 1e-4F * static_cast<float>(x * (kStrips - x));
    points.push_back({static_cast<float>(x), 0, z});
    points.push_back({static_cast<float>(x), 4, z});
    if (x > 0) {
      const auto last = static_cast<std::uint8_t>(2 * x + 1);
      const auto at = [&](int before) { return static_cast<std::uint8_t>(last - before); };
      triangles.push_back({at(3), at(1), at(0)});
      triangles.push_back({at(3), at(0), at(2)});
    }
  }
  spec.detail.Add(points, triangles);
  const NavMesh mesh = MeshOf(std::move(spec));
  const std::vector<WorldPoint> corners = {{0, 1, 0}, {kStrips, 1, 0}};
  const std::vector<WorldPoint> line = SurfaceLine(mesh, corners, std::vector<PolygonNumber>{0});
  EXPECT_LT(line.size(), 20u);
  for (std::size_t i = 1; i < line.size(); ++i) {
    for (double share = 0.0; share <= 1.0; share += 0.01) {
      const double x = line[i - 1].x + share * (line[i].x - line[i - 1].x);
      const double z = line[i - 1].z + share * (line[i].z - line[i - 1].z);
      ASSERT_NEAR(z, mesh.HeightAt(0, x, 1), 1e-3 + 1e-6) << "x = " << x;
    }
  }
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
TEST_F(MeshPathTest, AVertexIsReachedInEachFanByItself) {
  const NavMesh mesh = MeshOf(DrawFans());
  EXPECT_EQ(mesh.part_count(), 1U);
  MeshQuery query = Query({3, 3.5, 0}, {0.5, 4.9375, 0});
  const double length = std::hypot(1, 2.5) + std::hypot(1, 2) + std::hypot(1, 1) + std::hypot(3.5, 0.9375);
  const Answer there = FindOn(mesh, query);
  EXPECT_EQ(there.result->outcome, Outcome::kFound);
  EXPECT_NEAR(there.result->cost, length, 1e-12);
  std::swap(query.start, query.goals.front());
  EXPECT_NEAR(FindOn(mesh, query).result->cost, length, 1e-12);
}

// Two squares that touch in the vertex (2, 2) alone.
TEST_F(MeshPathTest, TheNearestPointIsSoughtInAllPartsThatHaveTheStart) {
  const NavMesh mesh = MeshOf(
      DrawMesh({{0, 0}, {2, 0}, {2, 2}, {0, 2}, {5, 2}, {5, 5}, {2, 5}}, {{0, 1, 2, 3}, {2, 4, 5, 6}}));
  for (const auto& [goal, nearest] : {std::pair(WorldPoint{-1, -1}, WorldPoint{0, 0}), {{6, 6}, {5, 5}}}) {
    MeshQuery query = Query({2, 2, 0}, goal);
    query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
    const Answer there = FindOn(mesh, query);
    EXPECT_EQ(there.result->outcome, Outcome::kPartial);
    EXPECT_EQ(there.corners.back(), nearest);
  }
}

// Three turns round a pillar of 2 x 2, up to where the path began, seen from above.
TEST_F(MeshPathTest, SpiralStairsAreClimbedTurnByTurn) {
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
  MeshQuery query = Query({0, -2, 0.5}, {0, -2, 12.5});
  const Answer up = FindOn(mesh, query);
  EXPECT_EQ(up.result->outcome, Outcome::kFound);
  EXPECT_NEAR(up.result->cost, 11 * 2 + 2 * std::sqrt(2.0), 1e-12);
  EXPECT_EQ(up.corners.size(), 14U);
  std::vector<PolygonNumber> all(kSides);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(up.corridor, all);
  std::swap(query.start, query.goals.front());
  EXPECT_NEAR(FindOn(mesh, query).result->cost, 11 * 2 + 2 * std::sqrt(2.0), 1e-12);
}

// Validation of paths: found paths are walkable, and others are if each leg is straight.

using Corners = std::vector<WorldPoint>;

// REQUIRES: the corners are in range.
MeshPathCheck Check(const NavMesh& mesh, const Corners& corners) {
  const absl::StatusOr<MeshPathCheck> check = ValidateMeshPath(mesh, corners);
  EXPECT_THAT(check, IsOk());
  return check.value_or(MeshPathCheck());
}

// A ground floor of squares of 4 x 4 around a pillar in the middle, a yard beside it, from there a ramp up to
// a landing at height 3, and from that a deck back above the lowest row.
//
//   (0,12) [ ][ ][ ][ yard  ](16,12)
//          [ ]   [ ][ ramp  ]
//   (0,0)  [ ][ ][ ][landing]
NavMesh Storeys() {
  MeshSpec spec;
  for (std::uint32_t i = 0; i < 16; ++i) {
    spec.vertices.push_back({4.0 * (i % 4), 4.0 * (i / 4), 0.0});
  }
  for (std::uint32_t i = 0; i < 9; ++i) {
    const std::uint32_t low = i + i / 3;
    if (i != 4) {
      spec.AddPolygon({low, low + 1, low + 5, low + 4});
    }
  }
  // The foot of the ramp begins with 16, the landing and the deck with 17, the yard's far corner is 23.
  for (const WorldPoint& vertex : {WorldPoint{16, 8, 0},
                                   {16, 4, 3},
                                   {12, 4, 3},
                                   {16, 0, 3},
                                   {12, 0, 3},
                                   {0, 0, 3},
                                   {0, 4, 3},
                                   {16, 12, 0}}) {
    spec.vertices.push_back(vertex);
  }
  spec.AddPolygon({11, 16, 23, 15});
  spec.AddPolygon({18, 17, 16, 11});
  spec.AddPolygon({20, 19, 17, 18});
  spec.AddPolygon({21, 20, 18, 22});
  return MeshOf(std::move(spec));
}

TEST(MeshPathCheckTest, AStraightWalkIsAsLongAsItLooksFromAbove) {
  const MeshPathCheck check = Check(Storeys(), {{1, 1, 0}, {11, 1, 0}, {11, 11, 0}});
  EXPECT_EQ(check, (MeshPathCheck{.is_walkable = true, .cost = 20.0}));
  EXPECT_EQ(Check(Storeys(), {{1, 1, 0}}), (MeshPathCheck{.is_walkable = true}));
  EXPECT_EQ(Check(Storeys(), {{1, 1, 0}, {1, 1, 0}}), (MeshPathCheck{.is_walkable = true}));
}

TEST(MeshPathCheckTest, AHoleBlocks) {
  const MeshPathCheck check = Check(Storeys(), {{2, 2, 0}, {2, 6, 0}, {10, 6, 0}, {10, 2, 0}});
  EXPECT_FALSE(check.is_walkable);
  EXPECT_EQ(check.blocked_index, 2U);
  EXPECT_THAT(check.blocked_at, Optional(WorldPoint{4, 6, 0}));
  EXPECT_EQ(check.cost, 4.0) << "up to the corner before";
}

TEST(MeshPathCheckTest, ACornerOffTheMeshBlocks) {
  const MeshPathCheck in_pillar = Check(Storeys(), {{2, 2, 0}, {2, 6, 0}, {6, 6, 0}});
  EXPECT_EQ(in_pillar, (MeshPathCheck{.blocked_index = 2, .blocked_at = WorldPoint{4, 6, 0}, .cost = 4.0}));
  const MeshPathCheck outside = Check(Storeys(), {{2, 2, 0}, {-2, 2, 0}, {2, 2, 0}});
  EXPECT_EQ(outside, (MeshPathCheck{.blocked_index = 1, .blocked_at = WorldPoint{0, 2, 0}}));
  const MeshPathCheck at_first = Check(Storeys(), {{6, 6, 0}, {2, 6, 0}});
  EXPECT_EQ(at_first, MeshPathCheck()) << "nothing can be walked";
}

TEST(MeshPathCheckTest, FloorsAreToldApartByHeight) {
  const NavMesh mesh = Storeys();
  // Up the ramp, and back over the deck.
  const Corners up = {{10, 10, 0}, {14, 8, 0}, {14, 2, 3}, {1, 2, 3}};
  EXPECT_TRUE(Check(mesh, up).is_walkable);
  Corners moved = up;
  moved.back().z = 0;
  EXPECT_EQ(
      Check(mesh, moved),
      (MeshPathCheck{.blocked_index = 3, .blocked_at = WorldPoint{1, 2, 3}, .cost = std::hypot(4, 2) + 6}));
  // A corner belongs to the floor that is nearest in height, as a position of a query does.
  moved.back().z = 2;
  EXPECT_TRUE(Check(mesh, moved).is_walkable);
  const MeshPathCheck below = Check(mesh, {{1, 2, 0}, {10, 2, 0}, {11, 2, 3}});
  EXPECT_EQ(below, (MeshPathCheck{.blocked_index = 2, .blocked_at = WorldPoint{11, 2, 0}, .cost = 9.0}));
  EXPECT_TRUE(Check(mesh, {{1, 2, 0}, {10, 2, 0}, {11, 2, 0}}).is_walkable);
}

TEST(MeshPathCheckTest, CornersMayBeALittleOffTheMesh) {
  EXPECT_TRUE(Check(Storeys(), {{-0.0005, 1, 0}, {-0.0005, 3, 0}}).is_walkable) << "single precision";
  EXPECT_FALSE(Check(Storeys(), {{1, 1, 0}, {-0.002, 3, 0}}).is_walkable);
}

TEST(MeshPathCheckTest, RefusesWhatIsNoPath) {
  const NavMesh mesh = Storeys();
  constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ValidateMeshPath(mesh, {}), IsError(kInvalid, ErrorReason::kMissingField, "positions"));
  // Behind what blocks the path, too.
  EXPECT_THAT(ValidateMeshPath(mesh, {{6, 6, 0}, {0, NAN, 0}}),
              IsError(kInvalid, ErrorReason::kBadValue, "positions[1].y"));
  EXPECT_THAT(ValidateMeshPath(mesh, Corners(kMaxValidatedCorners + 1)),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kPathTooLong, "positions"));
  EXPECT_THAT(ValidateMeshPath(mesh, Corners(kMaxValidatedCorners)), IsOk());
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      ValidateMeshPath(mesh, Corners(2), {.deadline = std::chrono::steady_clock::time_point::min()})
          .status()));
}

// Finds paths between random places, and validates them.
class FoundPaths {
 public:
  struct Counts {
    // Found paths that turn, and moved ones.
    int turning = 0;
    int walkable = 0;
    int blocked = 0;
  };

  FoundPaths(const NavMesh& mesh, Random& random, Counts& counts)
      : mesh_(mesh), random_(random), counts_(counts) {}

  // Expects that found paths are walkable, and paths with a corner elsewhere where they should be.
  void Expect(int pairs) {
    for (int i = 0; i < pairs && !::testing::Test::HasFailure(); ++i) {
      Corners corners = Find(RandomPlace(mesh_, random_).point, RandomPlace(mesh_, random_).point);
      if (corners.size() > 1) {
        const auto moved = static_cast<std::size_t>(random_.Between(0, static_cast<int>(corners.size()) - 1));
        corners[moved] = RandomPlace(mesh_, random_).point;
        ExpectRight(corners);
      }
    }
  }

  // Finds a path, also to what is only near the mesh, and expects that it is walkable. Returns no corners if
  // there is none.
  Corners Find(const WorldPoint& start, const WorldPoint& goal) {
    const Corners corners = Search(start, goal, {.radius = 8.0});
    if (!corners.empty()) {
      const MeshPathCheck check = Check(mesh_, corners);
      EXPECT_TRUE(check.is_walkable) << Text(corners) << "is blocked at " << check.blocked_index;
      EXPECT_NEAR(check.cost, cost_, 1e-9);
      counts_.turning += corners.size() > 2 ? 1 : 0;
    }
    return corners;
  }

 private:
  Corners Search(const WorldPoint& start, const WorldPoint& goal, const MeshSnap& snap) {
    MeshQuery query;
    query.start = start;
    query.goals.push_back(goal);
    query.snap = snap;
    const absl::StatusOr<MeshPathResult> result = FindMeshPath(mesh_, query, {}, scratch_);
    EXPECT_THAT(result, IsOk());
    if (!result.ok() || result->outcome != Outcome::kFound) {
      return {};
    }
    cost_ = result->cost;
    return {result->corners.begin(), result->corners.end()};
  }

  // Expects that the path is blocked where the shortest path to a corner is not straight.
  void ExpectRight(const Corners& corners) {
    MeshPathCheck expected{.is_walkable = true};
    for (std::size_t i = 0; i < corners.size(); ++i) {
      if (IsFan(corners[i])) {
        // A search ends in one of the polygons that meet there, and a walk in any.
        return;
      }
      if (i > 0 && expected.is_walkable) {
        const Corners leg = Search(corners[i - 1], corners[i], {});
        if (leg.empty() || leg.size() > 2) {
          expected.is_walkable = false;
          expected.blocked_index = i;
        } else {
          expected.cost += cost_;
        }
      }
    }
    const MeshPathCheck check = Check(mesh_, corners);
    EXPECT_EQ(check.is_walkable, expected.is_walkable) << Text(corners);
    EXPECT_EQ(check.blocked_index, expected.blocked_index) << Text(corners);
    EXPECT_NEAR(check.cost, expected.cost, 1e-9);
    EXPECT_EQ(check.blocked_at.has_value(), !check.is_walkable);
    ++(check.is_walkable ? counts_.walkable : counts_.blocked);
  }

  // Returns true if polygons meet at this point in a vertex alone. Each then has a vertex of its own.
  bool IsFan(const WorldPoint& point) const {
    int vertices = 0;
    for (std::uint32_t vertex = 0; vertex < mesh_.vertex_count(); ++vertex) {
      const WorldPoint& other = mesh_.VertexAt(vertex);
      vertices += ToFixed(other) == ToFixed(point) && std::abs(other.z - point.z) <= kMeshTolerance ? 1 : 0;
    }
    return vertices > 1;
  }

  static std::string Text(const Corners& corners) {
    std::ostringstream text;
    text << std::hexfloat;
    for (const WorldPoint& corner : corners) {
      text << "(" << corner.x << " " << corner.y << " " << corner.z << ") ";
    }
    return text.str();
  }

  const NavMesh& mesh_;
  Random& random_;
  Counts& counts_;
  MeshScratch scratch_{std::size_t{1} << 28};
  // That of the path that was found last.
  double cost_ = 0.0;
};

// Returns the mesh with walls in place of some edges between polygons.
NavMesh WithThinWalls(const NavMesh& mesh, Random& random) {
  MeshSpec walled;
  for (std::uint32_t vertex = 0; vertex < mesh.vertex_count(); ++vertex) {
    walled.vertices.push_back(mesh.VertexAt(vertex));
  }
  std::set<std::pair<PolygonNumber, PolygonNumber>> kept;
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    walled.AddPolygon(mesh.VerticesOf(polygon));
    for (const PolygonNumber other : mesh.NeighboursOf(polygon)) {
      if (other != kNoPolygon && (other < polygon ? kept.contains({other, polygon}) : !random.Chance(0.3))) {
        kept.emplace(polygon, other);
        walled.neighbours.push_back(other);
      } else {
        walled.neighbours.push_back(kNoPolygon);
      }
    }
  }
  return MeshOf(std::move(walled));
}

TEST(MeshPathCheckPropertyTest, FoundPathsAreWalkable) {
  FoundPaths::Counts counts;
  ForMeshes(150, 3,
            [&](const NavMesh& mesh, Random& random) { FoundPaths(mesh, random, counts).Expect(60); });
  EXPECT_GT(counts.turning, static_cast<int>(Rounds(1000)));
  EXPECT_GT(counts.walkable, static_cast<int>(Rounds(400)));
  EXPECT_GT(counts.blocked, static_cast<int>(Rounds(1000)));
}

TEST(MeshPathCheckPropertyTest, FoundPathsBetweenThinWallsAreWalkable) {
  FoundPaths::Counts counts;
  ForMeshes(150, 2, [&](const NavMesh& mesh, Random& random) {
    const NavMesh walled = WithThinWalls(mesh, random);
    FoundPaths paths(walled, random, counts);
    for (int i = 0; i < 60; ++i) {
      paths.Find(RandomPlace(walled, random).point, RandomPlace(walled, random).point);
    }
  });
}

// Ends that a snap has moved to a wall may lie half a unit of rounding outside.
TEST(MeshPathCheckPropertyTest, FoundPathsFromPlacesRoundedToWallsAreWalkable) {
  ForSeeds(60, [&](Random& random) {
    const NavMesh mesh = MeshOf(BentFloors(random, 2));
    FoundPaths::Counts counts;
    FoundPaths paths(mesh, random, counts);
    const auto draw = [&] {
      return WorldPoint{random.Between(-1000, 7000) / 1000.0, random.Between(-1000, 7000) / 1000.0,
                        random.Between(0, 6) * 1.0};
    };
    for (int i = 0; i < 60; ++i) {
      paths.Find(draw(), draw());
    }
  });
}

TEST(MeshPathCheckPropertyTest, FoundPathsOnSpiralStairsAreWalkable) {
  const NavMesh mesh = SpiralStairs(21, false);
  Random random(3);
  FoundPaths::Counts counts;
  FoundPaths(mesh, random, counts).Expect(2'000);
  EXPECT_GT(counts.turning, 100);
  EXPECT_GT(counts.blocked, 100);
}

// The path turns at (4, 4), where polygons meet in a vertex alone, in another than that with the least
// number.
TEST(MeshPathCheckTest, AVertexIsReachedInEachFanByItself) {
  const NavMesh mesh = MeshOf(DrawFans());
  EXPECT_TRUE(Check(mesh, {{3, 3.5, 0}, {4, 1, 0}, {5, 3, 0}, {4, 4, 0}, {0.5, 4.9375, 0}}).is_walkable);
  EXPECT_TRUE(Check(mesh, {{3, 3.5, 0}, {4, 4, 0}, {0.5, 3.9375, 0}}).is_walkable);
  EXPECT_TRUE(Check(mesh, {{4, 4, 0}, {0.5, 4.9375, 0}}).is_walkable) << "what is left of the path";
  const MeshPathCheck across = Check(mesh, {{3, 3.5, 0}, {4, 4, 0}, {0.5, 4.9375, 0}});
  EXPECT_FALSE(across.is_walkable) << "the vertex joins nothing";
  EXPECT_EQ(across.blocked_index, 2U);
}

TEST(MeshToleranceTest, PathsAreAtMostThatMuchLonger) {
  MeshScratch scratch(std::size_t{1} << 28);
  std::uint64_t exact_expanded = 0;
  std::uint64_t expanded = 0;
  const auto judge = [&](const NavMesh& mesh, Random& random) {
    const SightGraph oracle(mesh);
    for (int i = 0; i < 30; ++i) {
      const MeshPlace start = RandomPlace(mesh, random);
      std::vector<MeshGoal> goals;
      double optimal = std::numeric_limits<double>::infinity();
      for (int goal = random.Between(1, 3); goal > 0; --goal) {
        goals.push_back({RandomPlace(mesh, random), goals.size()});
        optimal = std::min(optimal, oracle.Length(start, goals.back().place));
      }
      for (const double tolerance : {0.0, 0.1, 0.5, 10.0}) {
        const absl::StatusOr<MeshPathResult> found =
            FindPathToNearest(mesh, start, goals, {}, scratch, nullptr, tolerance);
        ASSERT_EQ(found.status(), absl::OkStatus());
        ASSERT_EQ(found->outcome == Outcome::kFound, std::isfinite(optimal));
        if (found->outcome != Outcome::kFound) {
          continue;
        }
        ASSERT_LE(found->cost, optimal * (1.0 + tolerance) + 1e-6);
        ASSERT_GE(found->bound, 1.0);
        ASSERT_LE(found->bound, 1.0 + tolerance);
        ASSERT_GE(optimal * found->bound, found->cost - 1e-6);
        ASSERT_EQ(ValidateMeshPath(mesh, found->corners)->is_walkable, true);
        exact_expanded += tolerance == 0.0 ? found->statistics.expanded : 0;
        expanded += tolerance == 0.5 ? found->statistics.expanded : 0;
      }
    }
  };
  ForMeshes(60, 2, judge);
  // The estimates of landmarks are weighted too.
  ForSeeds(30, [&](Random& random) {
    judge(*WithLandmarks(MeshOf(DrawRooms(RandomRooms(9, 9, 0.3, random), &random))), random);
  });
  EXPECT_LT(expanded, exact_expanded);
}

}  // namespace
}  // namespace waystar::core
