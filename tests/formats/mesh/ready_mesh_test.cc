// Ready meshes of all formats through the one door: which files they are, and within what edges are joined.
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/formats/detect/import_map.h"
#include "tests/formats/files.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A rectangle of the plan.
struct Slab {
  float low_x = 0.0F;
  float low_y = 0.0F;
  float high_x = 0.0F;
  float high_y = 0.0F;
  float height = 0.0F;
};

using SlabCorner = std::array<float, 3>;

// With y up.
std::vector<SlabCorner> CornersOf(const std::vector<Slab>& floors) {
  std::vector<SlabCorner> corners;
  for (const Slab& floor : floors) {
    for (const auto& [x, y] : {std::pair(floor.low_x, floor.low_y),
                               {floor.low_x, floor.high_y},
                               {floor.high_x, floor.high_y},
                               {floor.high_x, floor.low_y}}) {
      corners.push_back({x, floor.height, y});
    }
  }
  return corners;
}

std::string ObjOf(const std::vector<Slab>& floors) {
  std::string bytes;
  for (const SlabCorner& corner : CornersOf(floors)) {
    absl::StrAppend(&bytes, "v ", absl::StrJoin(corner, " "), "\n");
  }
  for (std::size_t i = 1; i <= 4 * floors.size(); i += 4) {
    absl::StrAppend(&bytes, "f ", i, " ", i + 1, " ", i + 2, " ", i + 3, "\n");
  }
  return bytes;
}

std::string UnityOf(const std::vector<Slab>& floors) {
  std::vector<std::string> vertices;
  for (const SlabCorner& corner : CornersOf(floors)) {
    vertices.push_back(absl::StrCat("[", absl::StrJoin(corner, ", "), "]"));
  }
  std::vector<std::string> indices;
  for (std::size_t i = 0; i < vertices.size(); i += 4) {
    indices.push_back(absl::StrCat(i, ",", i + 1, ",", i + 2, ",", i, ",", i + 2, ",", i + 3));
  }
  return absl::StrCat(R"({"vertices": [)", absl::StrJoin(vertices, ","), R"(], "indices": [)",
                      absl::StrJoin(indices, ","), "]}");
}

std::string GodotOf(const std::vector<Slab>& floors) {
  std::vector<std::string> vertices;
  for (const SlabCorner& corner : CornersOf(floors)) {
    vertices.push_back(absl::StrJoin(corner, ", "));
  }
  std::vector<std::string> polygons;
  for (std::size_t i = 0; i < vertices.size(); i += 4) {
    polygons.push_back(absl::StrCat("PackedInt32Array(", i, ", ", i + 1, ", ", i + 2, ", ", i + 3, ")"));
  }
  return absl::StrCat(
      "[gd_resource type=\"NavigationMesh\" format=3]\n\n[resource]\nvertices = "
      "PackedVector3Array(",
      absl::StrJoin(vertices, ", "), ")\npolygons = [", absl::StrJoin(polygons, ", "), "]\n");
}

void AppendBytes(std::string& bytes, std::uint32_t number, int size) {
  for (int i = 0; i < size; ++i) {
    bytes.push_back(static_cast<char>(number >> (8 * i)));
  }
}

std::string GltfOf(const std::vector<Slab>& floors) {
  std::string buffer;
  for (const SlabCorner& corner : CornersOf(floors)) {
    for (const float coordinate : corner) {
      AppendBytes(buffer, std::bit_cast<std::uint32_t>(coordinate), 4);
    }
  }
  const std::size_t positions = buffer.size();
  for (std::uint32_t first = 0; first < 4 * floors.size(); first += 4) {
    for (const std::uint32_t corner : {0, 1, 2, 0, 2, 3}) {
      AppendBytes(buffer, first + corner, 2);
    }
  }
  return absl::StrCat(
      R"({"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}],
"meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
"accessors": [{"bufferView": 0, "componentType": 5126, "count": )",
      4 * floors.size(), R"(, "type": "VEC3"}, {"bufferView": 1, "componentType": 5123, "count": )",
      6 * floors.size(), R"(, "type": "SCALAR"}],
"bufferViews": [{"buffer": 0, "byteLength": )",
      positions, R"(}, {"buffer": 0, "byteOffset": )", positions, R"(, "byteLength": )",
      buffer.size() - positions, R"(}],
"buffers": [{"byteLength": )",
      buffer.size(), R"(, "uri": "data:application/octet-stream;base64,)", absl::Base64Escape(buffer),
      R"("}]})");
}

