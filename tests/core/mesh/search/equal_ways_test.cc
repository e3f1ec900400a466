// Meshes where many of the shortest paths are equally long.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_flood.h"
#include "tests/core/mesh/search/sight_graph.h"

namespace waystar::core {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;

using Rows = std::vector<std::string>;

// A hall with so many columns a side, from whose far corner a passage leads back along two walls to the last
// row: no path goes straight towards the end of the passage.
Rows Hall(std::size_t columns) {
  const std::size_t side = 2 * columns + 1;
  Rows rows = {std::string(side + 4, '.'), "." + std::string(side + 2, '#') + "."};
  for (std::size_t y = 0; y < side; ++y) {
    std::string row(side, '.');
    for (std::size_t x = 1; y % 2 == 1 && x < side; x += 2) {
      row[x] = '#';
    }
    rows.push_back(".#" + row + (y == 0 ? ".." : "##"));
  }
  return rows;
}

// Square blocks of houses between streets.
Rows CityBlocks(std::size_t blocks) {
  const std::size_t side = 4 * blocks + 1;
  Rows rows(side, std::string(side, '.'));
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      rows[y][x] = x % 4 != 0 && y % 4 != 0 ? '#' : '.';
    }
  }
  return rows;
}

// Equal steps from corner to corner, each with as long a way on either side of a block.
Rows Stairs(std::size_t steps) {
  const std::size_t side = 2 * steps + 1;
  Rows rows(side, std::string(side, '#'));
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        rows[2 * step + i][2 * step + j] = i == 1 && j == 1 ? '#' : '.';
      }
    }
  }
  return rows;
}

// Columns that touch at their corners, in pairs.
Rows Pairs(std::size_t pairs) {
  const std::size_t side = 4 * pairs + 1;
  Rows rows(side, std::string(side, '.'));
  for (std::size_t y = 1; y < side; y += 4) {
    for (std::size_t x = 1; x < side; x += 4) {
      rows[y][x] = '#';
      rows[y + 1][x + 1] = '#';
    }
  }
  return rows;
}

MeshSpec WithMovedVertices(MeshSpec spec) {
  Random random(1);
  for (WorldPoint& vertex : spec.vertices) {
    vertex.x += random.Between(-30, 30) / 1000.0;
    vertex.y += random.Between(-30, 30) / 1000.0;
  }
  return spec;
}

// Expansions of a search between two places, and of a flood from the first.
struct Work {
  std::uint64_t search = 0;
  std::uint64_t flood = 0;
};

Work WorkOn(const MeshSpec& spec, const WorldPoint& from, const WorldPoint& to) {
  const NavMesh mesh = MeshOf(spec);
  const MeshPlace start = mesh.FindNearest({from, 0.2, 1.0}).value();
  const MeshPlace goal = mesh.FindNearest({to, 0.2, 1.0}).value();
  MeshScratch scratch(std::size_t{1} << 25);
  const MeshSearchReport path = SearchMesh(mesh, {start, goal}, Budget{}, scratch);
  EXPECT_EQ(path.end, SearchEnd::kGoalReached);
  const MeshFloodReport flood = FloodMesh(mesh, {.seeds = {&start, 1}}, Budget{}, scratch);
  EXPECT_EQ(flood.end, SearchEnd::kExhausted);
  return {path.statistics.expanded, flood.statistics.expanded};
}

// Expects that it takes about as much work as where vertices are moved a bit, so that no two ways are equally
// long.
void ExpectNoMoreWork(const Rows& rows, const WorldPoint& from, const WorldPoint& to) {
  SCOPED_TRACE(::testing::Message() << rows.size() << " rows");
  const MeshSpec spec = DrawRooms(rows);
  const Work work = WorkOn(spec, from, to);
  const Work moved = WorkOn(WithMovedVertices(spec), from, to);
  EXPECT_LE(work.search, 2 * moved.search);
  EXPECT_LE(work.flood, 2 * moved.flood);
}

TEST(EqualWaysTest, MultiplyNoWork) {
  for (const std::size_t size : {4U, 8U, 16U, 32U, 64U}) {
    const double end = 2.0 * static_cast<double>(size) + 0.5;
    ExpectNoMoreWork(Stairs(size), {0.5, 0.5, 0.0}, {end, end, 0.0});
    if (size <= 32) {
      ExpectNoMoreWork(Hall(size), {2.5, end + 2.0, 0.0}, {0.5, end + 2.0, 0.0});
      ExpectNoMoreWork(CityBlocks(size), {0.5, 0.5, 0.0}, {2.0 * end - 0.5, 2.0 * end - 0.5, 0.0});
    }
    if (size <= 16) {
      ExpectNoMoreWork(Pairs(size), {0.5, 0.5, 0.0}, {2.0 * end - 0.5, 2.0 * end - 0.5, 0.0});
    }
  }
}

// Judges paths from a random place to others, and a flood from there, by the oracle.
void JudgePathsOn(const NavMesh& mesh, Random& random) {
  const SightGraph oracle(mesh);
  MeshScratch scratch(std::size_t{1} << 25);
  const MeshPlace start = RandomPlace(mesh, random);
  const auto is_about = [](double length) {
    return AllOf(Ge(length - 1e-9 * (1.0 + length)), Le(length + 1e-9 * (1.0 + length)));
  };
  for (int i = 0; i < 30; ++i) {
    const MeshPlace goal = RandomPlace(mesh, random);
    const MeshSearchReport report = SearchMesh(mesh, {start, goal}, Budget{}, scratch);
    if (report.end == SearchEnd::kGoalReached) {
      EXPECT_THAT(report.length, is_about(oracle.Length(start, goal))) << Between(start, goal.point);
    }
  }
  const MeshFloodReport flood =
      FloodMesh(mesh, {.seeds = {&start, 1}, .aim = FloodAim::kMiddle}, Budget{}, scratch);
  for (const MeshFloodPath& path : flood.paths) {
    EXPECT_THAT(path.length, is_about(oracle.Length(start, {path.polygon, path.point})))
        << Between(start, path.point);
  }
}

// Where some squares are filled or cleared, one of equally long ways sees more than the others.
TEST(EqualWaysOracleTest, EveryPathIsShortest) {
  const std::vector<Rows> drawings = {Hall(3), CityBlocks(2), Stairs(4), Pairs(2)};
  ForSeeds(40, [&](Random& random) {
    Rows rows = drawings[static_cast<std::size_t>(random.Between(0, 3))];
    for (std::string& row : rows) {
      for (char& square : row) {
        if (random.Chance(0.05)) {
          square = square == '#' ? '.' : '#';
        }
      }
    }
    rows[0][0] = '.';
    JudgePathsOn(MeshOf(DrawRooms(rows, random.Chance(0.5) ? &random : nullptr)), random);
  });
}

}  // namespace
}  // namespace waystar::core
