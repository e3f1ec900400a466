// What a map derives from its cells is a function of the cells alone, whatever edits led to them: repaired or
// remade, for agents of any size, it equals what a map has that was never edited; but for diagonal stops, of
// which there may be some without need.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/jumps/diagonal_jump_index.h"
#include "server/core/grid/jumps/turn_jump_index.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "tests/testing/diagonal_jump_index_match.h"
#include "tests/testing/generator.h"
#include "tests/testing/plainness.h"
#include "tests/testing/random.h"
#include "tests/testing/rules.h"

namespace waystar::core {
namespace {

constexpr int kFootprints[] = {1, 2, 3, 5};

bool HasPlainCells(const GridMap& map) { return map.settings().connectivity == Connectivity::kEight; }

// Brings up to date what lags.
void MakeStops(const WalkGrid& grid) {
  for (const CornerRule rule : kRules) {
    ASSERT_NE(grid.MakeDiagonalJumpIndex(rule), nullptr);
  }
  ASSERT_NE(grid.MakeTurnJumpIndex(), nullptr);
}

// Asks for all there is, so that edits have it to repair.
void MakeAll(const GridMap& map) {
  for (const int footprint : kFootprints) {
    const auto grid = map.walk(footprint);
    MakeStops(*grid);
    for (const Adjacency adjacency : kAdjacencies) {
      grid->components(adjacency);
    }
  }
  if (HasPlainCells(map)) {
    JudgeAll(map);
  }
}

// The walkable cells by what makes them so.
BitPlane WalkableCells(const GridMap& map) {
  BitPlane cells(map.width(), map.height(), false);
  BitPlaneWriter writer(cells);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const bool impassable = map.settings().terrains[map.TerrainAt({x, y})].impassable;
      AssignBit(writer.row(y), x, !impassable && !map.HasObstacle({x, y}));
    }
  }
  return cells;
}

// Bit for bit, of `lines` rows or columns that are `length` cells long.
template <typename LineOf>
void ExpectSameLines(LineOf actual, LineOf expected, int lines, int length) {
  const auto words = static_cast<std::size_t>(WordsPerRow(length));
  for (int i = 0; i < lines; ++i) {
    ASSERT_EQ(std::vector<Word>(actual(i), actual(i) + words),
              std::vector<Word>(expected(i), expected(i) + words))
        << "line " << i;
  }
}

void ExpectSamePlanes(const BitPlane& actual, const BitPlane& expected) {
  ASSERT_EQ(actual.width(), expected.width());
  ASSERT_EQ(actual.height(), expected.height());
  const auto rows_of = [](const BitPlane& plane) { return [&plane](int y) { return plane.row(y); }; };
  ExpectSameLines(rows_of(actual), rows_of(expected), actual.height(), actual.width());
}

// The same cells, in the same parts.
void ExpectSameComponents(const Components& actual, const Components& expected, int width, int height) {
  std::map<std::pair<const ComponentBlock*, ComponentNumber>, ComponentId> actual_of;
  std::map<std::pair<const ComponentBlock*, ComponentNumber>, ComponentId> expected_of;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const ComponentId a = actual.Find({x, y});
      const ComponentId e = expected.Find({x, y});
      ASSERT_EQ(a.block == nullptr, e.block == nullptr) << x << ", " << y;
      ASSERT_EQ(actual_of.try_emplace({e.block, e.number}, a).first->second, a) << x << ", " << y;
      ASSERT_EQ(expected_of.try_emplace({a.block, a.number}, e).first->second, e) << x << ", " << y;
    }
  }
  EXPECT_EQ(actual.memory_bytes(), expected.memory_bytes());
}

void ExpectMadeOf(const WalkGrid& grid, const BitPlane& cells) {
  ExpectSamePlanes(grid.rows(), cells);
  ExpectSamePlanes(grid.columns(), Transposed(cells));
  const WalkGrid afresh(cells);
  for (const CornerRule rule : kRules) {
    SCOPED_TRACE(absl::StrCat("diagonal stops, rule ", static_cast<int>(rule)));
    ExpectNoStopMissing(grid, *grid.MakeDiagonalJumpIndex(rule), DiagonalJumpIndex(afresh, rule));
  }
  const auto turns_of = [](const TurnJumpIndex& turns) { return [&turns](int y) { return turns.Row(y); }; };
  {
    SCOPED_TRACE("turn stops");
    const TurnJumpIndex turns(afresh);
    ExpectSameLines(turns_of(*grid.MakeTurnJumpIndex()), turns_of(turns), grid.height(), grid.width());
  }
  for (const Adjacency adjacency : kAdjacencies) {
    SCOPED_TRACE(absl::StrCat("components, adjacency ", static_cast<int>(adjacency)));
    ExpectSameComponents(grid.components(adjacency), Components(cells, adjacency), grid.width(),
                         grid.height());
  }
}

void ExpectSamePlainCells(const GridMap& map) {
  const PlainCells afresh(map);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      ASSERT_TRUE(PlainnessAt(map.plain_cells(), map, {x, y}) == PlainnessAt(afresh, map, {x, y}))
          << x << ", " << y;
    }
  }
}

