// Imports: formats, options, notes, and stops.
#include "server/formats/detect/import_map.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/core/codec/map_image.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/text/rows.h"
#include "tests/formats/files.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;
using ::testing::SizeIs;
using ::waystar::testing::Gif;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PalettePng;
using ::waystar::testing::Png;
using ::waystar::testing::StopAfter;
using ::waystar::testing::TiledXml;
using ::waystar::testing::TileLayer;
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

TEST(ImportNotesTest, CountsNotesOfOneText) {
  ImportNotes notes;
  notes.Add("hidden layers", "layer \"a\"");
  notes.Add("nothing blocks");
  notes.Add("hidden layers", "layer \"b\"");
  EXPECT_THAT(notes.notes(),
              ElementsAre(ImportNote{.text = "hidden layers", .first_place = "layer \"a\"", .count = 2},
                          ImportNote{.text = "nothing blocks", .first_place = "", .count = 1}));
  EXPECT_EQ(LineOf(notes.notes()[0]), "hidden layers: layer \"a\" and 1 more");
  EXPECT_EQ(LineOf(notes.notes()[1]), "nothing blocks");
}

TEST(ImportNotesTest, KeepsSoManyTexts) {
  ImportNotes notes;
  for (std::size_t i = 0; i < ImportNotes::kMaxNotes + 3; ++i) {
    notes.Add(absl::StrCat("text ", i));
  }
  ASSERT_THAT(notes.notes(), SizeIs(ImportNotes::kMaxNotes + 1));
  EXPECT_EQ(LineOf(notes.notes().back()), "notes of other kinds, 3 times");
}

TEST(ImportNotesTest, SomeNamesSoundLikeWalls) {
  for (const char* const name :
       {"wall", "Wall_1", "StoneWall", "STONE WALLS", "collision-layer", "isSolid", "2 blockers", "fence"}) {
    EXPECT_TRUE(SoundsLikeWall(name)) << name;
  }
  for (const char* const name : {"", "wallpaper", "walk", "Ground", "consolidate", "unblocked", "path"}) {
    EXPECT_FALSE(SoundsLikeWall(name)) << name;
  }
}

constexpr int kSide = 200;

struct Sample {
  std::string name;
  MapFormat format = MapFormat::kText;
  std::string bytes;
};

std::vector<std::string> DottedRows() {
  std::vector<std::string> rows(kSide, std::string(kSide, '.'));
  for (std::size_t y = 0; y < kSide; y += 3) {
    rows[y][y] = '#';
  }
  return rows;
}

std::string Numbers(absl::string_view odd) {
  std::vector<std::string> numbers;
  for (int i = 0; i < kSide * kSide; ++i) {
    numbers.emplace_back(i % 7 == 0 ? odd : "1");
  }
  return absl::StrJoin(numbers, ",");
}

std::string ImageOfRows() {
  std::vector<std::string> rows = DottedRows();
  const std::vector<absl::string_view> views(rows.begin(), rows.end());
  return EncodeImage(ParseRows(views, {}, {}).value());
}

std::string Roads() {
  std::vector<std::string> features;
  for (int i = 0; i < kSide; ++i) {
    features.push_back(absl::StrCat(
        R"({"type": "Feature", "properties": null, "geometry": {"type": "Point", "coordinates": [)", i,
        ", 0]}}"));
  }
  return absl::StrCat(R"({"type": "FeatureCollection", "features": [)", absl::StrJoin(features, ","), "]}");
}

std::vector<Sample> AllSamples() {
  const std::string text = absl::StrCat(absl::StrJoin(DottedRows(), "\n"), "\n");
  const std::string size = absl::StrCat("width=\"", kSide, "\" height=\"", kSide, "\"");
  std::vector<std::uint32_t> pixels(kSide * kSide, 0xFFFFFFFF);
  std::vector<std::uint8_t> indices(kSide * kSide, 0);
  for (std::size_t i = 0; i < pixels.size(); i += 5) {
    pixels[i] = 0x000000FF;
    indices[i] = 1;
  }
  return {
      {"text", MapFormat::kText, text},
      {"hexagons", MapFormat::kText, absl::StrCat("hexagons odd_rows\nmap\n", text)},
      {"Moving AI", MapFormat::kMovingAi,
       absl::StrCat("type octile\nheight ", kSide, "\nwidth ", kSide, "\nmap\n", text)},
      {"map image", MapFormat::kWaystar, ImageOfRows()},
      {"Tiled in XML", MapFormat::kTiled,
       TiledXml(absl::StrCat("orientation=\"orthogonal\" ", size),
                TileLayer("ground", kSide, kSide, Numbers("2")))},
      {"Tiled in JSON", MapFormat::kTiled,
       absl::StrCat(R"({"orientation": "orthogonal", "width": )", kSide, R"(, "height": )", kSide,
                    R"(, "layers": [{"name": "ground", "type": "tilelayer", "width": )", kSide,
                    R"(, "height": )", kSide, R"(, "data": [)", Numbers("0"),
                    R"(]}], "tilesets": [{"firstgid": 1, "tilecount": 4, "tiles": []}]})")},
      {"LDtk", MapFormat::kLdtk,
       absl::StrCat(R"({"__header__": {}, "jsonVersion": "1.5.3", "levels": [{"identifier": "Hall",
            "layerInstances": [{"__identifier": "Walls", "__type": "IntGrid", "__gridSize": 16, "__cWid": )",
                    kSide, R"(, "__cHei": )", kSide, R"(, "intGridCsv": [)", Numbers("0"), R"(]}]}]})")},
      {"PNG", MapFormat::kImage, Png(kSide, kSide, pixels)},
      {"PNG with a palette", MapFormat::kImage, PalettePng(kSide, kSide, indices, {0xFFFFFFFF, 0x000000FF})},
      {"GIF", MapFormat::kImage, Gif(kSide, kSide, indices, {0xFFFFFFFF, 0x000000FF})},
      {"WebP", MapFormat::kImage, Webp(kSide, kSide, pixels)},
      {"GeoJSON", MapFormat::kGeoJson, Roads()},
  };
}

ImportOptions With(const Sample& file, const StopCheck& stop) {
  ImportOptions options;
  options.grid.stop = &stop;
  options.terrains = file.name == "LDtk" ? "else blocked" : "";
  return options;
}

TEST(StoppedImportTest, LooksForEachRowAndEndsSoonAfterTheLookThatStopsIt) {
  for (const Sample& file : AllSamples()) {
    SCOPED_TRACE(file.name);
    const StopAfter never;
    ASSERT_THAT(ImportMap(file.format, file.bytes, With(file, never)), IsOk());
    EXPECT_THAT(never.looks(), Ge(kSide));
    for (const int allowed : {0, 1, 2, 3, kSide / 2, never.looks() - 2}) {
      const StopAfter stop(allowed);
      EXPECT_THAT(ImportMap(file.format, file.bytes, With(file, stop)),
                  IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""))
          << "after " << allowed;
      // A few more, on the way back.
      EXPECT_THAT(stop.looks(), Le(allowed + 6));
    }
  }
}

// One long string is no value that a parser tells of before it ends.
TEST(StoppedImportTest, LooksWithinLongText) {
  const std::string file = absl::StrCat("{\"orientation\": \"", std::string(1 << 20, 'x'), "\"}");
  const StopAfter stop(3);
  ImportOptions options;
  options.grid.stop = &stop;
  EXPECT_THAT(ImportMap(MapFormat::kTiled, file, options),
              IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
}

}  // namespace
}  // namespace waystar::core
