// Meshes of Unity, of Godot, and in OBJ files.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/testing/mutated_bytes.h"
#include "tests/testing/random.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;
using ::waystar::testing::MutatedBytes;
using ::waystar::testing::Random;
using ::waystar::testing::Rounds;

using Reader = absl::StatusOr<NavMesh> (*)(absl::string_view, MeshAxes, const StopCheck*, ImportNotes*,
                                           std::optional<double>);

// All of these are a square of 4 by 4 at height 1, and to its right two of half its height, one above the
// other, seen from above.
constexpr absl::string_view kUnity = R"({
  "vertices": [{"x": 0, "y": 1, "z": 0}, {"x": 0, "y": 1, "z": 4}, {"x": 4, "y": 1, "z": 4},
    {"x": 0, "y": 1, "z": 0}, {"x": 4, "y": 1, "z": 4}, {"x": 4, "y": 1, "z": 0},
    {"x": 4, "y": 1, "z": 0}, {"x": 4, "y": 1, "z": 2}, {"x": 6, "y": 1, "z": 2},
    {"x": 4, "y": 1, "z": 2}, {"x": 4, "y": 1, "z": 4}, {"x": 6, "y": 1, "z": 2}],
  "indices": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  "areas": [0, 0, 3, 3]
})";
constexpr absl::string_view kObj = R"(# a level
mtllib level.mtl
o ground
v 0 1 0
v 0 1 4 1.0
v 4 1 4
v 4 1 0
vn 0 1 0
usemtl grass
f 1/1/1 2//1 3/3 \
  4
g annex
v 4 1 2
v 6 1 2
f 4 -2 -1   # backwards
f 5 3 6
)";
constexpr absl::string_view kGodot = R"godot([gd_scene load_steps=3 format=3 uid="uid://x"]

[ext_resource type="Script" path="res://a]b.gd" id="1_a"]

[sub_resource type="NavigationMesh" id="NavigationMesh_1"]
vertices = PackedVector3Array(0, 1, 0, 0, 1, 4, 4, 1, 4, 4, 1, 0,
  4, 1, 2, 6, 1, 2)
polygons = [PackedInt32Array(0, 1, 2, 3), PackedInt32Array(3, 4, 5), PackedInt32Array(4, 2, 5)]
cell_size = 0.3
sample = { "a": [1, 2], "b": "x)" }

[node name="Root" type="Node3D"]
metadata/_note = "two
lines [node]"

[node name="Region" type="NavigationRegion3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
navigation_mesh = SubResource("NavigationMesh_1")
)godot";

struct Format {
  std::string name;
  Reader reader;
  bool (*looks_like)(absl::string_view);
  absl::string_view file;
};
std::vector<Format> Formats() {
  return {{"Unity", ParseUnityMesh, LooksLikeUnityMesh, kUnity},
          {"OBJ", ParseObjMesh, LooksLikeObjMesh, kObj},
          {"Godot", ParseGodotMesh, LooksLikeGodotMesh, kGodot}};
}

// The message of the error once the first `from` is `to`.
std::string ErrorOf(Reader reader, absl::string_view bytes, const std::string& from, const std::string& to) {
  std::string changed(bytes);
  const std::size_t at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  const absl::Status status =
      reader(changed.replace(at, from.size(), to), MeshAxes::kYUp, nullptr, nullptr, {}).status();
  EXPECT_THAT(status, IsError(kInvalid, ErrorReason::kBadFormat, "")) << from << " " << to;
  return std::string(status.message());
}

void ExpectGround(const absl::StatusOr<NavMesh>& mesh) {
  ASSERT_THAT(mesh, IsOk());
  EXPECT_EQ(mesh->part_count(), 1u);
  EXPECT_EQ(mesh->vertex_count(), 6u);
  EXPECT_EQ(mesh->bounds().low, (WorldPoint{0, 0, 1}));
  EXPECT_EQ(mesh->bounds().high, (WorldPoint{6, 4, 1}));
}

