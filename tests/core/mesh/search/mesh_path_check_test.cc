// Validation of paths on navigation meshes: found paths are walkable, and others are if each leg is straight.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/mesh/search/mesh_path.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/seeds.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::Optional;
using ::waystar::testing::AddFloor;
using ::waystar::testing::DrawFans;
using ::waystar::testing::DrawRooms;
using ::waystar::testing::ForSeeds;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::MeshOf;
using ::waystar::testing::Random;
using ::waystar::testing::RandomPlace;
using ::waystar::testing::RandomRooms;
using ::waystar::testing::Rounds;

constexpr std::size_t kCheckScratchBytes = std::size_t{1} << 28;

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

TEST(MeshPathCheckTest, WalksTurnAtWallsAndGoAlongThem) {
  EXPECT_TRUE(Check(Storeys(), {{2, 6, 0}, {4, 4, 0}, {8, 4, 0}, {10, 6, 0}, {8, 8, 0}, {4, 8, 0}, {4, 5, 0}})
                  .is_walkable);
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
  FoundPaths(const NavMesh& mesh, Random& random) : mesh_(mesh), random_(random) {}

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
      counts.turning += corners.size() > 2 ? 1 : 0;
    }
    return corners;
  }

  struct Counts {
    // Found paths that turn, and moved ones.
    int turning = 0;
    int walkable = 0;
    int blocked = 0;
  };
  Counts counts;

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
    ++(check.is_walkable ? counts.walkable : counts.blocked);
  }

  // Whether polygons meet here in a vertex alone: then each has its own.
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
  MeshScratch scratch_{kCheckScratchBytes};
  // That of the path that was found last.
  double cost_ = 0.0;
};

void Add(FoundPaths::Counts& sum, const FoundPaths::Counts& counts) {
  sum.turning += counts.turning;
  sum.walkable += counts.walkable;
  sum.blocked += counts.blocked;
}

void ExpectMany(const FoundPaths::Counts& counts) {
  EXPECT_GT(counts.turning, static_cast<int>(Rounds(500)));
  EXPECT_GT(counts.walkable, static_cast<int>(Rounds(200)));
  EXPECT_GT(counts.blocked, static_cast<int>(Rounds(500)));
}

// Some floors above each other.
MeshSpec BentFloors(Random& random, int floors) {
  MeshSpec spec;
  for (int floor = 0; floor < floors; ++floor) {
    AddFloor(spec, random.Between(2, 7), random.Between(2, 7), 3.0 * floor, random);
  }
  return spec;
}

// Returns the spec with walls in place of some edges between polygons.
MeshSpec WithThinWalls(const MeshSpec& spec, Random& random) {
  const NavMesh mesh = MeshOf(spec);
  MeshSpec walled = spec;
  walled.neighbours.assign(walled.corners.size(), kNoPolygon);
  std::vector<std::size_t> first(mesh.polygon_count());
  std::size_t corner = 0;
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    first[polygon] = corner;
    corner += mesh.VerticesOf(polygon).size();
  }
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    const auto neighbours = mesh.NeighboursOf(polygon);
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      const PolygonNumber other = neighbours[k];
      if (other == kNoPolygon || other < polygon || random.Chance(0.3)) {
        continue;
      }
      walled.neighbours[first[polygon] + k] = other;
      const auto back = mesh.NeighboursOf(other);
      for (std::size_t l = 0; l < back.size(); ++l) {
        if (back[l] == polygon) {
          walled.neighbours[first[other] + l] = polygon;
        }
      }
    }
  }
  return walled;
}

TEST(MeshPathCheckPropertyTest, FoundPathsOnBentFloorsAreWalkable) {
  FoundPaths::Counts counts;
  ForSeeds(150, [&](Random& random) {
    const MeshSpec spec = BentFloors(random, random.Between(1, 3));
    if (!spec.polygons.empty()) {
      const NavMesh mesh = MeshOf(spec);
      FoundPaths paths(mesh, random);
      paths.Expect(60);
      Add(counts, paths.counts);
    }
  });
  ExpectMany(counts);
}

// Squares and rectangles have many corners in line with each other, and meet in vertices alone.
TEST(MeshPathCheckPropertyTest, FoundPathsAmongSquaresAreWalkable) {
  FoundPaths::Counts counts;
  ForSeeds(150, [&](Random& random) {
    const std::vector<std::string> rows = RandomRooms(random);
    const NavMesh mesh = MeshOf(DrawRooms(rows, &random));
    FoundPaths paths(mesh, random);
    paths.Expect(60);
    Add(counts, paths.counts);
  });
  ExpectMany(counts);
}

TEST(MeshPathCheckPropertyTest, FoundPathsBetweenThinWallsAreWalkable) {
  for (std::uint64_t seed = 0; seed < Rounds(300) && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random(seed);
    const MeshSpec spec = seed % 2 == 0 ? DrawRooms(RandomRooms(random), &random) : BentFloors(random, 2);
    if (spec.polygons.empty()) {
      continue;
    }
    const NavMesh mesh = MeshOf(WithThinWalls(spec, random));
    FoundPaths paths(mesh, random);
    for (int i = 0; i < 60; ++i) {
      paths.Find(RandomPlace(mesh, random).point, RandomPlace(mesh, random).point);
    }
  }
}

// Ends that a snap has moved to a wall may lie half a unit of rounding outside.
TEST(MeshPathCheckPropertyTest, FoundPathsFromPlacesRoundedToWallsAreWalkable) {
  ForSeeds(60, [&](Random& random) {
    const NavMesh mesh = MeshOf(BentFloors(random, 2));
    FoundPaths paths(mesh, random);
    const auto draw = [&] {
      return WorldPoint{random.Between(-1000, 7000) / 1000.0, random.Between(-1000, 7000) / 1000.0,
                        random.Between(0, 6) * 1.0};
    };
    for (int i = 0; i < 60; ++i) {
      paths.Find(draw(), draw());
    }
  });
}

// Steps around a single vertex, some times round.
TEST(MeshPathCheckPropertyTest, FoundPathsOnSpiralStairsAreWalkable) {
  constexpr std::uint32_t kSteps = 21;
  MeshSpec spec;
  spec.vertices.push_back({0, 0, 0});
  for (std::uint32_t step = 0; step <= kSteps; ++step) {
    const double angle = 2.0 * std::numbers::pi * step / 8;
    spec.vertices.push_back(
        {std::round(16.0 * std::cos(angle)) / 4.0, std::round(16.0 * std::sin(angle)) / 4.0, 0.5 * step});
    if (step > 0) {
      spec.AddPolygon({0, step, step + 1});
    }
  }
  const NavMesh mesh = MeshOf(std::move(spec));
  Random random(3);
  FoundPaths paths(mesh, random);
  paths.Expect(2'000);
  EXPECT_GT(paths.counts.turning, 100);
  EXPECT_GT(paths.counts.blocked, 100);
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

}  // namespace
}  // namespace waystar::core
