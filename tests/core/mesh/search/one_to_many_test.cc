#include "server/core/mesh/search/one_to_many.h"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/search/mesh_path.h"
#include "tests/core/mesh/search/sight_graph.h"

namespace waystar::core {
namespace {

constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kFloodBytes = std::size_t{1} << 28;

// Compares the paths between a place and others with those of single searches.
void ExpectPaths(const NavMesh& mesh, Random& random) {
  MeshScratch scratch(kFloodBytes);
  const MeshPlace hub = RoundedPlace(mesh, random);
  std::vector<MeshPlace> others;
  std::vector<double> lengths;
  for (int i = 0; i < 12; ++i) {
    others.push_back(RoundedPlace(mesh, random));
    lengths.push_back(LengthOf(mesh, hub, others.back(), scratch));
  }
  for (const HubEnd end : {HubEnd::kStart, HubEnd::kGoal}) {
    std::vector<bool> is_answered(others.size());
    const auto expect = [&](std::size_t i, const MeshSearchReport& report) {
      EXPECT_FALSE(is_answered[i]);
      is_answered[i] = true;
      ASSERT_EQ(report.end == SearchEnd::kGoalReached, std::isfinite(lengths[i]));
      if (report.end != SearchEnd::kGoalReached) {
        return;
      }
      EXPECT_NEAR(report.length, lengths[i], 1e-9);
      const WorldPoint& start = end == HubEnd::kStart ? hub.point : others[i].point;
      const WorldPoint& goal = end == HubEnd::kStart ? others[i].point : hub.point;
      EXPECT_EQ(report.corners.front(), start);
      EXPECT_EQ(report.corners.back(), goal);
      const std::vector<WorldPoint> corners(report.corners.begin(), report.corners.end());
      const absl::StatusOr<MeshPathCheck> check = ValidateMeshPath(mesh, corners);
      EXPECT_TRUE(check.ok() && check->is_walkable);
      for (std::size_t k = 1; k < report.corridor.size(); ++k) {
        bool are_adjacent = false;
        for (std::size_t edge = 0; edge < mesh.VerticesOf(report.corridor[k - 1]).size(); ++edge) {
          are_adjacent |= mesh.Across(report.corridor[k - 1], edge) == report.corridor[k];
        }
        EXPECT_TRUE(are_adjacent);
      }
    };
    EXPECT_EQ(SearchOneToMany(mesh, hub, end, others, kAnyNumber, {}, scratch, expect),
              SearchEnd::kExhausted);
    EXPECT_THAT(is_answered, ::testing::Each(true));
  }
}

TEST(OneToManyTest, PathsAreThoseOfSingleSearches) { ForMeshes(300, 2, ExpectPaths); }

TEST(OneToManyTest, PathsAreThoseOfSingleSearchesAmongHoles) {
  ForSeeds(200, [](Random& random) {
    const NavMesh mesh = MeshOf(DrawRooms(RandomRooms(12, 12, 0.2, random), &random));
    Shape shape;
    for (int i = 0; i < 6; ++i) {
      shape.discs.push_back({.center = {random.Between(0, 48) / 4.0, random.Between(0, 48) / 4.0},
                             .radius = random.Between(1, 8) / 8.0});
    }
    const NavMesh cut = *ChangeHoles(mesh, {.removed = {}, .added = *HolesOf(shape, HeightRange())});
    if (!cut.Polygons().empty()) {
      ExpectPaths(cut, random);
    }
  });
}

TEST(OneToManyTest, EndsEarlyWithoutAReport) {
  const NavMesh mesh = MeshOf(DrawRooms({"....", ".##.", ".##.", "...."}));
  MeshScratch scratch(kFloodBytes);
  const std::vector<MeshPlace> others = {PlaceAt(mesh, 3.5, 3.5), PlaceAt(mesh, 0.5, 3.5)};
  const auto fail = [](std::size_t /*other*/, const MeshSearchReport& /*report*/) { ADD_FAILURE(); };
  EXPECT_EQ(SearchOneToMany(mesh, PlaceAt(mesh, 0.5, 0.5), HubEnd::kStart, others, 1, {}, scratch, fail),
            SearchEnd::kExpansionLimit);
}

}  // namespace
}  // namespace waystar::core
