// Small files that show faults which people report of importers, from the folder of the benchmark's data.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/detect/map_folder.h"
#include "tests/formats/files.h"
#include "tests/testing/movingai_data.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::waystar::testing::DataFolder;
using ::waystar::testing::ImportedRows;
using ::waystar::testing::ImportGrid;
using ::waystar::testing::IsOk;
using ::waystar::testing::NotesOf;
using ::waystar::testing::Rows;

class ReportsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<std::filesystem::path> data = DataFolder();
    if (!data || !std::filesystem::exists(*data / "reports")) {
      GTEST_SKIP() << "WAYSTAR_DATA names no folder with reports";
    }
    folder_ = *data / "reports";
  }

  std::string File(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    EXPECT_TRUE(in.good()) << name;
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  std::filesystem::path folder_;
};

TEST_F(ReportsTest, OldJsonOfTiled) {
  EXPECT_THAT(ImportedRows(File("01-old-tiled-json/wall.json")), ElementsAre("....", "###.", "...."));
  EXPECT_THAT(ImportedRows(File("01-old-tiled-json/shapes.json")), ElementsAre("....", "###.", "...."));
  EXPECT_THAT(ImportedRows(File("01-old-tiled-json/layer.json")), ElementsAre("....", "####", "...."));
  for (const std::string name : {"wall", "shapes", "layer"}) {
    EXPECT_THAT(NotesOf(File("01-old-tiled-json/" + name + ".json")), ::testing::IsEmpty()) << name;
  }
}

TEST_F(ReportsTest, ClassesAlone) {
  EXPECT_THAT(ImportedRows(File("02-class-only-tile/torch.tmx")), ElementsAre("....", "####", "...."));
  EXPECT_THAT(ImportedRows(File("02-class-only-tile/brick.tmx")), ElementsAre("....", "####", "...."));
}

TEST_F(ReportsTest, AlignmentOfPictures) {
  EXPECT_THAT(ImportedRows(File("04-object-alignment/align.tmx")),
              ElementsAre(".....", ".....", ".#...", ".....", "....."));
  EXPECT_THAT(ImportedRows(File("04-object-alignment/iso.tmx")), ElementsAre("....", ".#..", "....", "...."));
}

TEST_F(ReportsTest, NumbersInJson) {
  for (const std::string name : {"toll.json", "toll.tmx"}) {
    const GridMap map = ImportGrid(File("05-json-numbers-six-digits/" + name));
    EXPECT_EQ(map.StraightCost({1, 0}), CostFromDouble(123.456789)) << name;
    EXPECT_EQ(map.settings().frame.cell_size, 0.123456789) << name;
  }
  const auto graph = ImportMap(MapFormat::kGeoJson, File("05-json-numbers-six-digits/ids.geojson"), {});
  ASSERT_THAT(graph, IsOk());
  EXPECT_NE(std::get<WaypointGraph>(*graph).FindNode("4005001001"), kNoNodeNumber);
  EXPECT_NE(std::get<WaypointGraph>(*graph).FindNode("4005009002"), kNoNodeNumber);
}

TEST_F(ReportsTest, TypesInGeoJson) {
  const auto imported = ImportMap(MapFormat::kGeoJson, File("06-geojson-silent-types/types.geojson"), {});
  ASSERT_THAT(imported, IsOk());
  const auto& graph = std::get<WaypointGraph>(*imported);
  const Arc* const arc = graph.FindArc(graph.FindNode("a"), graph.FindNode("b"));
  ASSERT_NE(arc, nullptr);
  EXPECT_EQ(arc->cost, CostFromDouble(12.0));
  EXPECT_EQ(arc->flags & Arc::kEnabled, 0);
  EXPECT_EQ(graph.FindArc(graph.FindNode("b"), graph.FindNode("a")), nullptr);
}

TEST_F(ReportsTest, Templates) {
  const std::string spawn = File("09-templates/spawn.tmx");
  EXPECT_THAT(ImportedRows(spawn), ElementsAre("..", ".."));
  EXPECT_THAT(NotesOf(spawn), Contains(HasSubstr("hero.tx")));
  const auto loaded = LoadMapFile({.path = folder_ / "09-templates" / "spawn.tmx", .id = "spawn"}, 100);
  ASSERT_THAT(loaded, IsOk());
  EXPECT_THAT(Rows(std::get<GridMap>(loaded->maps.front().map)), ElementsAre("..", ".."));
}

}  // namespace
}  // namespace waystar::core
