// Walks over polygons are counted, and stop where their budget ends.

#include <atomic>
#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "server/core/mesh/search/mesh_move.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/polygon_set.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/mesh/search/sight_graph.h"

namespace waystar::core {
namespace {

using ::testing::Eq;
using ::testing::Optional;
using ::waystar::testing::DrawRooms;
using ::waystar::testing::MeshOf;

constexpr std::uint64_t kPolygons = 4000;

class PolygonMeterTest : public ::testing::Test {
 protected:
  const NavMesh mesh_ = MeshOf(DrawRooms({std::string(kPolygons, '.')}));
  const MeshPlace start_{0, {0.5, 0.5, 0}};
  // Beyond the wall at the end.
  const WorldPoint target_{kPolygons + 1.0, 0.75, 0};
  Budget budget_;
};

TEST_F(PolygonMeterTest, CountsWhatRaysAndMovesVisit) {
  PolygonMeter meter(budget_);
  EXPECT_EQ(CastMeshRay(mesh_, start_, target_, &meter), CastMeshRay(mesh_, start_, target_));
  EXPECT_EQ(meter.visited(), kPolygons);
  CastMeshRay(mesh_, start_, WorldPoint{1.5, 0.5, 0}, &meter);
  EXPECT_EQ(meter.visited(), kPolygons + 2);
  PolygonMeter of_move(budget_);
  EXPECT_EQ(MoveAlongSurface(mesh_, start_, target_, &of_move), MoveAlongSurface(mesh_, start_, target_));
  EXPECT_EQ(of_move.visited(), kPolygons + kMaxMovePolygons);
  EXPECT_FALSE(meter.end());
}

TEST_F(PolygonMeterTest, StopsWithinAWalkWhereTheBudgetEnds) {
  budget_.max_expansions = 100;
  PolygonMeter limited(budget_);
  CastMeshRay(mesh_, start_, target_, &limited);
  EXPECT_THAT(limited.end(), Optional(Eq(SearchEnd::kExpansionLimit)));
  EXPECT_LE(limited.visited(), 110u);
  EXPECT_FALSE(limited.Visit());

  budget_ = {};
  const std::atomic<bool> yes = true;
  budget_.cancelled = &yes;
  PolygonMeter cancelled(budget_);
  CastMeshRay(mesh_, start_, target_, &cancelled);
  EXPECT_THAT(cancelled.end(), Optional(Eq(SearchEnd::kCancelled)));
  EXPECT_LE(cancelled.visited(), Budget::kPollInterval + 10);
}

TEST_F(PolygonMeterTest, LooksBetweenShortWalksAsWell) {
  const std::atomic<bool> yes = true;
  budget_.cancelled = &yes;
  PolygonMeter meter(budget_);
  while (!meter.end() && meter.visited() < 2 * Budget::kPollInterval) {
    CastMeshRay(mesh_, start_, WorldPoint{3.5, 0.5, 0}, &meter);
  }
  EXPECT_THAT(meter.end(), Optional(Eq(SearchEnd::kCancelled)));
}

}  // namespace
}  // namespace waystar::core
