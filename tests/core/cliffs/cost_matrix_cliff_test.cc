// A cost matrix expands no more than about the cheaper of two plain ways: a search for each pair, or a flood
// for each source or target, whichever are fewer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/grid/search/scratch.h"
#include "tests/core/cliffs/cliff_maps.h"

namespace waystar::core {
namespace {

class CostMatrixCliffTest : public ::testing::Test {
 protected:
  std::uint64_t Matrix(const GridMap& map, World& world, const std::vector<Cell>& starts,
                       const std::vector<Cell>& goals, int footprint = 1) {
    return ComputeCostMatrix(map, world,
                             {.starts = starts, .goals = goals, .agent = {.footprint = footprint}}, {},
                             scratch_, field_scratch_)
        .value()
        .expanded;
  }
  std::uint64_t PairByPair(const GridMap& map, World& world, const std::vector<Cell>& starts,
                           const std::vector<Cell>& goals, int footprint = 1,
                           Algorithm algorithm = Algorithm::kAStar) {
    std::uint64_t expanded = 0;
    for (const Cell source : starts) {
      for (const Cell target : goals) {
        expanded +=
            FindPathThroughPortals(
                map, world,
                {.path = {.start = source, .goal = target, .algorithm = algorithm, .footprint = footprint}},
                {}, scratch_)
                .value()
                .path.statistics.expanded;
      }
    }
    return expanded;
  }

 private:
  Scratch scratch_{std::size_t{1} << 28};
  FieldScratch field_scratch_;
};

// Portals to another map, one from each cell of a list to that of another at the same index.
std::vector<Portal> Doors(const std::vector<Cell>& from, const std::string& map,
                          const std::vector<Cell>& to) {
  std::vector<Portal> portals;
  for (std::size_t i = 0; i < from.size(); ++i) {
    portals.push_back(Between(absl::StrCat(map, i), from[i], to[i]));
    portals.back().to_map = map;
  }
  return portals;
}

struct Lists {
  std::size_t starts;
  std::size_t goals;
};

TEST_F(CostMatrixCliffTest, NoneCostsMuchMoreThanPairByPairOrFloods) {
  NoWorld world;
  ForEachMap({.sides = {48, 96}}, [&](const GridMap& map) {
    const bool takes_large_agents = map.width() == 96 && map.settings().connectivity == Connectivity::kEight;
    for (const int footprint : takes_large_agents ? std::vector<int>{1, 2, 8, 32} : std::vector<int>{1}) {
      const std::vector<Cell> part = LargestPart(map, footprint);
      if (footprint > 1 && part.size() < 1000) {
        continue;
      }
      for (const auto [source_count, target_count] :
           {Lists{1, 5}, Lists{2, 3}, Lists{4, 4}, Lists{8, 8}, Lists{16, 2}}) {
        SCOPED_TRACE(absl::StrCat("footprint ", footprint, ", ", source_count, " x ", target_count));
        const std::vector<Cell> starts = AnyOf(part, source_count, 1);
        const std::vector<Cell> goals = AnyOf(part, target_count, 2);
        const std::uint64_t pairs = kCellsOfAStep * PairByPair(map, world, starts, goals, footprint);
        const std::uint64_t floods = std::min(source_count, target_count) * part.size();
        EXPECT_LE(Matrix(map, world, starts, goals, footprint), 3 * std::min<std::uint64_t>(pairs, floods));
      }
    }
  });
}

// The few pairs of a matrix that is not worth a flood.
TEST_F(CostMatrixCliffTest, FewNearPairsAreNotSearchedForOverAndOver) {
  NoWorld world;
  for (const Connectivity connectivity : kConnectivities) {
    const GridMap map = MakeMap(
        {.layout = Layout::kNoise, .connectivity = connectivity, .prices = CellPrices::kMud, .side = 384});
    const std::vector<Cell> part = LargestPart(map);
    for (const std::size_t count : {5U, 7U, 10U}) {
      SCOPED_TRACE(absl::StrCat(ConnectivityName(connectivity), ", ", count, " goals"));
      // They lie around the first cell.
      const std::vector<Cell> goals(part.begin() + 20, part.begin() + 20 + static_cast<int>(count));
      EXPECT_LE(Matrix(map, world, {part[0]}, goals),
                2 * PairByPair(map, world, {part[0]}, goals, 1, Algorithm::kAuto));
    }
  }
}

TEST_F(CostMatrixCliffTest, PortalsExpandLittleMoreThanFloods) {
  NoWorld world;
  ForEachMap({.sides = {48, 96}, .connectivities = {Connectivity::kFour, Connectivity::kEight}},
             [&](const GridMap& map) {
               const std::vector<Cell> part = LargestPart(map);
               for (const int portals : {10, 100, 250, 1000}) {
                 const GridMap linked = WithPortalsAmong(map, part, portals, 20.0);
                 for (const auto [source_count, target_count] : {Lists{1, 5}, Lists{4, 4}, Lists{1, 64}}) {
                   SCOPED_TRACE(absl::StrCat(portals, " portals, ", source_count, " x ", target_count));
                   EXPECT_LE(
                       Matrix(linked, world, AnyOf(part, source_count, 1), AnyOf(part, target_count, 2)),
                       4 * source_count * part.size());
                 }
               }
             });
}

// Portals that lead to another map and back, whose cells nothing else joins.
TEST_F(CostMatrixCliffTest, WaysByAnotherMapExpandLittleMoreThanPairByPairOrFloods) {
  for (const CellPrices prices : {CellPrices::kOne, CellPrices::kMud}) {
    const GridMap blank = MakeMap({.layout = Layout::kNoise, .prices = prices, .side = 128});
    const std::vector<Cell> part = LargestPart(blank);
    for (const std::size_t doors : {40U, 160U, 500U}) {
      SCOPED_TRACE(absl::StrCat("prices ", static_cast<int>(prices), ", ", doors, " doors"));
      Maps world;
      for (const auto& [id, other] : {std::pair("home", "away"), std::pair("away", "home")}) {
        const std::vector<Cell> from = AnyOf(part, doors, id[0]);
        world.maps.emplace(id, With(blank, Doors(from, other, AnyOf(part, doors, other[1]))));
      }
      const GridMap& map = world.maps.at("home");
      const std::vector<Cell> starts = AnyOf(part, 1, 1);
      const std::vector<Cell> goals = AnyOf(part, 5, 2);
      const std::uint64_t pairs = kCellsOfAStep * PairByPair(map, world, starts, goals, 1, Algorithm::kAuto);
      const std::uint64_t floods = starts.size() * 2 * part.size();
      EXPECT_LE(Matrix(map, world, starts, goals), 2 * std::min(pairs, floods));
    }
  }
}

}  // namespace
}  // namespace waystar::core
