// A cost matrix expands no more than about the cheaper of two plain ways: a search for each pair, or a flood
// for each source or target, whichever are fewer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/field_scratch.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/grid/search/scratch.h"
#include "tests/core/cliffs/field_cliff_maps.h"

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

struct Lists {
  std::size_t starts;
  std::size_t goals;
};

TEST_F(CostMatrixCliffTest, NoneCostsMuchMoreThanPairByPairOrFloods) {
  NoWorld world;
  ForEachFieldMap(
      {Connectivity::kFour, Connectivity::kEight, Connectivity::kSix}, {48, 96}, [&](const GridMap& map) {
        const std::vector<Cell> part = LargestPart(map);
        for (const auto [source_count, target_count] :
             {Lists{1, 5}, Lists{2, 3}, Lists{4, 4}, Lists{8, 8}, Lists{16, 2}}) {
          SCOPED_TRACE(absl::StrCat(source_count, " x ", target_count));
          const std::vector<Cell> starts = AnyOf(part, source_count, 1);
          const std::vector<Cell> goals = AnyOf(part, target_count, 2);
          const std::uint64_t pairs = kCellsOfAStep * PairByPair(map, world, starts, goals);
          const std::uint64_t floods = std::min(source_count, target_count) * part.size();
          EXPECT_LE(Matrix(map, world, starts, goals), 3 * std::min<std::uint64_t>(pairs, floods));
        }
      });
}

TEST_F(CostMatrixCliffTest, LargeAgentsToo) {
  NoWorld world;
  ForEachFieldMap({Connectivity::kEight}, {96}, [&](const GridMap& map) {
    for (const int footprint : {2, 8, 32}) {
      const std::vector<Cell> part = LargestPart(map, footprint);
      if (part.size() < 1000) {
        continue;
      }
      SCOPED_TRACE(absl::StrCat("footprint ", footprint));
      const std::vector<Cell> starts = AnyOf(part, 4, 1);
      const std::vector<Cell> goals = AnyOf(part, 8, 2);
      const std::uint64_t pairs = kCellsOfAStep * PairByPair(map, world, starts, goals, footprint);
      EXPECT_LE(Matrix(map, world, starts, goals, footprint),
                3 * std::min<std::uint64_t>(pairs, starts.size() * part.size()));
    }
  });
}

// Each source more costs at the most what one costs.
TEST_F(CostMatrixCliffTest, TwiceTheSourcesExpandAboutTwiceAsMuch) {
  NoWorld world;
  ForEachFieldMap({Connectivity::kEight}, {96}, [&](const GridMap& map) {
    const std::vector<Cell> part = LargestPart(map);
    const std::vector<Cell> goals = AnyOf(part, 200, 2);
    for (const std::size_t count : {8U, 16U, 32U, 64U}) {
      SCOPED_TRACE(absl::StrCat(count, " starts"));
      EXPECT_LE(Matrix(map, world, AnyOf(part, count, 1), goals), count * part.size() * 5 / 4);
    }
  });
}

// The few pairs of a matrix that is not worth a flood.
TEST_F(CostMatrixCliffTest, FewNearPairsAreNotSearchedForOverAndOver) {
  NoWorld world;
  for (const Connectivity connectivity : {Connectivity::kFour, Connectivity::kEight, Connectivity::kSix}) {
    const GridMap map = MakeFieldMap({.layout = FieldLayout::kNoise,
                                      .connectivity = connectivity,
                                      .costs = FieldCosts::kMud,
                                      .side = 384});
    const std::vector<Cell> part = LargestPart(map);
    for (const std::size_t count : {5U, 7U, 10U}) {
      SCOPED_TRACE(absl::StrCat(testing::ConnectivityName(connectivity), ", ", count, " goals"));
      // They lie around the first cell.
      const std::vector<Cell> goals(part.begin() + 20, part.begin() + 20 + static_cast<int>(count));
      EXPECT_LE(Matrix(map, world, {part[0]}, goals),
                2 * PairByPair(map, world, {part[0]}, goals, 1, Algorithm::kAuto));
    }
  }
}

TEST_F(CostMatrixCliffTest, PortalsExpandLittleMoreThanFloods) {
  NoWorld world;
  ForEachFieldMap({Connectivity::kFour, Connectivity::kEight}, {48, 96}, [&](const GridMap& map) {
    const std::vector<Cell> part = LargestPart(map);
    for (const int portals : {10, 100, 250, 1000}) {
      const GridMap linked = WithPortalsAmong(map, part, portals, 20.0);
      for (const auto [source_count, target_count] : {Lists{1, 5}, Lists{4, 4}, Lists{1, 64}}) {
        SCOPED_TRACE(absl::StrCat(portals, " portals, ", source_count, " x ", target_count));
        EXPECT_LE(Matrix(linked, world, AnyOf(part, source_count, 1), AnyOf(part, target_count, 2)),
                  4 * source_count * part.size());
      }
    }
  });
}