TEST(TextMeshesTest, ReadsTheGround) {
  for (const Format& format : Formats()) {
    SCOPED_TRACE(format.name);
    const absl::StatusOr<NavMesh> mesh = format.reader(format.file, MeshAxes::kYUp, nullptr, nullptr, {});
    ExpectGround(mesh);
    EXPECT_EQ(mesh->polygon_count(), format.name == "Unity" ? 4u : 3u);
    ExpectGround(
        format.reader(absl::StrCat("\xEF\xBB\xBF", format.file), MeshAxes::kYUp, nullptr, nullptr, {}));
    ExpectGround(format.reader(absl::StrReplaceAll(format.file, {{"\n", "\r\n"}}), MeshAxes::kYUp, nullptr,
                               nullptr, {}));
  }
}

TEST(TextMeshesTest, CoordinatesAreTurned) {
  for (const Format& format : Formats()) {
    SCOPED_TRACE(format.name);
    const absl::StatusOr<NavMesh> unreal =
        format.reader(format.file, MeshAxes::kUnreal, nullptr, nullptr, {});
    ASSERT_THAT(unreal, IsOk());
    EXPECT_EQ(unreal->bounds().low, (WorldPoint{-6, -4, 1}));
    // Standing on end it has no area.
    EXPECT_THAT(format.reader(format.file, MeshAxes::kZUp, nullptr, nullptr, {}),
                IsError(kInvalid, ErrorReason::kBadSize, ""));
  }
}

TEST(TextMeshesTest, EachIsKnownByItself) {
  for (const Format& format : Formats()) {
    for (const Format& other : Formats()) {
      EXPECT_EQ(format.looks_like(other.file), format.name == other.name) << format.name << " " << other.name;
    }
    for (const absl::string_view text :
         {"", "{", "...#\nv..#\n", "v 1 2", "v x y z\n", R"({"vertices": []})", "[gd_scenery]",
          R"({"tiledversion": "1", "layers": [], "vertices": [], "indices": []})",
          R"({"type": "FeatureCollection", "vertices": [], "indices": []})",
          R"({"data": {"vertices": [], "indices": []}})", R"({"text": "vertices", "indices": []})",
          R"({"vertices": 3, "indices": []})", R"(["vertices", "indices"])", R"({"vertices":)",
          R"({"vertices": [], "indices": [], "orientation": "orthogonal"})",
          R"({"bufferViews": [], "vertices": [], "indices": []})"}) {
      EXPECT_FALSE(format.looks_like(text)) << format.name << " " << text;
    }
  }
}

TEST(TextMeshesTest, CutFilesAreRefusedOrReadInPart) {
  for (const Format& format : Formats()) {
    for (std::size_t size = 0; size < format.file.size(); ++size) {
      const absl::StatusOr<NavMesh> mesh =
          format.reader(format.file.substr(0, size), MeshAxes::kYUp, nullptr, nullptr, {});
      if (!mesh.ok()) {
        EXPECT_EQ(mesh.status().code(), kInvalid) << size;
        EXPECT_EQ(ErrorFieldOf(mesh.status()), "") << size;
      }
    }
  }
}

