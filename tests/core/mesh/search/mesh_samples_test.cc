#include "server/core/mesh/search/mesh_samples.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::testing::IsEmpty;

// REQUIRES: the query is valid.
SampledMeshPoints Sample(const NavMesh& mesh, const MeshSampleQuery& query) {
  absl::StatusOr<SampledMeshPoints> sampled = SampleMeshPoints(mesh, query);
  EXPECT_THAT(sampled, IsOk());
  return *std::move(sampled);
}

bool Holds(const Box& box, const WorldPoint& point) {
  return box.Overlaps({point.x, point.y, point.x, point.y});
}

// Expects that of so many draws as many hit as is likely, to five standard deviations.
void ExpectLikely(std::int64_t hits, std::int64_t draws, double chance) {
  const double expected = static_cast<double>(draws) * chance;
  EXPECT_NEAR(static_cast<double>(hits), expected, 5.0 * std::sqrt(expected * (1.0 - chance)) + 1e-9);
}

template <typename Predicate>
std::int64_t CountOf(const SampledMeshPoints& sampled, Predicate predicate) {
  return std::count_if(sampled.places.begin(), sampled.places.end(), predicate);
}

TEST(MeshSamplesTest, TheSeedDecides) {
  const NavMesh mesh = MeshOf(DrawRooms({"...", ".#.", "..."}));
  const MeshSampleQuery query{.count = 50, .seed = 1};
  EXPECT_EQ(Sample(mesh, query).places, Sample(mesh, query).places);
  EXPECT_NE(Sample(mesh, query).places, Sample(mesh, {.count = 50, .seed = 2}).places);
  // Fewer are the first of more.
  const auto more = Sample(mesh, query).places;
  const auto fewer = Sample(mesh, {.count = 20, .seed = 1}).places;
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), more.begin()));
}

TEST(MeshSamplesTest, DrawsFromAPartAlone) {
  const NavMesh mesh = MeshOf(DrawRooms({"..#...", "..#..."}));
  ASSERT_EQ(mesh.part_count(), 2u);
  for (std::uint32_t part = 0; part < 2; ++part) {
    const SampledMeshPoints sampled = Sample(mesh, {.count = 100, .parts = {part}});
    EXPECT_EQ(sampled.candidates, part == 0 ? 4 : 6);
    EXPECT_EQ(CountOf(sampled, [&](const MeshPlace& place) { return mesh.PartOf(place.polygon) == part; }),
              100);
  }
  EXPECT_THAT(Sample(mesh, {.count = 100, .parts = {0}, .region = Box{3, 0, 6, 2}}).places, IsEmpty());
}

TEST(MeshSamplesTest, ARegionWithoutAreaGivesNothing) {
  const NavMesh mesh = MeshOf(DrawRooms({"..", ".."}));
  // Beside the mesh, at its border, a line, and an empty one.
  for (const Box& region :
       {Box{3, 0, 5, 2}, Box{2, 0, 5, 2}, Box{0.3, 0, 0.3, 2}, Box{0, 1, 2, 1}, Box{1, 0, 0.5, 2}}) {
    const SampledMeshPoints sampled = Sample(mesh, {.count = 10, .region = region});
    EXPECT_THAT(sampled.places, IsEmpty());
    EXPECT_EQ(sampled.candidates, 0);
    EXPECT_EQ(sampled.area, 0.0);
  }
}

TEST(MeshSamplesTest, RefusesCountsOutOfRange) {
  const NavMesh mesh = MeshOf(DrawRooms({".."}));
  for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{0}}) {
    EXPECT_THAT(SampleMeshPoints(mesh, {.count = count}),
                IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "count"));
  }
  EXPECT_THAT(SampleMeshPoints(mesh, {.count = 100'001}),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "count"));
  EXPECT_THAT(SampleMeshPoints(mesh, {.count = 100'000}), IsOk());
}

TEST(MeshSamplesTest, StopsWhenItIsToldTo) {
  const NavMesh mesh = MeshOf(DrawRooms({".."}));
  const waystar::StopAfter stop(0);
  EXPECT_EQ(SampleMeshPoints(mesh, {}, &stop).status().code(), absl::StatusCode::kCancelled);
}

// The area of the part of a polygon in a box, by strips.
double AreaByStrips(const NavMesh& mesh, PolygonNumber polygon, const Box& box) {
  constexpr int kStrips = 2'000;
  const auto vertices = mesh.VerticesOf(polygon);
  double area = 0.0;
  for (int i = 0; i < kStrips; ++i) {
    const double x = box.x_low + (box.x_high - box.x_low) * (i + 0.5) / kStrips;
    double low = box.y_high;
    double high = box.y_low;
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      const WorldPoint& a = mesh.VertexAt(vertices[k]);
      const WorldPoint& b = mesh.VertexAt(vertices[(k + 1) % vertices.size()]);
      if ((a.x > x) != (b.x > x)) {
        const double y = a.y + (x - a.x) / (b.x - a.x) * (b.y - a.y);
        low = std::min(low, y);
        high = std::max(high, y);
      }
    }
    area += std::max(0.0, std::min(high, box.y_high) - std::max(low, box.y_low)) * (box.x_high - box.x_low) /
            kStrips;
  }
  return area;
}

TEST(MeshSamplesPropertyTest, PointsLieInTheRegionByArea) {
  ForSeeds(30, [](Random& random) {
    const auto seed = static_cast<std::uint64_t>(random.Between(0, 1'000'000));
    const NavMesh mesh = MeshOf(BentFloors(random, 2, 4, 5));
    const double x = random.Between(-50, 400) / 100.0;
    const double y = random.Between(-50, 400) / 100.0;
    const Box region{x, y, x + random.Between(50, 300) / 100.0, y + random.Between(50, 300) / 100.0};
    const SampledMeshPoints sampled = Sample(mesh, {.count = 4'000, .seed = seed, .region = region});
    double area = 0.0;
    double first = 0.0;
    const WorldPoint middle{(region.x_low + region.x_high) / 2.0, (region.y_low + region.y_high) / 2.0};
    const bool is_cut_across = random.Chance(0.5);
    Box half = region;
    (is_cut_across ? half.x_high : half.y_high) = is_cut_across ? middle.x : middle.y;
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      area += AreaByStrips(mesh, polygon, region);
      first += AreaByStrips(mesh, polygon, half);
    }
    EXPECT_NEAR(sampled.area, area, 1e-2);
    if (sampled.places.empty()) {
      EXPECT_NEAR(area, 0.0, 1e-2);
      return;
    }
    for (const MeshPlace& place : sampled.places) {
      EXPECT_TRUE(Holds(region, place.point));
      EXPECT_TRUE(mesh.Contains(place.polygon, ToFixed(place.point)));
      EXPECT_EQ(place.point, mesh.NearestPoint(place.polygon, place.point.x, place.point.y));
    }
    if (area > 0.1) {
      ExpectLikely(CountOf(sampled, [&](const MeshPlace& place) { return Holds(half, place.point); }), 4'000,
                   std::min(1.0, first / area));
    }
  });
}

}  // namespace
}  // namespace waystar::core