std::vector<std::string> AllFormsOf(const std::vector<Slab>& floors) {
  return {ObjOf(floors), UnityOf(floors), GodotOf(floors), GltfOf(floors)};
}

struct ReadMesh {
  std::size_t parts = 0;
  double area = 0.0;
  std::vector<std::string> notes;
};

ReadMesh ReadForm(const std::string& bytes, std::optional<double> weld = std::nullopt) {
  const absl::StatusOr<AnyMap> map = ImportMap(DetectFormat(bytes), bytes, {.weld = weld});
  EXPECT_THAT(map, IsOk());
  const auto& mesh = std::get<NavMesh>(*map);
  const auto& [low, high] = mesh.bounds();
  return {.parts = mesh.part_count(),
          .area = (high.x - low.x) * (high.y - low.y),
          .notes = NotesOf(bytes, {.weld = weld})};
}

TEST(ReadyMeshTest, GltfIsGroundAsItIs) {
  const std::vector<Slab> floors = {{0, 0, 4, 4, 1}, {4, 1, 8, 3, 1}, {0, 0, 4, 4, 5}};
  const std::string bytes = GltfOf(floors);
  ASSERT_EQ(DetectFormat(bytes), MapFormat::kGltf);
  const absl::StatusOr<AnyMap> map = ImportMap(MapFormat::kGltf, bytes, {});
  ASSERT_THAT(map, IsOk());
  const auto& mesh = std::get<NavMesh>(*map);
  EXPECT_EQ(mesh.part_count(), 2u) << "one on each floor";
  EXPECT_EQ(mesh.bounds().low, (WorldPoint{0, 0, 1}));
  EXPECT_EQ(mesh.bounds().high, (WorldPoint{8, 4, 5}));
  const absl::StatusOr<AnyMap> same = ImportMap(MapFormat::kObj, ObjOf(floors), {});
  ASSERT_THAT(same, IsOk());
  EXPECT_EQ(std::get<NavMesh>(*same).part_count(), 2u);
}

TEST(ReadyMeshTest, GltfOfALevelIsNoted) {
  std::vector<Slab> floors = {{0, 0, 4, 4, 1}};
  std::string bytes = GltfOf(floors);
  EXPECT_THAT(ReadForm(bytes).notes, IsEmpty());
  // All faces turn over, but for those of another floor.
  floors.push_back({4, 0, 0, 4, 5});
  EXPECT_THAT(ReadForm(GltfOf(floors)).notes, Contains(HasSubstr("geometry of a level")));
}

TEST(ReadyMeshTest, WeldJoinsWhatOverlapsOrLeavesASlit) {
  for (const float off : {-0.1F, -0.05F, 0.05F, 0.1F}) {
    // The edges have no end in common.
    const std::vector<Slab> floors = {{0, 0, 20, 20, 1}, {20 + off, 3, 40, 15, 1}};
    for (const std::string& bytes : AllFormsOf(floors)) {
      SCOPED_TRACE(absl::StrCat(off, " in ", bytes.substr(0, 40)));
      const ReadMesh apart = ReadForm(bytes);
      EXPECT_EQ(apart.parts, 2u);
      EXPECT_THAT(apart.notes, Contains(AllOf(HasSubstr("not joined"), HasSubstr("--weld"))));
      const ReadMesh joined = ReadForm(bytes, 0.1);
      EXPECT_EQ(joined.parts, 1u);
      EXPECT_THAT(joined.notes, Each(Not(HasSubstr("--weld"))));
      EXPECT_EQ(joined.area, 800.0);
    }
  }
}

TEST(ReadyMeshTest, WeldJoinsNoFloorsAboveEachOther) {
  const std::vector<Slab> floors = {{0, 0, 20, 20, 1}, {19.9F, 3, 40, 15, 3}};
  for (const std::string& bytes : AllFormsOf(floors)) {
    const ReadMesh read = ReadForm(bytes, 0.1);
    EXPECT_EQ(read.parts, 2u);
    EXPECT_THAT(read.notes, IsEmpty());
  }
}