TEST(TextMeshesTest, MutatedFilesAreRefusedOrRead) {
  Random random(21);
  const std::vector<std::string> files = {std::string(kUnity), std::string(kObj), std::string(kGodot)};
  for (std::uint64_t round = 0; round < Rounds(6'000); ++round) {
    const std::size_t which = round % files.size();
    const std::string bytes = MutatedBytes(files[which], {files[which]}, random);
    const absl::StatusOr<NavMesh> mesh = Formats()[which].reader(bytes, MeshAxes::kYUp, nullptr, nullptr, {});
    if (!mesh.ok()) {
      EXPECT_EQ(mesh.status().code(), kInvalid) << bytes;
      EXPECT_EQ(ErrorFieldOf(mesh.status()), "") << bytes;
    }
  }
}

TEST(TextMeshesTest, StopsWhenAsked) {
  for (const Format& format : Formats()) {
    for (int looks = 0; looks < 6; ++looks) {
      const testing::StopAfter stop(looks);
      EXPECT_EQ(format.reader(format.file, MeshAxes::kYUp, &stop, nullptr, {}).status().code(),
                absl::StatusCode::kCancelled)
          << format.name << " " << looks;
    }
  }
}

std::vector<std::string> NotesOf(MapFormat format, absl::string_view bytes) {
  ImportNotes notes;
  ImportOptions options;
  options.notes = &notes;
  EXPECT_THAT(ImportMap(format, bytes, options), IsOk());
  std::vector<std::string> lines;
  for (const ImportNote& note : notes.notes()) {
    lines.push_back(LineOf(note));
  }
  return lines;
}

TEST(TextMeshesTest, NotesFacesThatAreLeftOut) {
  EXPECT_THAT(NotesOf(MapFormat::kGodot, kGodot), IsEmpty());
  const std::string left_out = "faces without an area, seen from above, are dropped";
  // A line, a triangle in which two corners are one, and a wall.
  EXPECT_THAT(NotesOf(MapFormat::kUnity, R"({"vertices": [0,0,0, 0,0,4, 4,0,4, 2,0,2, 0,9,4], "indices":
              [0,1,2, 0,2,3, 0,1,1, 0,1,4]})"),
              ElementsAre(left_out + ", 3 times"));
  EXPECT_THAT(NotesOf(MapFormat::kGodot,
                      absl::StrReplaceAll(kGodot, {{"(4, 2, 5)", "(4, 2, 5), PackedInt32Array(3, 3, 4)"}})),
              ElementsAre(left_out));
}

TEST(UnityMeshTest, NotesThatAreasHaveNoCosts) {
  EXPECT_THAT(NotesOf(MapFormat::kUnity, kUnity),
              ElementsAre("costs of areas are not read: the 2 areas of the mesh are walked alike"));
  EXPECT_THAT(NotesOf(MapFormat::kUnity, absl::StrReplaceAll(kUnity, {{"[0, 0, 3, 3]", "[3, 3, 3, 3]"}})),
              IsEmpty());
}

// A floor of `ground` squares in a row, then what else is given.
std::string Floor(int ground, absl::string_view more) {
  std::string vertices;
  std::string faces;
  for (int i = 0; i < ground; ++i) {
    absl::StrAppend(&vertices, "v ", i, " 0 0\nv ", i, " 0 1\nv ", i + 1, " 0 1\nv ", i + 1, " 0 0\n");
    absl::StrAppend(&faces, "f ", 4 * i + 1, " ", 4 * i + 2, " ", 4 * i + 3, " ", 4 * i + 4, "\n");
  }
  return absl::StrCat(vertices, faces, more);
}

TEST(ObjMeshTest, IsKnownWhateverComesFirst) {
  for (const absl::string_view bytes : {"f 1 2 3\nv 0 0 0\nv 0 0 1\nv 1 0 1\n", "o a\nf 1/1 2/2 3/3\n",
                                        "mtllib a.mtl\nusemtl grass\n", "vn 0 1 0\n", "v 0 1 0\n"}) {
    EXPECT_EQ(DetectFormat(bytes), MapFormat::kObj) << bytes;
  }
  for (const absl::string_view bytes : {"f f f\n", "f\nf\n", "vn\nvt\n", "o a\n", "f 1 2\n", "v 0x1 0 0\n"}) {
    EXPECT_EQ(DetectFormat(bytes), MapFormat::kText) << bytes;
  }
  EXPECT_THAT(ImportMap(MapFormat::kObj, "usemtl grass\n", {}), IsError(kInvalid, ErrorReason::kBadSize, ""));
  ExpectGround(ParseObjMesh(absl::StrCat(kObj, "\\")));
  ExpectGround(ParseObjMesh(absl::StrCat(kObj.substr(0, kObj.size() - 1), " \\")));
}

TEST(GodotMeshTest, MayBeginWithComments) {
  for (const char* comment : {"; made by a tool\n", "\n ; two\r\n;\n\n"}) {
    const std::string bytes = absl::StrCat(comment, kGodot);
    EXPECT_EQ(DetectFormat(bytes), MapFormat::kGodot) << comment;
    ExpectGround(ParseGodotMesh(bytes));
  }
  EXPECT_EQ(DetectFormat("; [gd_scene]"), MapFormat::kText);
}