// Portals that lead to another map and back, whose cells nothing else joins.
TEST_F(CostMatrixCliffTest, WaysByAnotherMapExpandLittleMoreThanPairByPairOrFloods) {
  for (const FieldCosts costs : {FieldCosts::kOne, FieldCosts::kMud}) {
    const GridMap blank = MakeFieldMap({.layout = FieldLayout::kNoise, .costs = costs, .side = 128});
    const std::vector<Cell> part = LargestPart(blank);
    for (const std::size_t doors : {40U, 80U, 160U}) {
      SCOPED_TRACE(absl::StrCat("costs ", static_cast<int>(costs), ", ", doors, " doors"));
      testing::Maps world;
      for (const auto& [id, other] : {std::pair("home", "away"), std::pair("away", "home")}) {
        const std::vector<Cell> from = AnyOf(part, doors, id[0]);
        const std::vector<Cell> to = AnyOf(part, doors, other[1]);
        std::vector<Portal> portals;
        for (std::size_t i = 0; i < doors; ++i) {
          portals.push_back(testing::Between(absl::StrCat("p", i), from[i], to[i]));
          portals.back().to_map = other;
        }
        world.maps.emplace(id, testing::With(blank, portals));
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

// Doors to a small map and back make a matrix of a large one no flood of all cells.
TEST_F(CostMatrixCliffTest, ASmallMapBesideALargeOneExpandsLittleMore) {
  const GridMap large = MakeFieldMap({.layout = FieldLayout::kNoise, .side = 384});
  const std::vector<Cell> part = LargestPart(large);
  const GridMap small = MakeFieldMap({.layout = FieldLayout::kOpen, .side = 10});
  const std::vector<Cell> cells = LargestPart(small);
  testing::Maps world;
  std::vector<Portal> out;
  std::vector<Portal> back;
  const std::vector<Cell> from = AnyOf(part, 60, 3);
  const std::vector<Cell> to = AnyOf(part, 60, 4);
  for (std::size_t i = 0; i < from.size(); ++i) {
    out.push_back(testing::Between(absl::StrCat("out", i), from[i], cells[i]));
    out.back().to_map = "small";
    back.push_back(testing::Between(absl::StrCat("back", i), cells[cells.size() - 1 - i], to[i]));
    back.back().to_map = "large";
  }
  world.maps.emplace("large", testing::With(large, out));
  world.maps.emplace("small", testing::With(small, back));
  const std::vector<Cell> starts = AnyOf(part, 32, 1);
  const std::vector<Cell> goals = AnyOf(part, 32, 2);
  NoWorld nothing;
  EXPECT_LE(Matrix(world.maps.at("large"), world, starts, goals), 3 * Matrix(large, nothing, starts, goals));
}

// A map and two others, with doors from each to the next, and from the second back too.
TEST_F(CostMatrixCliffTest, MoreDoorsToOtherMapsExpandLittleMoreThanFloodsOfAll) {
  for (const FieldCosts costs : {FieldCosts::kOne, FieldCosts::kMud}) {
    const GridMap blank = MakeFieldMap({.layout = FieldLayout::kNoise, .costs = costs, .side = 96});
    const std::vector<Cell> part = LargestPart(blank);
    for (const std::size_t doors : {62U, 125U, 250U, 500U}) {
      SCOPED_TRACE(absl::StrCat("costs ", static_cast<int>(costs), ", ", doors, " doors"));
      testing::Maps world;
      std::uint64_t seed = 1;
      for (const auto& [id, others] :
           {std::pair("home", std::vector{"near"}), std::pair("near", std::vector{"home", "far"}),
            std::pair("far", std::vector{"near"})}) {
        std::vector<Portal> portals;
        for (const char* other : others) {
          const std::vector<Cell> from = AnyOf(part, doors, seed++);
          const std::vector<Cell> to = AnyOf(part, doors, seed++);
          for (std::size_t i = 0; i < doors; ++i) {
            portals.push_back(testing::Between(absl::StrCat(other, i), from[i], to[i]));
            portals.back().to_map = other;
          }
        }
        world.maps.emplace(id, testing::With(blank, portals));
      }
      for (const auto [source_count, target_count] : {Lists{4, 16}, Lists{32, 8}}) {
        const std::uint64_t floods = std::min(source_count, target_count) * 3 * part.size();
        EXPECT_LE(Matrix(world.maps.at("home"), world, AnyOf(part, source_count, 101),
                         AnyOf(part, target_count, 102)),
                  2 * floods);
      }
    }
  }
}

}  // namespace
}  // namespace waystar::core
