#include "server/formats/detect/import_map.h"

#include <optional>
#include <string>
#include <variant>

#include "gmock/gmock.h"
#include "tests/formats/files.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Gif;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;
using ::waystar::testing::Png;
using ::waystar::testing::TiledXml;
using ::waystar::testing::Webp;

TEST(DetectFormatTest, GoesByHowBytesBegin) {
  EXPECT_EQ(DetectFormat("type octile\nheight 1"), MapFormat::kMovingAi);
  EXPECT_EQ(DetectFormat("\xEF\xBB\xBFType octile\r\nHeight 1"), MapFormat::kMovingAi);
  EXPECT_EQ(DetectFormat("\n width 4\nheight 1\nmap\n....\n"), MapFormat::kMovingAi);
  EXPECT_EQ(DetectFormat("type\n...."), MapFormat::kText) << "rows of the terrains t, y, p and e";
  EXPECT_EQ(DetectFormat("...\n"), MapFormat::kText);
  EXPECT_EQ(DetectFormat(""), MapFormat::kText);
  EXPECT_EQ(DetectFormat("{..{\n"), MapFormat::kText);
  EXPECT_EQ(DetectFormat("<..<\n"), MapFormat::kText);
  EXPECT_EQ(DetectFormat(TiledXml("", "")), MapFormat::kTiled);
  EXPECT_EQ(DetectFormat(R"(<map version="1.0">)"), MapFormat::kTiled);
  EXPECT_EQ(DetectFormat(R"( {"layers": [], "orientation": "orthogonal"})"), MapFormat::kTiled);
  EXPECT_EQ(DetectFormat("{\n \"compressionlevel\": -1, \"layers\": ["), MapFormat::kTiled) << "cut off";
  EXPECT_EQ(DetectFormat(R"({"__header__": {}, "jsonVersion": "1.5.3"})"), MapFormat::kLdtk);
  EXPECT_EQ(DetectFormat(R"({"type": "FeatureCollection", "features": []})"), MapFormat::kGeoJson);
  EXPECT_EQ(DetectFormat(R"({"vertices": [], "indices": []})"), MapFormat::kUnity);
  EXPECT_EQ(DetectFormat("mesh\n2\n0 0\n"), MapFormat::kPolyanya);
  EXPECT_EQ(DetectFormat(std::string("TESM\1\0\0\0", 8)), MapFormat::kDetour);
  EXPECT_EQ(DetectFormat("[gd_scene load_steps=2 format=3]\n"), MapFormat::kGodot);
  EXPECT_EQ(DetectFormat("# Blender\no Plane\nv 1.0 0.5 -2\n"), MapFormat::kObj);
  EXPECT_EQ(DetectFormat("# # #\n. . .\n"), MapFormat::kText);
  EXPECT_EQ(DetectFormat("v v\nv v\n"), MapFormat::kText) << "v is a terrain";
  EXPECT_EQ(DetectFormat(Png(1, 1, {0xFF})), MapFormat::kImage);
  EXPECT_EQ(DetectFormat(Webp(1, 1, {0xFF})), MapFormat::kImage);
  EXPECT_EQ(DetectFormat(Gif(1, 1, {0}, {0xFF, 0xFF})), MapFormat::kImage);
}

TEST(ImportMapTest, AFileMayBeAGridOrAGraph) {
  const auto grid = ImportMap(MapFormat::kText, "..#\n", {});
  ASSERT_THAT(grid, IsOk());
  EXPECT_TRUE(std::holds_alternative<GridMap>(*grid));
  const auto graph = ImportMap(MapFormat::kGeoJson, R"({"type": "FeatureCollection", "features": []})", {});
  ASSERT_THAT(graph, IsOk());
  EXPECT_TRUE(std::holds_alternative<WaypointGraph>(*graph));
}

TEST(ImportMapTest, AxesSayWhichWayIsUp) {
  constexpr absl::string_view kTriangle = "v 0 5 0\nv 4 5 0\nv 0 5 2\nf 1 2 3\n";
  const auto highest = [&](std::optional<MeshAxes> axes) {
    const auto map = ImportMap(MapFormat::kObj, kTriangle, {.axes = axes});
    EXPECT_THAT(map, IsOk());
    return std::get<NavMesh>(*map).bounds().high;
  };
  EXPECT_EQ(highest(std::nullopt), (WorldPoint{4, 2, 5}));
  EXPECT_EQ(highest(MeshAxes::kYUp), (WorldPoint{4, 2, 5}));
  EXPECT_EQ(highest(MeshAxes::kUnreal), (WorldPoint{0, 0, 5}));
  // On its side it has no area.
  EXPECT_THAT(ImportMap(MapFormat::kObj, kTriangle, {.axes = MeshAxes::kZUp}),
              IsError(kInvalid, ErrorReason::kBadSize, ""));
  for (const MapFormat format : {MapFormat::kText, MapFormat::kPolyanya, MapFormat::kGeoJson}) {
    EXPECT_THAT(ImportMap(format, "...", {.axes = MeshAxes::kYUp}),
                IsError(kInvalid, ErrorReason::kBadValue, "import_options.axes"));
  }
}

TEST(ImportMapTest, RefusesOptionsThatAFormatHasNoUseFor) {
  EXPECT_THAT(ImportMap(MapFormat::kText, "...", {.terrains = "else blocked"}),
              IsError(kInvalid, ErrorReason::kBadValue, "import_options.terrains"));
  EXPECT_THAT(ImportMap(MapFormat::kTiled, "<map/>", {.level = "Cellar"}),
              IsError(kInvalid, ErrorReason::kBadValue, "import_options.level"));
  EXPECT_THAT(ImportMap(MapFormat::kImage, "", {.layers = {"ground"}}),
              IsError(kInvalid, ErrorReason::kBadValue, "import_options.layers"));
  EXPECT_THAT(ImportMap(MapFormat::kImage, Png(1, 1, {0xFF}), {.terrains = "\nsea 3"}),
              IsError(kInvalid, ErrorReason::kBadFormat, "import_options.terrains"));
}

}  // namespace
}  // namespace waystar::core