TEST(ObjMeshTest, NotesTheGeometryOfLevels) {
  const std::string wall = "v 0 9 0\nv 0 9 1\nf 1 2 -1 -2\n";
  const std::string ceiling = "v 0 9 0\nv 1 9 0\nv 1 9 1\nf -3 -2 -1\n";
  const std::string slope = "v 0 5 4\nv 3 5 4\nf 1 -2 -1 4\n";
  const auto looks_like_a_level = [](const std::string& bytes) {
    const std::vector<std::string> notes = NotesOf(MapFormat::kObj, bytes);
    return std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return absl::StrContains(note, "geometry of a level") && absl::StrContains(note, "--build");
    });
  };
  EXPECT_FALSE(looks_like_a_level(Floor(9, "")));
  EXPECT_FALSE(looks_like_a_level(Floor(9, slope)));
  EXPECT_TRUE(looks_like_a_level(Floor(9, wall)));
  EXPECT_TRUE(looks_like_a_level(Floor(9, ceiling)));
  // One of many says little.
  EXPECT_FALSE(looks_like_a_level(Floor(10, wall)));
  EXPECT_FALSE(looks_like_a_level(Floor(10, ceiling)));
  EXPECT_THAT(
      NotesOf(MapFormat::kObj, Floor(3, wall + ceiling)),
      ElementsAre("this looks like the geometry of a level: of 5 faces 1 are steeper than 60 degrees, "
                  "and 1 face the other way; build a mesh of it (--build)",
                  "faces without an area, seen from above, are dropped"));
}

TEST(UnityMeshTest, ReadsVerticesInEveryForm) {
  const std::string lists = absl::StrReplaceAll(
      kUnity, {{"{\"x\": ", "["}, {" \"y\": ", " "}, {" \"z\": ", " "}, {"},", "],"}, {"}]", "]]"}});
  ExpectGround(ParseUnityMesh(lists));
  const std::string flat =
      absl::StrReplaceAll(lists, {{"[[", "["}, {"]]", "]"}, {"],\n    [", ",\n    "}, {"], [", ", "}});
  ExpectGround(ParseUnityMesh(flat));
  const absl::StatusOr<NavMesh> mesh = ParseUnityMesh(kUnity);
  ASSERT_THAT(mesh, IsOk());
  EXPECT_EQ(mesh->AreaOf(0), 0);
  EXPECT_EQ(mesh->AreaOf(3), 3);
  ExpectGround(ParseUnityMesh(absl::StrReplaceAll(kUnity, {{"[0, 0, 3, 3]", "[]"}})));
}

TEST(UnityMeshTest, MayHaveOtherMembers) {
  for (const absl::string_view more :
       {R"("layers": [0, 0])", R"("name": "x\"}", "meta": {"jsonVersion": 1, "orientation": "up"})",
        R"("type": "navmesh")", R"("meta": ["FeatureCollection", "tiledversion", "bufferViews", "asset"])"}) {
    for (const std::string& bytes : {absl::StrCat("{", more, ", ", kUnity.substr(1)),
                                     absl::StrCat(kUnity.substr(0, kUnity.size() - 1), ", ", more, "}")}) {
      EXPECT_EQ(DetectFormat(bytes), MapFormat::kUnity) << more;
      ExpectGround(ParseUnityMesh(bytes));
    }
  }
}

TEST(UnityMeshTest, SaysWhereItIsWrong) {
  const auto error_of = [](const std::string& from, const std::string& to) {
    return ErrorOf(ParseUnityMesh, kUnity, from, to);
  };
  EXPECT_THAT(error_of("\"x\": 6", "\"w\": 6"), HasSubstr("line 4: "));
  EXPECT_THAT(error_of("\"x\": 6", "\"x\": 6e9"), HasSubstr("line 4: vertex 8"));
  EXPECT_THAT(error_of("\"x\": 6", "\"x\": \"6\""), HasSubstr("line 4: "));
  for (const char* index : {"12", "-1", "0.5", "1e300", "\"1\"", "null", "4294967296"}) {
    EXPECT_THAT(error_of("9, 10, 11", absl::StrCat("9, 10, ", index)), HasSubstr("line 6: ")) << index;
  }
  EXPECT_THAT(error_of(", 11]", "]"), HasSubstr("line 6: "));
  EXPECT_THAT(error_of("3, 3]", "3, 64]"), HasSubstr("line 7: "));
  EXPECT_THAT(error_of("3, 3]", "3]"), HasSubstr("line 7: there are 3 areas for 4 triangles"));
  EXPECT_THAT(error_of("\"vertices\"", "\"points\""), HasSubstr("\"vertices\""));
  EXPECT_THAT(error_of("\"indices\"", "\"index\""), HasSubstr("\"indices\""));
  EXPECT_THAT(ParseUnityMesh(R"({"vertices": [], "indices": []})"),
              IsError(kInvalid, ErrorReason::kBadSize, ""));
}