// All that MakeAll makes must be there, and right.
void ExpectDerivedFromItsCells(const GridMap& map) {
  for (const int footprint : kFootprints) {
    MakeStops(*map.walk(footprint));
  }
  if (HasPlainCells(map)) {
    JudgeAll(map);
  }
  const std::size_t bytes = map.memory_bytes();
  const BitPlane cells = WalkableCells(map);
  for (const int footprint : kFootprints) {
    SCOPED_TRACE(absl::StrCat("footprint ", footprint));
    ExpectMadeOf(*map.walk(footprint), Eroded(cells, footprint));
  }
  if (HasPlainCells(map)) {
    SCOPED_TRACE("plain cells");
    ExpectSamePlainCells(map);
  }
  EXPECT_EQ(map.memory_bytes(), bytes) << "an edit let go of something that had been made";
}

// Of any size, from a cell to all of the map, and often along its sides.
Rectangle RandomRectangle(const GridMap& map, Generator& generator) {
  const Cell cell = generator.CellOf(map);
  switch (generator.Between(0, 6)) {
    case 0:
      return {0, cell.y, map.width(), 1};
    case 1:
      return {cell.x, 0, 1, map.height()};
    case 2:
      return {cell.x - 3, cell.y - 3, generator.Between(4, 70), generator.Between(4, 12)};
    case 3:
      return {generator.Chance(0.5) ? 0 : map.width() - 1, cell.y, 1, generator.Between(1, 3)};
    default:
      return {cell.x, cell.y, 1, 1};
  }
}

GridMap Edited(const GridMap& map, Generator& generator) {
  std::vector<Edit> edits;
  const auto paint = [&](const Rectangle& rectangle) {
    Shape shape{.rectangles = {rectangle}};
    if (generator.Chance(0.5)) {
      edits.emplace_back(BlockCells{std::move(shape)});
    } else {
      edits.emplace_back(UnblockCells{std::move(shape)});
    }
  };
  if (generator.Chance(0.2)) {
    // More than a quarter of the map.
    paint({0, generator.Between(0, map.height() / 4), map.width(), map.height() / 2 + 1});
  }
  for (int i = generator.Between(1, 4); i > 0; --i) {
    paint(RandomRectangle(map, generator));
  }
  auto edited = ApplyEdits(map, edits);
  EXPECT_TRUE(edited.ok()) << edited.status();
  return std::move(edited->map);
}

// A few rows given other terrain, some of it impassable; their obstacles go.
GridMap Repainted(const GridMap& map, Generator& generator) {
  GridMapEditor editor(map);
  for (int i = generator.Between(1, 2); i > 0; --i) {
    const int y = generator.Between(0, map.height() - 1);
    std::vector<TerrainId> row(map.TerrainRow(y), map.TerrainRow(y) + map.width());
    const int terrains = static_cast<int>(map.settings().terrains.size());
    for (TerrainId& cell : row) {
      cell = generator.Chance(0.1) ? static_cast<TerrainId>(generator.Between(0, terrains - 1)) : cell;
    }
    editor.SetRow(y, row);
  }
  return std::move(editor).Finish();
}

// The part of the words of walkable cells that differ.
double ChangedPart(const GridMap& a, const GridMap& b) {
  int changed = 0;
  const int words = WordsPerRow(a.width());
  for (int y = 0; y < a.height(); ++y) {
    for (int i = 0; i < words; ++i) {
      changed += a.walk().Row(y)[i] != b.walk().Row(y)[i] ? 1 : 0;
    }
  }
  return static_cast<double>(changed) / (words * a.height());
}

class DerivedTest : public ::testing::TestWithParam<MapSpec> {};

TEST_P(DerivedTest, EditedEqualsMadeAfresh) {
  int small_edits = 0;
  int remade = 0;
  const std::uint64_t maps = Rounds(GetParam().max_side > 100 ? 12 : 30);
  for (std::uint64_t seed = 1; seed <= maps; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    GridMap map = generator.Map(GetParam());
    MakeAll(map);
    for (int round = 0; round < 8; ++round) {
      SCOPED_TRACE(absl::StrCat("round ", round));
      const GridMap before = map;
      map = generator.Chance(0.2)   ? Repainted(before, generator)
            : generator.Chance(0.2) ? generator.WithStepCostsChanged(before)
                                    : Edited(before, generator);
      const double part = ChangedPart(before, map);
      small_edits += part > 0.0 && part < 0.05 ? 1 : 0;
      remade += part > 0.25 ? 1 : 0;
      // Else the stops are left behind by several edits.
      if (generator.Chance(0.7)) {
        ExpectDerivedFromItsCells(map);
      }
      if (round == 3) {
        ExpectDerivedFromItsCells(before);
      }
      ASSERT_FALSE(HasFailure());
    }
  }
  // Repair and remaking both had their turn.
  EXPECT_GE(small_edits, maps);
  EXPECT_GE(remade, maps / 3);
}

std::string NameOfSpec(const ::testing::TestParamInfo<MapSpec>& info) {
  const MapSpec& spec = info.param;
  return absl::StrCat(ConnectivityName(spec.connectivity), spec.weighted ? "Weighted" : "Uniform", "Side",
                      spec.max_side);
}

INSTANTIATE_TEST_SUITE_P(
    Maps, DerivedTest,
    ::testing::Values(MapSpec{.max_side = 70}, MapSpec{.max_side = 70, .weighted = true},
                      MapSpec{.max_side = 300, .max_cells = 16000},
                      MapSpec{.max_side = 300, .max_cells = 16000, .weighted = true},
                      MapSpec{.max_side = 300, .max_cells = 16000, .connectivity = Connectivity::kFour},
                      MapSpec{.max_side = 300, .max_cells = 16000, .connectivity = Connectivity::kSix}),
    NameOfSpec);

}  // namespace
}  // namespace waystar::core
