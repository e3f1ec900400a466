#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/formats/build/level_geometry.h"
#include "tests/testing/mutated_bytes.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::level {
namespace {

using core::MeshAxes;
using core::WorldPoint;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Triangle = std::array<std::uint32_t, 3>;

absl::StatusOr<LevelGeometry> ParseGltfGeometry(absl::string_view bytes, MeshAxes axes,
                                                const StopCheck* stop = nullptr) {
  return ParseLevel(core::MapFormat::kGltf, bytes, {.grid = {.stop = stop}, .axes = axes});
}

absl::StatusOr<LevelGeometry> ParseObjGeometry(absl::string_view bytes, MeshAxes axes) {
  return ParseLevel(core::MapFormat::kObj, bytes, {.axes = axes});
}

void AppendNumber(std::string& bytes, std::uint32_t number, int size) {
  for (int i = 0; i < size; ++i) {
    bytes.push_back(static_cast<char>(number >> (8 * i)));
  }
}

// Four corners of a square of the floor, and the indices of its two triangles, which look up: 48 and 12
// bytes.
std::string SquareBuffer() {
  std::string bytes;
  for (const float number : {0.F, 0.F, 0.F, 0.F, 0.F, 2.F, 2.F, 0.F, 2.F, 2.F, 0.F, 0.F}) {
    AppendNumber(bytes, std::bit_cast<std::uint32_t>(number), 4);
  }
  for (const std::uint32_t index : {0, 1, 2, 0, 2, 3}) {
    AppendNumber(bytes, index, 2);
  }
  return bytes;
}

constexpr absl::string_view kNode = R"({"mesh": 0})";

std::string SquareJson(absl::string_view buffer, absl::string_view nodes = kNode) {
  return absl::StrCat(R"({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
"nodes": [)",
                      nodes, R"(],
"meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
"accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
  {"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"}],
"bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 12}],
"buffers": [{"byteLength": 60)",
                      buffer, "}]}");
}

std::string SquareText(absl::string_view nodes = kNode) {
  return SquareJson(absl::StrCat(R"(, "uri": "data:application/octet-stream;base64,)",
                                 absl::Base64Escape(SquareBuffer()), "\""),
                    nodes);
}

std::string SquareGlb() {
  std::string json = SquareJson("");
  json.resize((json.size() + 3) / 4 * 4, ' ');
  const std::string buffer = SquareBuffer();
  std::string bytes = "glTF";
  AppendNumber(bytes, 2, 4);
  AppendNumber(bytes, static_cast<std::uint32_t>(28 + json.size() + buffer.size()), 4);
  AppendNumber(bytes, static_cast<std::uint32_t>(json.size()), 4);
  absl::StrAppend(&bytes, "JSON", json);
  AppendNumber(bytes, static_cast<std::uint32_t>(buffer.size()), 4);
  return absl::StrCat(bytes, absl::string_view("BIN\0", 4), buffer);
}

LevelGeometry Parse(const std::string& bytes, MeshAxes axes = MeshAxes::kYUp) {
  absl::StatusOr<LevelGeometry> geometry = ParseGltfGeometry(bytes, axes);
  EXPECT_THAT(geometry, IsOk());
  return geometry.ok() ? *std::move(geometry) : LevelGeometry();
}

// Twice the area of the triangles seen from above: positive if they look up.
double AreaAbove(const LevelGeometry& geometry) {
  double area = 0.0;
  for (const Triangle& triangle : geometry.triangles) {
    const WorldPoint& a = geometry.vertices[triangle[0]];
    const WorldPoint& b = geometry.vertices[triangle[1]];
    const WorldPoint& c = geometry.vertices[triangle[2]];
    area += (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  }
  return area;
}

std::string MessageOf(const std::string& bytes) {
  const auto geometry = ParseGltfGeometry(bytes, MeshAxes::kYUp);
  EXPECT_THAT(geometry, IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadFormat, ""));
  return std::string(geometry.status().message());
}

TEST(GltfGeometryTest, ReadsBothForms) {
  for (const std::string& bytes : {SquareText(), SquareGlb()}) {
    const LevelGeometry geometry = Parse(bytes);
    EXPECT_THAT(geometry.vertices, ElementsAre(WorldPoint{0, 0, 0}, WorldPoint{0, 2, 0}, WorldPoint{2, 2, 0},
                                               WorldPoint{2, 0, 0}));
    EXPECT_EQ(geometry.triangles.size(), 2);
    EXPECT_EQ(AreaAbove(geometry), 8.0);
  }
}

TEST(GltfGeometryTest, MaterialsAreKindsOfGround) {
  const std::string primitive = R"({"attributes": {"POSITION": 0}, "indices": 1)";
  const LevelGeometry geometry = Parse(absl::StrReplaceAll(
      SquareText(),
      {{primitive + "}", absl::StrCat(primitive, R"(, "material": 1}, )", primitive, R"(, "material": 0}, )",
                                      primitive, R"(, "material": 2}, )", primitive, "}")},
       {R"("accessors")", R"("materials": [{"name": "mud"}, {}], "accessors")"}}));
  ASSERT_EQ(geometry.kinds.size(), 3);
  EXPECT_EQ(geometry.kinds[1].terrain.name, "material-1");
  EXPECT_EQ(geometry.kinds[2].terrain.name, "mud");
  EXPECT_THAT(geometry.kind_of_triangle, ElementsAre(1, 1, 2, 2, 0, 0, 0, 0));
}

