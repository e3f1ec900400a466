// Files that were made to break what reads them: each is an error, in a moment and in little memory.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/detect/import_map.h"
#include "tests/formats/files.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::HasSubstr;

std::string MessageOf(absl::string_view bytes, const ImportOptions& options = {}) {
  return std::string(ImportMap(DetectFormat(bytes), bytes, options).status().message());
}

std::string Repeated(absl::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&all, text);
  }
  return all;
}

TEST(HostileFilesTest, ObjectsAreBounded) {
  const std::string objects = "{}" + Repeated(",{}", 1 << 18);
  EXPECT_THAT(MessageOf(R"({"orientation": "orthogonal", "width": 1, "height": 1, "tilewidth": 1,
   "tileheight": 1, "layers": [{"type": "objectgroup", "objects": [)" +
                        objects + "]}]}"),
              HasSubstr("more than 262144 objects"));
}

// In no time by the square of their number.
TEST(HostileFilesTest, TilesMayBeMany) {
  std::string properties = R"("0": {"blocked": true})";
  std::string tilesets;
  for (int i = 1; i < 40'000; ++i) {
    absl::StrAppend(&properties, ", \"", i, "\": {}");
    absl::StrAppend(&tilesets, "<tileset firstgid=\"", i + 10, "\"><image/><tile id=\"0\"/></tileset>\n");
  }
  EXPECT_THAT(ImportMap(MapFormat::kTiled,
                        absl::StrCat(R"({"orientation": "orthogonal", "width": 1, "height": 1, "layers": [],
   "tilesets": [{"firstgid": 1, "tileproperties": {)",
                                     properties, "}}]}"),
                        {}),
              IsOk());
  EXPECT_THAT(ImportMap(MapFormat::kTiled, TiledXml(kThreeByTwo, tilesets), {}), IsOk());
}

TEST(HostileFilesTest, EntitiesAreNotExpanded) {
  std::string bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE map [<!ENTITY a0 \"lol\">\n";
  for (int i = 1; i < 30; ++i) {
    absl::StrAppend(&bomb, "<!ENTITY a", i, " \"&a", i - 1, ";&a", i - 1, ";\">\n");
  }
  absl::StrAppend(&bomb, "]>\n<map ", kThreeByTwo, "><layer name=\"&a29;\"/></map>");
  EXPECT_THAT(MessageOf(bomb), HasSubstr("document type"));
  // Files of old versions of Tiled name one and declare nothing.
  const std::string old = absl::StrCat(
      "<?xml version=\"1.0\"?>\n<!DOCTYPE map SYSTEM \"http://mapeditor.org/dtd/1.0/map.dtd\">\n<map ",
      kThreeByTwo, "/>");
  EXPECT_THAT(ImportMap(DetectFormat(old), old, {}), IsOk());
}

TEST(HostileFilesTest, CompressedDataIsReadNoFurtherThanItsCells) {
  const std::string zeros(std::size_t{64} << 20, '\0');
  for (const auto& [name, bomb] :
       {std::pair("zlib", Zlib(zeros)), std::pair("gzip", Gzip(zeros)), std::pair("zstd", Zstd(zeros))}) {
    const std::string layer =
        absl::StrCat(R"(<layer name="l" width="3" height="2"><data encoding="base64" compression=")", name,
                     "\">", absl::Base64Escape(bomb), "</data></layer>");
    EXPECT_THAT(MessageOf(TiledXml(kThreeByTwo, layer)), HasSubstr("exactly the 24 bytes")) << name;
  }
}

TEST(HostileFilesTest, SizesAreCheckedBeforeAnythingIsMadeOfThem) {
  for (const std::string size : {"2147483648", "4294967297", "9223372036854775807", "99999999999999999999",
                                 "-1", "0", "8193", "1e9"}) {
    const std::string attributes =
        absl::StrCat(R"(orientation="orthogonal" width=")", size, "\" height=\"2\"");
    const std::string chunk =
        absl::StrCat(R"(<layer name="l"><data encoding="csv"><chunk x="0" y="0" height="1" width=")", size,
                     "\">1</chunk></data></layer>");
    const std::string level = absl::StrCat(
        R"({"jsonVersion": "1", "levels": [{"layerInstances": [{"__type": "IntGrid", "__cWid": )", size,
        R"(, "__cHei": 2, "__gridSize": 16, "intGridCsv": [1]}]}]})");
    for (const auto& [format, bytes] :
         {std::pair(MapFormat::kTiled, TiledXml(attributes, "")),
          {MapFormat::kTiled,
           absl::StrCat(R"({"orientation": "orthogonal", "width": )", size, R"(, "height": 2})")},
          {MapFormat::kTiled, TiledXml(R"(orientation="orthogonal" infinite="1")", chunk)},
          {MapFormat::kLdtk, level}}) {
      EXPECT_EQ(ImportMap(format, bytes, {}).status().code(), kInvalid) << bytes;
    }
  }
  // Two chunks that are far from each other.
  const std::string apart =
      R"(<layer name="l"><data encoding="csv"><chunk x="-2147483648" y="0" width="1" height="1">1
    </chunk><chunk x="2147483647" y="0" width="1" height="1">1</chunk></data></layer>)";
  EXPECT_THAT(ImportMap(MapFormat::kTiled, TiledXml(R"(orientation="orthogonal" infinite="1")", apart), {}),
              IsError(kInvalid, ErrorReason::kBadSize, ""));
}

TEST(HostileFilesTest, ManyLargeLayersAreTooMany) {
  std::string layers;
  for (int i = 0; i < 5; ++i) {
    absl::StrAppend(&layers,
                    R"(<layer name="l" width="8192" height="8192"><data encoding="csv">1</data></layer>)");
  }
  EXPECT_THAT(MessageOf(TiledXml(R"(orientation="orthogonal" width="8192" height="8192")", layers)),
              HasSubstr("all layers together"));
}

TEST(HostileFilesTest, NothingIsDeep) {
  const std::string arrays = absl::StrCat(R"({"orientation": "orthogonal", "layers": )",
                                          Repeated("[", 100'000), Repeated("]", 100'000), "}");
  EXPECT_THAT(MessageOf(arrays), HasSubstr("deep"));
  const std::string objects = absl::StrCat(R"({"orientation": )", Repeated(R"({"a":)", 100'000), "1");
  EXPECT_THAT(MessageOf(objects), HasSubstr("deep"));
  const std::string groups = Repeated("<group>", 100'000) + Repeated("</group>", 100'000);
  EXPECT_THAT(MessageOf(TiledXml(kThreeByTwo, groups)), HasSubstr("deep"));
  const std::string grids = Repeated("<grid>", 100'000) + Repeated("</grid>", 100'000);
  for (const std::string& inside : {grids, "<tileset>" + grids + "</tileset>"}) {
    EXPECT_THAT(MessageOf(TiledXml(kThreeByTwo, inside)), HasSubstr("elements lie more than 64 deep"));
  }
}

TEST(HostileFilesTest, ThereAreNotManyValues) {
  EXPECT_THAT(MessageOf("{\"orientation\": [" + Repeated("{},", 9'000'000) + "{}]}"),
              HasSubstr("values in one file"));
  EXPECT_THAT(MessageOf(TiledXml(kThreeByTwo, Repeated("<a/>", 9'000'000))), HasSubstr("elements"));
}

TEST(HostileFilesTest, OtherEncodingsAreNamed) {
  const std::string xml = TiledXml(kThreeByTwo, TileLayer("ground", 3, 2, "1,1,1,1,1,1"));
  for (const bool little : {true, false}) {
    for (const bool has_mark : {true, false}) {
      std::string wide = !has_mark ? "" : little ? "\xFF\xFE" : "\xFE\xFF";
      for (const char c : xml) {
        wide += little ? std::string{c, '\0'} : std::string{'\0', c};
      }
      EXPECT_THAT(MessageOf(wide), HasSubstr("UTF-16"));
    }
  }
  EXPECT_THAT(ImportMap(MapFormat::kTiled, "\xEF\xBB\xBF" + xml, {}), IsOk()) << "with a byte order mark";
  EXPECT_EQ(DetectFormat("\xEF\xBB\xBF" + xml), MapFormat::kTiled);
  EXPECT_THAT(MessageOf("{\"orientation\": \"\xC3\x28\"}"), HasSubstr("UTF-8"));
}

TEST(HostileFilesTest, OddNumbersAreRefused) {
  for (const std::string number :
       {"1e999", "-1e999", "1e400", "NaN", "Infinity", "0x10", "1e-400", "--1", "01"}) {
    const std::string json =
        absl::StrCat(R"({"orientation": "orthogonal", "width": )", number, R"(, "height": 2, "layers": []})");
    EXPECT_EQ(ImportMap(MapFormat::kTiled, json, {}).status().code(), absl::StatusCode::kInvalidArgument)
        << number;
  }
  for (const std::string tiles :
       {"1,1,1,1,1,-1", "1,1,1,1,1,99999999999", "1,1,1,1,1,1.5", ",,,,,", "1 1 1 1 1 1"}) {
    EXPECT_THAT(ImportMap(MapFormat::kTiled, TiledXml(kThreeByTwo, TileLayer("l", 3, 2, tiles)), {}),
                IsError(kInvalid, ErrorReason::kBadFormat, ""))
        << tiles;
  }
}

// A small file of each format.
std::vector<std::string> Samples() {
  const std::string zlib = absl::Base64Escape(Zlib(TileBytes({1, 2, 3, 1, 1, 0})));
  return {
      "connectivity 4\nterrain ~ river 3\nprofile tank footprint 2 ~ forbidden\nmap\n..~\n.#.\n",
      "type octile\nheight 2\nwidth 3\nmap\n..T\n.@.\n",
      TiledXml(
          kThreeByTwo,
          TileLayer("ground", 3, 2, "1,2,3,1,1,0") +
              R"(<objectgroup name="o" class="obstacle"><object id="1" x="1" y="1" width="9" height="9">)"
              R"(<ellipse/></object></objectgroup>)"),
      TiledXml(kThreeByTwo,
               R"(<layer name="l" width="3" height="2"><data encoding="base64" compression="zlib">)" + zlib +
                   "</data></layer>"),
      R"({"orientation": "orthogonal", "width": 2, "height": 1, "tilewidth": 16, "tileheight": 16,
        "layers": [{"type": "tilelayer", "name": "l", "width": 2, "height": 1, "data": [1, 0]}],
        "tilesets": [{"firstgid": 1, "tiles": [{"id": 0, "type": "water"}]}]})",
      R"({"jsonVersion": "1.5.3", "defs": {"layers": [{"uid": 5, "intGridValues": [{"value": 1, "identifier": "A"}]}]},
        "levels": [{"identifier": "L", "layerInstances": [{"__type": "IntGrid", "__cWid": 2, "__cHei": 1,
        "__gridSize": 16, "layerDefUid": 5, "intGridCsv": [1, 0]}]}]})",
      R"({"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": {"type": "LineString",
        "coordinates": [[0, 0], [1, 1]]}, "properties": {"cost": 2, "tags": ["road"]}}]})",
      Png(2, 2, {0xFFFFFFFF, 0xFF, 0xFF0000FF, 0}),
      Webp(2, 2, {0xFFFFFFFF, 0xFF, 0xFF0000FF, 0}),
      Gif(2, 2, {0, 1, 1, 0}, {0xFFFFFFFF, 0xFF}),
  };
}

TEST(HostileFilesTest, EveryPrefixOfAFileIsAMapOrAnError) {
  for (const std::string& sample : Samples()) {
    const MapFormat format = DetectFormat(sample);
    ASSERT_THAT(ImportMap(format, sample, {}), IsOk()) << sample;
    for (std::size_t size = 0; size < sample.size(); ++size) {
      const auto map = ImportMap(format, sample.substr(0, size), {});
      EXPECT_TRUE(map.ok() || map.status().code() == absl::StatusCode::kInvalidArgument) << map.status();
    }
  }
}

}  // namespace
}  // namespace waystar::core