TEST(ReadyMeshTest, FloorsThatAreJoinedOrFarApartAreNotNoted) {
  for (const std::vector<Slab>& floors : {std::vector<Slab>{{0, 0, 20, 20, 1}, {20, 0, 40, 20, 1}},
                                          std::vector<Slab>{{0, 0, 20, 20, 1}, {20.5F, 0, 40, 20, 1}},
                                          std::vector<Slab>{{0, 0, 20, 20, 1}, {20, 20, 40, 40, 1}}}) {
    for (const std::string& bytes : AllFormsOf(floors)) {
      EXPECT_THAT(ReadForm(bytes).notes, IsEmpty());
    }
  }
}

TEST(ReadyMeshTest, WeldIsALengthOfFormatsThatJoin) {
  const std::string bytes = ObjOf({{0, 0, 4, 4, 1}});
  for (const double weld :
       {-0.1, 1000.5, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(ImportMap(MapFormat::kObj, bytes, {.weld = weld}),
                IsError(kInvalid, ErrorReason::kBadValue, "import_options.weld"));
  }
  EXPECT_THAT(ImportMap(MapFormat::kObj, bytes, {.weld = 0.0}), IsOk());
  for (const MapFormat format : {MapFormat::kText, MapFormat::kPolyanya, MapFormat::kTiled}) {
    EXPECT_THAT(ImportMap(format, "...", {.weld = 0.1}),
                IsError(kInvalid, ErrorReason::kBadValue, "import_options.weld"));
  }
}

TEST(ForeignFileTest, IsNamedWhateverFormatIsAskedFor) {
  const auto with_bytes = [](std::string begin) { return begin + std::string(300, '\0'); };
  std::string tar(300, '\0');
  tar.replace(257, 5, "ustar");
  for (const auto& [bytes, name] : std::vector<std::pair<std::string, std::string>>{
           {with_bytes("\x1F\x8B\x08"), "gzip"},
           {with_bytes("PK\x03\x04"), "ZIP"},
           {with_bytes("PK\x05\x06"), "ZIP"},
           {with_bytes("\x28\xB5\x2F\xFD"), "Zstandard"},
           {with_bytes("BZh91AY&SY"), "bzip2"},
           {with_bytes("7z\xBC\xAF\x27\x1C"), "7-Zip"},
           {tar, "tar"},
           {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "Git LFS"},
           {with_bytes(std::string("MSET\0\0\0\1", 8)), "big-endian"},
           {with_bytes(std::string("DNAV\0\0\0\7", 8)), "big-endian"},
           {with_bytes("\xFF\xD8\xFF\xE0"), "JPEG"}}) {
    for (const MapFormat format :
         {DetectFormat(bytes), MapFormat::kText, MapFormat::kDetour, MapFormat::kObj, MapFormat::kGltf,
          MapFormat::kUnity, MapFormat::kGodot, MapFormat::kPolyanya, MapFormat::kTiled, MapFormat::kImage}) {
      const absl::Status status = ImportMap(format, bytes, {}).status();
      EXPECT_THAT(status, IsError(kInvalid, ErrorReason::kBadFormat, ""));
      EXPECT_THAT(std::string(status.message()), HasSubstr(name));
    }
    EXPECT_THAT(std::string(ImportMaps(MapFormat::kLdtk, bytes, {}).status().message()), HasSubstr(name));
  }
}

TEST(ForeignFileTest, APictureIsNoMesh) {
  for (const MapFormat format : {MapFormat::kDetour, MapFormat::kObj, MapFormat::kGltf, MapFormat::kText}) {
    const absl::Status status = ImportMap(format, Png(1, 1, {0xFF}), {}).status();
    EXPECT_THAT(status, IsError(kInvalid, ErrorReason::kBadFormat, ""));
    EXPECT_THAT(std::string(status.message()), HasSubstr("PNG"));
  }
  EXPECT_THAT(ImportMap(MapFormat::kImage, Png(1, 1, {0xFF}), {}), IsOk());
}

TEST(ForeignFileTest, RowsOfTextAreNot) {
  for (const absl::string_view rows : {"..PK\n....\n", "PK..\n....\n", "MSET\n....\n"}) {
    const absl::Status status = ImportMap(MapFormat::kText, rows, {}).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr("no terrain has the symbol"));
  }
}

}  // namespace
}  // namespace waystar::core
