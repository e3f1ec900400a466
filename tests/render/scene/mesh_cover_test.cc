// What polygons of a mesh hide when it is seen from the side.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/render/scene/mesh_marks.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

WorldProjection FromTheSide() {
  return {.plan = {.zero = {}, .x_step = {10, 0}, .y_step = {0, 6}}, .z_step = {0, -8}};
}

MeshCover CoverOf(const NavMesh& mesh, double slack) {
  std::vector<PolygonNumber> all(mesh.polygon_count());
  std::iota(all.begin(), all.end(), PolygonNumber{0});
  return {mesh, FromTheSide(), all, slack};
}

// A roof at height 3 from (2, 4) to (6, 8).
NavMesh Roof() { return MeshOf(DrawMesh({{2, 4, 3}, {6, 4, 3}, {6, 8, 3}, {2, 8, 3}}, {{0, 1, 2, 3}})); }

TEST(MeshCoverTest, HidesWhatLiesBehindAndBelow) {
  const NavMesh mesh = Roof();
  const MeshCover cover = CoverOf(mesh, 0.01);
  // A unit of height hides 4/3 of the ground behind it: the roof hides it from y = 0 to 4.
  EXPECT_THAT(cover.HiddenParts({0, 2, 0}, {8, 2, 0}),
              ElementsAre(Pair(DoubleNear(0.25, 1e-9), DoubleNear(0.75, 1e-9))));
  EXPECT_THAT(cover.HiddenParts({4, -2, 0}, {4, 8, 0}),
              ElementsAre(Pair(DoubleNear(0.2, 1e-9), DoubleNear(0.6, 1e-9))));
  // Straight below it the ground is in sight again.
  EXPECT_THAT(cover.HiddenParts({0, 6, 0}, {8, 6, 0}), IsEmpty());
}

TEST(MeshCoverTest, HidesNothingOnOrAboveTheSurface) {
  const NavMesh mesh = Roof();
  const MeshCover cover = CoverOf(mesh, 0.01);
  EXPECT_THAT(cover.HiddenParts({2, 5, 3}, {6, 7, 3}), IsEmpty());
  EXPECT_THAT(cover.HiddenParts({2, 5, 2.995}, {6, 7, 2.995}), IsEmpty());
  EXPECT_THAT(cover.HiddenParts({0, 6, 4}, {8, 6, 4}), IsEmpty());
}

TEST(MeshCoverTest, FloorsHideWhatTheirHeightsSay) {
  Random random(11);
  std::uint64_t all_hidden = 0;
  for (std::uint64_t round = 0; round < Rounds(40); ++round) {
    MeshSpec spec;
    AddFloor(spec, 4, 3, 4, random);
    const NavMesh mesh = MeshOf(std::move(spec));
    const MeshCover cover = CoverOf(mesh, 0.25);
    const auto any = [&](double low, double high) {
      return low + (high - low) * random.Between(0, 1000) / 1000.0;
    };
    const WorldPoint from{any(0, 4), any(-4, 4), any(0, 5)};
    const WorldPoint to{any(0, 4), any(-4, 4), any(0, 5)};
    const auto hidden = cover.HiddenParts(from, to);
    // Goes up along the line of sight, in steps, and looks whether a surface is passed.
    for (int i = 1; i < 40; ++i) {
      const double share = i / 40.0;
      const WorldPoint at{from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share,
                          from.z + (to.z - from.z) * share};
      const auto gap = [&](double z) {
        const auto place = mesh.FindNearest(
            {.position = {at.x, at.y + (z - at.z) * 4 / 3, z}, .radius = 0.0, .height = 100.0});
        return place.has_value() ? place->point.z - z : std::nan("");
      };
      bool crosses = false;
      bool is_close = false;
      double before = gap(at.z + 0.2);
      for (double z = at.z + 0.21; z < 6; z += 0.01) {
        const double now = gap(z);
        const bool crossed = (before > 0) != (now > 0) && !std::isnan(before) && !std::isnan(now);
        crosses |= crossed && z > at.z + 0.3;
        // Near the slack, or an edge, either is right.
        is_close |= (crossed && z <= at.z + 0.3) || (std::isnan(before) != std::isnan(now) &&
                                                     std::abs(std::isnan(now) ? before : now) < 0.05);
        before = now;
      }
      if (is_close) {
        continue;
      }
      const bool is_hidden = std::ranges::any_of(
          hidden, [&](const auto& part) { return part.first <= share && share <= part.second; });
      all_hidden += is_hidden ? 1 : 0;
      EXPECT_EQ(is_hidden, crosses) << "round " << round << " at " << at.x << ", " << at.y << ", " << at.z;
    }
  }
  EXPECT_GT(all_hidden, Rounds(40));
}

}  // namespace
}  // namespace waystar::core