TEST(GltfGeometryTest, MovesMeshesAsTheirNodesSay) {
  // Turned by a right angle about the height, widened, and moved; the child only moved, from there.
  const LevelGeometry geometry = Parse(SquareText(
      R"({"mesh": 0, "children": [1], "translation": [10, 1, 0], "rotation": [0, 0.7071067811865476, 0, 0.7071067811865476],
          "scale": [1, 1, 3]}, {"mesh": 0, "translation": [0, 2, 0]})"));
  ASSERT_EQ(geometry.vertices.size(), 8);
  // (0, 0, 2) of the file is widened to (0, 0, 6), turned to (6, 0, 0), and moved.
  EXPECT_NEAR(geometry.vertices[1].x, 16.0, 1e-9);
  EXPECT_NEAR(geometry.vertices[1].y, 0.0, 1e-9);
  EXPECT_NEAR(geometry.vertices[1].z, 1.0, 1e-9);
  EXPECT_NEAR(geometry.vertices[5].x, 16.0, 1e-9);
  EXPECT_NEAR(geometry.vertices[5].z, 3.0, 1e-9);
  EXPECT_NEAR(AreaAbove(geometry), 48.0, 1e-9);
}

TEST(GltfGeometryTest, FacesOfMirroredNodesStillLookUp) {
  const LevelGeometry mirrored = Parse(SquareText(R"({"mesh": 0, "scale": [-1, 1, 1]})"));
  EXPECT_EQ(AreaAbove(mirrored), 8.0);
  const LevelGeometry moved =
      Parse(SquareText(R"({"mesh": 0, "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 5,6,7,1]})"));
  EXPECT_EQ(moved.vertices[0], (WorldPoint{5, 7, 6}));
}

TEST(GltfGeometryTest, ReadsStripsFansAndMeshesWithoutIndices) {
  for (const auto& [mode, indices] : std::vector<std::pair<std::string, std::vector<std::uint32_t>>>{
           {R"("mode": 5)", {0, 1, 3, 2}}, {R"("mode": 6)", {0, 1, 2, 3}}}) {
    std::string buffer = SquareBuffer().substr(0, 48);
    for (const std::uint32_t index : indices) {
      AppendNumber(buffer, index, 2);
    }
    buffer.resize(60);
    const std::string bytes =
        absl::StrReplaceAll(SquareText(), {{absl::Base64Escape(SquareBuffer()), absl::Base64Escape(buffer)},
                                           {R"("count": 6)", R"("count": 4)"},
                                           {R"("indices": 1)", absl::StrCat(R"("indices": 1, )", mode)}});
    EXPECT_EQ(AreaAbove(Parse(bytes)), 8.0) << mode;
  }
  EXPECT_EQ(Parse(absl::StrReplaceAll(SquareText(), {{R"(, "indices": 1)", ""}})).triangles.size(), 1);
  EXPECT_EQ(Parse(absl::StrReplaceAll(SquareText(), {{R"("indices": 1)", R"("mode": 1)"}})).triangles.size(),
            0)
      << "lines";
}

TEST(GltfGeometryTest, RefusesInWordsWhatItCannotRead) {
  const auto changed = [](const std::string& from, const std::string& to) {
    const std::string text = SquareText();
    EXPECT_THAT(text, HasSubstr(from));
    return MessageOf(absl::StrReplaceAll(text, {{from, to}}));
  };
  EXPECT_THAT(changed(R"("version": "2.0")", R"("version": "1.0")"), HasSubstr("version 2"));
  EXPECT_THAT(changed(R"("scene": 0)", R"("extensionsRequired": ["KHR_draco_mesh_compression"])"),
              HasSubstr("KHR_draco_mesh_compression"));
  EXPECT_THAT(changed(R"("indices": 1)", R"("extensions": {"KHR_draco_mesh_compression": {}})"),
              HasSubstr("Draco"));
  EXPECT_THAT(changed("data:application/octet-stream;base64,", "level.bin?"), HasSubstr("another file"));
  EXPECT_THAT(changed("base64,", "base64,*"), HasSubstr("not base64"));
  EXPECT_THAT(changed(R"("type": "VEC3")", R"("type": "VEC3", "sparse": {})"), HasSubstr("sparse"));
  EXPECT_THAT(changed("5126", "5122"), HasSubstr("quantized"));
  EXPECT_THAT(changed("5123", "5126"), HasSubstr("unsigned"));
  EXPECT_THAT(changed(R"("count": 4)", R"("count": 5)"), HasSubstr("do not fit"));
  EXPECT_THAT(changed(R"("count": 4)", R"("count": 2147483647)"), HasSubstr("do not fit"));
  EXPECT_THAT(changed(R"("count": 4)", R"("count": 3)"), HasSubstr("there is no vertex 3"));
  EXPECT_THAT(changed(R"("byteOffset": 48)", R"("byteOffset": 49)"), HasSubstr("outside of its buffer"));
  EXPECT_THAT(changed(R"("byteLength": 48)", R"("byteLength": 48, "byteStride": 8)"), HasSubstr("apart"));
  EXPECT_THAT(changed(R"("mesh": 0)", R"("mesh": 1)"), HasSubstr("there is no 1 in \"meshes\""));
  EXPECT_THAT(changed(R"("mesh": 0)", R"("mesh": -1)"), HasSubstr("whole number"));
  EXPECT_THAT(changed(R"("mesh": 0)", R"("mesh": 0, "children": [0])"), HasSubstr("two places"));
  EXPECT_THAT(changed(R"("mesh": 0)", R"("mesh": 0, "children": [7])"), HasSubstr("there is no node 7"));
  EXPECT_THAT(changed(R"("mesh": 0)", R"("mesh": 0, "scale": [1, 1])"), HasSubstr("3 numbers"));
  EXPECT_THAT(changed(R"("mesh": 0)", R"("mesh": 0, "scale": [1e300, 1, 1])"), HasSubstr("coordinates"));
}