TEST(ObjMeshTest, SaysWhereItIsWrong) {
  const auto error_of = [](const std::string& from, const std::string& to) {
    return ErrorOf(ParseObjMesh, kObj, from, to);
  };
  EXPECT_THAT(error_of("v 4 1 2", "v 4 1"), HasSubstr("line 13: a vertex has three"));
  for (const char* bad : {"x", "nan", "inf", "-inf", "1e300", "1e7", "0x2"}) {
    EXPECT_THAT(error_of("v 4 1 2", absl::StrCat("v 4 1 ", bad)), HasSubstr("line 13: ")) << bad;
  }
  for (const char* bad : {"0", "7", "-7", "x", "/1", "1.5", "99999999999999999999", "4294967297"}) {
    EXPECT_THAT(error_of("f 5 3 6", absl::StrCat("f 5 3 ", bad)), HasSubstr("line 16: ")) << bad;
  }
  EXPECT_THAT(error_of("f 5 3 6", "f 5 3"), HasSubstr("line 16: a face has from 3"));
  EXPECT_THAT(error_of("g annex", "!annex"), HasSubstr("line 12: "));
  EXPECT_THAT(ParseObjMesh("v 1 2 3\n"), IsError(kInvalid, ErrorReason::kBadSize, ""));
  // Vertices may follow, and a face may be dented.
  const absl::StatusOr<NavMesh> mesh =
      ParseObjMesh("f 1 2 3 4 5 6\nv 0 0 0\nv 3 0 0\nv 3 0 1\nv 1 0 1\nv 1 0 3\nv 0 0 3");
  ASSERT_THAT(mesh, IsOk());
  EXPECT_EQ(mesh->polygon_count(), 4u);
  EXPECT_EQ(mesh->part_count(), 1u);
}

TEST(GodotMeshTest, ReadsResourcesOfEveryVersion) {
  const std::string of_3 = absl::StrReplaceAll(kGodot, {{"PackedVector3Array(", "PoolVector3Array( "},
                                                        {"PackedInt32Array(", "PoolIntArray( "},
                                                        {"\"NavigationMesh_1\"", " 1 "},
                                                        {"Transform3D", "Transform"},
                                                        {"id= 1 ", "id=1"}});
  ExpectGround(ParseGodotMesh(of_3));
  const std::string typed = absl::StrReplaceAll(
      kGodot, {{"polygons = [", "polygons = Array[PackedInt32Array](["}, {"(4, 2, 5)]", "(4, 2, 5)])"}});
  ExpectGround(ParseGodotMesh(typed));
  const absl::StatusOr<NavMesh> plan = ParseGodotMesh(
      "[gd_resource type=\"NavigationPolygon\" format=3]\n\n[resource]\n"
      "vertices = PackedVector2Array(0, 0, 9, 0, 9, 9)\npolygons = [PackedInt32Array(2, 1, 0)]\n"
      "outlines = Array[PackedVector2Array]([PackedVector2Array(0, 0, 9, 0, 9, 9)])\n");
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->bounds().high, (WorldPoint{9, 9, 0}));
}

