// Imports whose caller is gone: they look often, and end soon after the look that says so.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/core/codec/map_image.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/text/rows.h"
#include "tests/formats/files.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::testing::Ge;
using ::testing::Le;
using ::waystar::testing::Gif;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::PalettePng;
using ::waystar::testing::Png;
using ::waystar::testing::StopAfter;
using ::waystar::testing::TiledXml;
using ::waystar::testing::TileLayer;
using ::waystar::testing::Webp;

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

TEST(StoppedImportTest, LooksForEachRow) {
  for (const Sample& file : AllSamples()) {
    SCOPED_TRACE(file.name);
    const StopAfter never;
    EXPECT_THAT(ImportMap(file.format, file.bytes, With(file, never)), IsOk());
    EXPECT_THAT(never.looks(), Ge(kSide));
  }
}

TEST(StoppedImportTest, EndsSoonAfterTheLookThatStopsIt) {
  for (const Sample& file : AllSamples()) {
    SCOPED_TRACE(file.name);
    const StopAfter never;
    ASSERT_THAT(ImportMap(file.format, file.bytes, With(file, never)), IsOk());
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
