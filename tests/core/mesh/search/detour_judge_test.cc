// Answers on the meshes of RecastDemo, judged by Detour.

#include "tests/core/mesh/search/detour_judge.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_move.h"
#include "server/core/mesh/search/mesh_wall.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/testing/movingai_data.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

// Detour computes in single precision.
constexpr double kDetourRounding = 1e-4;

std::string BytesOfFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A point well inside of a random polygon.
MeshPlace RandomPlace(const NavMesh& mesh, Random& random) {
  const auto polygon =
      static_cast<PolygonNumber>(random.Between(0, static_cast<int>(mesh.polygon_count()) - 1));
  double x = 0.0;
  double y = 0.0;
  double sum = 0.0;
  for (const std::uint32_t vertex : mesh.VerticesOf(polygon)) {
    const double weight = random.Between(1, 100);
    x += weight * mesh.VertexAt(vertex).x;
    y += weight * mesh.VertexAt(vertex).y;
    sum += weight;
  }
  return {polygon, mesh.NearestPoint(polygon, x / sum, y / sum)};
}

double PlanDistance(const WorldPoint& a, const WorldPoint& b) { return std::hypot(a.x - b.x, a.y - b.y); }

class DetourJudgeTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::optional<std::filesystem::path> folder = DataFolder();
    if (!folder || !std::filesystem::exists(*folder / "meshes" / "detour")) {
      GTEST_SKIP() << "WAYSTAR_DATA names no folder with meshes/detour";
    }
    bytes_ = BytesOfFile(*folder / "meshes" / "detour" / GetParam());
    absl::StatusOr<DetourMesh> read = ParseDetourMesh(bytes_);
    ASSERT_TRUE(read.ok()) << read.status();
    mesh_ = std::move(read->mesh);
  }

  std::string bytes_;
  std::optional<NavMesh> mesh_;
};

TEST_P(DetourJudgeTest, FindsTheSameDistancesToWalls) {
  DetourJudge judge(bytes_);
  Random random(2);
  int asked = 0;
  int found = 0;
  for (int i = 0; i < 10'000; ++i) {
    const MeshPlace place = RandomPlace(*mesh_, random);
    if (!judge.Knows(place.point)) {
      continue;
    }
    ++asked;
    constexpr double kRadius = 20.0;
    const std::optional<double> judged = judge.DistanceToWall(place.point, kRadius);
    const absl::StatusOr<MeshWallReport> report = FindNearestWall(*mesh_, place, kRadius, {});
    ASSERT_TRUE(report.ok());
    ASSERT_EQ(report->wall.has_value(), judged.has_value());
    if (judged) {
      ++found;
      ASSERT_NEAR(report->wall->distance, *judged, 1e-3)
          << place.point.x << " " << place.point.y << " " << place.point.z;
    }
  }
  EXPECT_GT(asked, 9'000);
  EXPECT_GT(found, 9'000);
}

TEST_P(DetourJudgeTest, StandsOnTheSameGround) {
  DetourJudge judge(bytes_);
  Random random(4);
  int asked = 0;
  for (int i = 0; i < 10'000; ++i) {
    const MeshPlace place = RandomPlace(*mesh_, random);
    if (const std::optional<double> judged = judge.HeightAt(place.point)) {
      ++asked;
      ASSERT_NEAR(place.point.z, *judged, 0.01) << place.point.x << " " << place.point.y;
    }
  }
  EXPECT_GT(asked, 9'900);
}

TEST_P(DetourJudgeTest, MovesNoNearerToTheTarget) {
  DetourJudge judge(bytes_);
  Random random(3);
  int compared = 0;
  int blocked = 0;
  int outside = 0;
  for (int i = 0; i < 10'000; ++i) {
    const MeshPlace start = RandomPlace(*mesh_, random);
    const double reach = random.Chance(0.5) ? 1.0 : 4.0;
    const WorldPoint target{start.point.x + reach * random.Between(-1000, 1000) / 1000.0,
                            start.point.y + reach * random.Between(-1000, 1000) / 1000.0, start.point.z};
    const std::optional<WorldPoint> judged = judge.Move(start.point, target);
    if (!judged) {
      continue;
    }
    const MeshMove move = MoveAlongSurface(*mesh_, start, target);
    const WorldPoint middle{(start.point.x + target.x) / 2, (start.point.y + target.y) / 2};
    // Detour may leave the circle.
    if (PlanDistance(*judged, middle) > PlanDistance(start.point, target) / 2 + kDetourRounding) {
      ++outside;
      continue;
    }
    ++compared;
    blocked += move.is_blocked ? 1 : 0;
    ASSERT_LE(PlanDistance(move.end.point, target), PlanDistance(*judged, target) + 1e-3)
        << "from " << start.point.x << " " << start.point.y << " " << start.point.z << " in " << start.polygon
        << " to " << target.x << " " << target.y;
  }
  RecordProperty("outside", outside);
  EXPECT_GT(compared, 9'000);
  EXPECT_GT(blocked, 1'000);
}

TEST_P(DetourJudgeTest, FindsNoOtherWaysAndNoShorterPaths) {
  const NavMesh& mesh = *mesh_;
  DetourJudge judge(bytes_);
  MeshScratch scratch(std::size_t{1} << 26);
  Random random(1);
  int asked = 0;
  int reached = 0;
  int longer = 0;
  for (int i = 0; i < 10'000; ++i) {
    const MeshPlace start = RandomPlace(mesh, random);
    const MeshPlace goal = RandomPlace(mesh, random);
    if (!judge.Knows(start.point) || !judge.Knows(goal.point)) {
      continue;
    }
    ++asked;
    const std::optional<double> judged = judge.LengthOf(start.point, goal.point);
    const MeshSearchReport found = SearchMesh(mesh, {.start = start, .goal = goal}, {}, scratch);
    ASSERT_EQ(found.end == SearchEnd::kGoalReached, judged.has_value())
        << "from " << start.point.x << " " << start.point.y << " " << start.point.z << " to " << goal.point.x
        << " " << goal.point.y << " " << goal.point.z << ", polygons " << start.polygon << " and "
        << goal.polygon;
    if (judged) {
      ++reached;
      ASSERT_LE(found.length, *judged + kDetourRounding);
      longer += *judged > found.length * 1.0005 ? 1 : 0;
    }
  }
  RecordProperty("asked", asked);
  RecordProperty("reached", reached);
  RecordProperty("longer", longer);
  EXPECT_GT(asked, 9'000);
  EXPECT_GT(reached, 1'000);
}

INSTANTIATE_TEST_SUITE_P(Files, DetourJudgeTest,
                         ::testing::Values("all_tiles_navmesh.bin", "dungeon_all_tiles_navmesh.bin",
                                           "dungeon_all_tiles_navmesh_32bit.bin"),
                         [](const auto& file) {
                           std::string name = file.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == '.'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace waystar::core