TEST(GodotMeshTest, PolygonsOfAllResourcesAreOneMesh) {
  const std::string more =
      absl::StrReplaceAll(kGodot, {{"[node name=\"Root\"",
                                    "[sub_resource type=\"NavigationMesh\" id=\"2\"]\n"
                                    "vertices = PackedVector3Array(0, 1, 4, 4, 1, 4, 4, 1, 7)\n"
                                    "polygons = [PackedInt32Array(0, 1, 2)]\n[node name=\"Root\""}});
  const absl::StatusOr<NavMesh> mesh = ParseGodotMesh(more);
  ASSERT_THAT(mesh, IsOk());
  EXPECT_EQ(mesh->polygon_count(), 4u);
  EXPECT_EQ(mesh->part_count(), 1u);
}

TEST(GodotMeshTest, RefusesNodesThatAreMoved) {
  const auto error_of = [](const std::string& from, const std::string& to) {
    return ErrorOf(ParseGodotMesh, kGodot, from, to);
  };
  EXPECT_THAT(error_of("1, 0, 0, 0)", "1, 0, 0, 5)"), HasSubstr("\"Region\""));
  EXPECT_THAT(error_of("metadata/_note", "transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0)\nnote"),
              HasSubstr("\"Region\""));
  for (const char* moved : {"position = Vector2(0, 1)", "rotation = 0.5", "scale = Vector2(1, 2)"}) {
    EXPECT_THAT(error_of("navigation_mesh =", absl::StrCat(moved, "\nnavigation_mesh =")),
                HasSubstr("\"Region\""))
        << moved;
  }
  EXPECT_THAT(error_of("parent=\".\"]",
                       "parent=\"A\"]\n[node name=\"A\" parent=\".\"]\nscale = Vector3(2, 2, 2)\n"
                       "[node name=\"Region\" parent=\"A\"]"),
              HasSubstr("\"A/Region\""));
  // Others may be.
  ExpectGround(ParseGodotMesh(
      absl::StrCat(kGodot, "[node name=\"Tree\" parent=\"Region\"]\nscale = Vector3(2, 2, 2)\n")));
  ExpectGround(ParseGodotMesh(
      absl::StrReplaceAll(kGodot, {{"navigation_mesh =", "scale = Vector2(1, 1)\nnavigation_mesh ="}})));
}

TEST(GodotMeshTest, SaysWhereItIsWrong) {
  const auto error_of = [](const std::string& from, const std::string& to) {
    return ErrorOf(ParseGodotMesh, kGodot, from, to);
  };
  EXPECT_THAT(error_of("4, 1, 2, 6, 1, 2)", "4, 1, 2, 6, 1)"), HasSubstr("line 7: the last vertex"));
  for (const char* bad : {"x", "nan", "inf", "1e300", "(1)", "\"1\"", ""}) {
    EXPECT_THAT(error_of("4, 1, 2, 6", absl::StrCat("4, 1, ", bad, ", 6")), HasSubstr("line 7: ")) << bad;
  }
  for (const char* bad : {"6", "-1", "0.5", "x", "4294967296"}) {
    EXPECT_THAT(error_of("(4, 2, 5)", absl::StrCat("(4, 2, ", bad, ")")), HasSubstr("line 8: ")) << bad;
  }
  EXPECT_THAT(error_of("(4, 2, 5)", "(4, 2)"), HasSubstr("line 8: a polygon has from 3"));
  EXPECT_THAT(error_of("PackedInt32Array(4", "PackedFloat32Array(4"), HasSubstr("line 8: "));
  EXPECT_THAT(error_of("PackedVector3Array", "PackedVector2Array"), HasSubstr("line 6: "));
  EXPECT_THAT(error_of("type=\"NavigationMesh\"", "type=\"BoxMesh\""), HasSubstr("no NavigationMesh"));
  EXPECT_THAT(error_of("\"x)\" }", "\"x)\" "), HasSubstr("brackets"));
  EXPECT_THAT(ParseGodotMesh("[gd_resource type=\"NavigationMesh\"]\n[resource]\n"),
              IsError(kInvalid, ErrorReason::kBadSize, ""));
  EXPECT_THAT(ParseGodotMesh(absl::StrCat("[gd_scene]\n[node name=\"", std::string(5'000, 'a'), "\"]\n")),
              IsError(kInvalid, ErrorReason::kBadFormat, ""));
}

}  // namespace
}  // namespace waystar::core