TEST(GltfGeometryTest, RefusesTooManyCopiesOfAMesh) {
  std::string nodes = R"({"children": [1)";
  for (int i = 2; i <= 100; ++i) {
    absl::StrAppend(&nodes, ",", i);
  }
  absl::StrAppend(&nodes, "]}");
  for (int i = 1; i <= 100; ++i) {
    absl::StrAppend(&nodes, ",", kNode);
  }
  // The vertices overlap, so that few bytes hold many.
  std::string buffer(200'000, '\0');
  const std::string bytes = absl::StrReplaceAll(
      SquareText(nodes), {{absl::Base64Escape(SquareBuffer()), absl::Base64Escape(buffer)},
                          {R"("byteLength": 48)", R"("byteLength": 199000)"},
                          {R"("count": 4)", R"("count": 16000)"}});
  EXPECT_EQ(Parse(bytes).vertices.size(), 1'600'000);
  const std::string more = absl::StrReplaceAll(
      bytes, {{R"({"attributes")", R"({"attributes": {"POSITION": 0}}, {"attributes": {"POSITION": 0}},
                                       {"attributes")"}});
  EXPECT_THAT(ParseGltfGeometry(more, MeshAxes::kYUp),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadSize, ""));
}

TEST(GltfGeometryTest, TakesAnyBytes) {
  for (std::uint64_t seed = 1; seed <= Rounds(4000); ++seed) {
    Random random(seed);
    const std::string bytes = MutatedBytes(random.Chance(0.5) ? SquareGlb() : SquareText(), {}, random);
    const auto geometry = ParseGltfGeometry(bytes, MeshAxes::kYUp);
    if (geometry.ok()) {
      for (const Triangle& triangle : geometry->triangles) {
        for (const std::uint32_t vertex : triangle) {
          ASSERT_LT(vertex, geometry->vertices.size());
        }
      }
    } else {
      EXPECT_EQ(geometry.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST(GltfGeometryTest, Stops) {
  const StopAfter stop(1);
  EXPECT_THAT(ParseGltfGeometry(SquareText(), MeshAxes::kYUp, &stop),
              IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
}

TEST(ObjGeometryTest, FacesThatRunCounterclockwiseLookUp) {
  // Seen from above, with z towards the reader.
  const auto y_up = ParseObjGeometry("v 0 1 0\nv 0 1 2\nv 2 1 2\nv 2 1 0\nf 1 2 3 4\n", MeshAxes::kYUp);
  ASSERT_THAT(y_up, IsOk());
  EXPECT_EQ(y_up->triangles.size(), 2);
  EXPECT_EQ(AreaAbove(*y_up), 8.0);
  const auto unreal = ParseObjGeometry("v 0 1 0\nv 0 1 2\nv 2 1 2\nf -3 -2 -1\n", MeshAxes::kUnreal);
  ASSERT_THAT(unreal, IsOk());
  EXPECT_EQ(AreaAbove(*unreal), 4.0);
  const auto z_up = ParseObjGeometry("v 0 0 1\nv 2 0 1\nv 2 2 1\nf 1 2 3\n", MeshAxes::kZUp);
  ASSERT_THAT(z_up, IsOk());
  EXPECT_EQ(AreaAbove(*z_up), 4.0);
}

TEST(ObjGeometryTest, RefusesWhatIsNoCoordinate) {
  for (const absl::string_view bad : {"nan", "inf", "1e30"}) {
    EXPECT_THAT(ParseObjGeometry(absl::StrCat("v 0 0 ", bad, "\n"), MeshAxes::kYUp),
                IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadFormat, ""));
  }
  EXPECT_THAT(ParseObjGeometry("v 0 0 0\nf 1 2 3\n", MeshAxes::kYUp),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadFormat, ""));
}

}  // namespace
}  // namespace waystar::level
