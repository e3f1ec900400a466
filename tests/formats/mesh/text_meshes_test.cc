// Meshes of Unity, of Godot, in OBJ files and in those of Polyanya.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/formats/files.h"
#include "tests/testing/movingai_data.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Reader = absl::StatusOr<NavMesh> (*)(absl::string_view, const ImportOptions&);

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

  absl::StatusOr<NavMesh> Read(absl::string_view bytes, const ImportOptions& options = {}) const {
    return reader(bytes, options);
  }
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
  const absl::Status status = reader(changed.replace(at, from.size(), to), {}).status();
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
    const absl::StatusOr<NavMesh> mesh = format.Read(format.file);
    ExpectGround(mesh);
    EXPECT_EQ(mesh->polygon_count(), format.name == "Unity" ? 4u : 3u);
    ExpectGround(format.Read(absl::StrCat("\xEF\xBB\xBF", format.file)));
    ExpectGround(format.Read(absl::StrReplaceAll(format.file, {{"\n", "\r\n"}})));
  }
}

TEST(TextMeshesTest, CoordinatesAreTurned) {
  for (const Format& format : Formats()) {
    SCOPED_TRACE(format.name);
    const absl::StatusOr<NavMesh> unreal = format.Read(format.file, {.axes = MeshAxes::kUnreal});
    ASSERT_THAT(unreal, IsOk());
    EXPECT_EQ(unreal->bounds().low, (WorldPoint{-6, -4, 1}));
    // Standing on end it has no area.
    EXPECT_THAT(format.Read(format.file, {.axes = MeshAxes::kZUp}),
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

TEST(TextMeshesTest, NotesFacesThatAreLeftOut) {
  EXPECT_THAT(NotesOf(kGodot), IsEmpty());
  const std::string left_out = "faces without an area, seen from above, are dropped";
  // A line, a triangle in which two corners are one, and a wall.
  EXPECT_THAT(NotesOf(R"({"vertices": [0,0,0, 0,0,4, 4,0,4, 2,0,2, 0,9,4], "indices":
              [0,1,2, 0,2,3, 0,1,1, 0,1,4]})"),
              ElementsAre(left_out + ", 3 times"));
  EXPECT_THAT(NotesOf(absl::StrReplaceAll(kGodot, {{"(4, 2, 5)", "(4, 2, 5), PackedInt32Array(3, 3, 4)"}})),
              ElementsAre(left_out));
}

// The terrains as "area name:cost tags", such as "1 mud:3 wet", and the areas of the polygons.
std::vector<std::string> TerrainsOf(const absl::StatusOr<NavMesh>& mesh) {
  EXPECT_THAT(mesh, IsOk());
  std::vector<std::string> lines;
  std::string areas;
  for (std::size_t area = 0; area < mesh->terrains().size(); ++area) {
    const MeshTerrain& terrain = mesh->terrains()[area];
    lines.push_back(absl::StrCat(area, " ", terrain.name, ":", terrain.cost, terrain.is_impassable ? "!" : "",
                                 terrain.tags.empty() ? "" : " ", absl::StrJoin(terrain.tags, " ")));
  }
  for (PolygonNumber polygon = 0; polygon < mesh->polygon_count(); ++polygon) {
    absl::StrAppend(&areas, mesh->AreaOf(polygon), " ");
  }
  lines.push_back(areas);
  return lines;
}

TEST(UnityMeshTest, ReadsNamesAndCostsOfAreas) {
  EXPECT_THAT(TerrainsOf(ParseUnityMesh(kUnity)),
              ElementsAre("0 ground:1", "1 area-1:1", "2 area-2:1", "3 area-3:1", "0 0 3 3 "));
  const auto with = [](absl::string_view members) {
    return absl::StrReplaceAll(kUnity, {{"[0, 0, 3, 3]", absl::StrCat("[0, 0, 3, 3], ", members)}});
  };
  const std::string named =
      with(R"("areaNames": ["Not Wet", "", "Jump", "Not Wet", ""], "areaCosts": [2, 1, 2, 3.5, 9])");
  EXPECT_THAT(TerrainsOf(ParseUnityMesh(named)),
              ElementsAre("0 Not-Wet:2", "1 area-1:1", "2 area-2:1", "3 Not-Wet-2:3.5", "0 0 3 3 "));
  EXPECT_THAT(NotesOf(named), IsEmpty());
  EXPECT_THAT(TerrainsOf(ParseUnityMesh(absl::StrReplaceAll(named, {{"[0, 0, 3, 3]", "[]"}}))),
              ElementsAre("0 Not-Wet:2", "0 0 0 0 "));
  for (const char* bad : {R"("areaNames": [null])", R"("areaNames": ["a", 1])", R"("areaCosts": [0])",
                          R"("areaCosts": [1, 1, 1, 1001])"}) {
    EXPECT_THAT(ParseUnityMesh(with(bad)), IsError(kInvalid, ErrorReason::kBadFormat, "")) << bad;
  }
}

TEST(GodotMeshTest, ReadsCostsAndLayersOfRegions) {
  const std::string one = absl::StrReplaceAll(
      kGodot, {{"navigation_mesh =", "navigation_layers = 1\ntravel_cost = 1.0\nnavigation_mesh ="}});
  EXPECT_THAT(TerrainsOf(ParseGodotMesh(one)), ElementsAre("0 ground:1", "0 0 0 "));
  EXPECT_EQ(ParseGodotMesh(one)->digest(), ParseGodotMesh(kGodot)->digest());
  const auto with_region = [](absl::string_view properties) {
    return absl::StrReplaceAll(
        absl::StrCat(kGodot,
                     "[node name=\"Ma rsh\" parent=\"Region\"]\nnavigation_mesh = SubResource(\"2\")\n",
                     properties),
        {{"[node name=\"Root\"",
          "[sub_resource type=\"NavigationMesh\" id=\"2\"]\n"
          "vertices = PackedVector3Array(0, 1, 4, 4, 1, 4, 4, 1, 7)\n"
          "polygons = [PackedInt32Array(0, 1, 2)]\n[node name=\"Root\""}});
  };
  EXPECT_THAT(TerrainsOf(ParseGodotMesh(with_region("travel_cost = 2.5\nnavigation_layers = 6\n"))),
              ElementsAre("0 ground:1 layer-1", "1 Ma-rsh:2.5 layer-2 layer-3", "0 0 0 1 "));
  EXPECT_THAT(TerrainsOf(ParseGodotMesh(with_region("travel_cost = 0\nnavigation_layers = 0\n"))),
              ElementsAre("0 ground:1 layer-1", "1 Ma-rsh:0.001!", "0 0 0 1 "));
}

TEST(ObjMeshTest, MaterialsAreTerrains) {
  // One material in all says nothing.
  EXPECT_THAT(TerrainsOf(ParseObjMesh(kObj)), ElementsAre("0 ground:1", "0 0 0 "));
  const auto with = [](absl::string_view material) {
    return absl::StrReplaceAll(kObj, {{"g annex", absl::StrCat("usemtl ", material)}});
  };
  EXPECT_THAT(TerrainsOf(ParseObjMesh(with("deep w\xC3\xA4ter"))),
              ElementsAre("0 ground:1", "1 grass:1", "2 deep-w--ter:1", "1 2 2 "));
  EXPECT_THAT(TerrainsOf(ParseObjMesh(with("ground"))), ElementsAre("0 ground:1", "1 grass:1", "1 0 0 "));
  EXPECT_THAT(TerrainsOf(ParseObjMesh(absl::StrReplaceAll(with("mud"), {{"usemtl grass\n", ""}}))),
              ElementsAre("0 ground:1", "1 mud:1", "0 1 1 "));
  // Walls are no ground.
  EXPECT_THAT(TerrainsOf(ParseObjMesh(absl::StrCat(kObj, "usemtl brick\nv 0 9 0\nf 1 2 7\n"))),
              ElementsAre("0 ground:1", "0 0 0 "));
}

TEST(ObjMeshTest, MaterialsBeyondTheMostAreGround) {
  std::string bytes = "v 0 0 0\nv 0 0 1\n";
  for (int i = 1; i <= 66; ++i) {
    absl::StrAppend(&bytes, "v ", i, " 0 0\nv ", i, " 0 1\nusemtl m", i, "\nf -4 -3 -1 -2\n");
  }
  const absl::StatusOr<NavMesh> mesh = ParseObjMesh(bytes);
  ASSERT_THAT(mesh, IsOk());
  EXPECT_EQ(mesh->terrains().size(), 64u);
  EXPECT_EQ(mesh->terrains()[63].name, "m63");
  EXPECT_EQ(mesh->AreaOf(62), 63);
  EXPECT_EQ(mesh->AreaOf(63), 0);
  EXPECT_THAT(NotesOf(bytes), ElementsAre("polygons are of more than 64 kinds of ground, and become the "
                                          "commonest of their area, or \"ground\", 3 times"));
}

TEST(TextMeshesTest, TerrainsOfTheOptionsReplaceThoseOfTheFile) {
  const std::string file = absl::StrReplaceAll(kObj, {{"g annex", "usemtl mud"}});
  const auto import = [&](std::vector<MeshTerrainOverride> terrains) -> absl::StatusOr<NavMesh> {
    WAYSTAR_ASSIGN_OR_RETURN(AnyMap map,
                             ImportMap(MapFormat::kObj, file, {.mesh_terrains = std::move(terrains)}));
    return std::get<NavMesh>(std::move(map));
  };
  EXPECT_THAT(TerrainsOf(import({{.area = 2, .cost = 3},
                                 {.area = 1, .name = "lawn", .tags = {"soft"}, .is_impassable = true},
                                 {.area = 4, .name = "lava"}})),
              ElementsAre("0 ground:1", "1 lawn:1! soft", "2 mud:3", "3 area-3:1", "4 lava:1", "1 2 2 "));
  const std::string field = "import_options.mesh_terrains[0].";
  const auto is_bad = [&](const std::string& at) { return IsError(kInvalid, ErrorReason::kBadTerrain, at); };
  EXPECT_THAT(import({{.area = -1}}), is_bad(field + "area"));
  EXPECT_THAT(import({{.area = 64}}), is_bad(field + "area"));
  EXPECT_THAT(import({{.area = 1}, {.area = 1}}), is_bad("import_options.mesh_terrains[1].area"));
  EXPECT_THAT(import({{.area = 1, .name = "a b"}}), is_bad(field + "name"));
  EXPECT_THAT(import({{.area = 1, .name = "mud"}}), is_bad(field + "name"));
  EXPECT_THAT(import({{.area = 1, .tags = {"a", "a"}}}), is_bad(field + "tags[1]"));
  EXPECT_THAT(import({{.area = 1, .cost = 0}}), is_bad(field + "cost"));
  EXPECT_THAT(ImportMap(MapFormat::kText, "...\n", {.mesh_terrains = {{.area = 1}}}),
              IsError(kInvalid, ErrorReason::kBadValue, "import_options.mesh_terrains"));
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
    const std::vector<std::string> notes = NotesOf(bytes);
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
      NotesOf(Floor(3, wall + ceiling)),
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

// Two squares beside each other, and a triangle on top of the right one.
constexpr absl::string_view kVersion2 =
    "mesh\n2\n7 3\n"
    "0 0 2 0 -1\n1 0 3 0 1 -1\n2 0 2 1 -1\n2 1 3 1 2 -1\n1 1 4 0 1 2 -1\n0 1 2 0 -1\n1.5 2.25 2 2 -1\n"
    "4 0 1 4 5 -1 -1 1 -1\n"
    "4 1 2 3 4 0 -1 -1 2\n"
    "3 4 3 6 -1 1 -1\n";

// The same, but the left square cannot be walked, and a vertex is not used.
constexpr absl::string_view kVersion3 =
    "mesh\n3\n8 3\n0 0\n9 9\n1 0\n2 0\n2 1\n1 1\n0 1\n1.5 2.25\n"
    "0 4 1 3 6 7 0 0 -2 0\n"
    "1 4 3 4 5 6 -1 0 0 3\n"
    "1 3 6 5 8 0 2 0\n";

std::string MeshError(absl::string_view bytes) {
  return std::string(ParsePolyanyaMesh(bytes).status().message());
}
// The error once the first `from` is `to`.
std::string MeshError(absl::string_view bytes, const std::string& from, const std::string& to) {
  std::string changed(bytes);
  const std::size_t at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return MeshError(changed.replace(at, from.size(), to));
}

TEST(PolyanyaMeshTest, ReadsVersion2) {
  const absl::StatusOr<NavMesh> mesh = ParsePolyanyaMesh(kVersion2);
  ASSERT_THAT(mesh, IsOk());
  EXPECT_EQ(mesh->polygon_count(), 3u);
  EXPECT_EQ(mesh->VertexAt(6), (WorldPoint{1.5, 2.25, 0}));
  EXPECT_THAT(mesh->VerticesOf(0), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(mesh->NeighboursOf(0), ElementsAre(kNoPolygon, 1, kNoPolygon, kNoPolygon));
  EXPECT_THAT(mesh->NeighboursOf(1), ElementsAre(kNoPolygon, kNoPolygon, 2, 0));
  EXPECT_THAT(mesh->NeighboursOf(2), ElementsAre(1, kNoPolygon, kNoPolygon));
  EXPECT_EQ(mesh->part_count(), 1u);
}

TEST(PolyanyaMeshTest, ReadsWhatCanBeWalkedOfVersion3) {
  const absl::StatusOr<NavMesh> mesh = ParsePolyanyaMesh(kVersion3);
  ASSERT_THAT(mesh, IsOk());
  EXPECT_EQ(mesh->polygon_count(), 2u);
  EXPECT_EQ(mesh->vertex_count(), 5u);
  EXPECT_EQ(mesh->VertexAt(0), (WorldPoint{1, 0, 0}));
  EXPECT_THAT(mesh->VerticesOf(0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(mesh->NeighboursOf(0), ElementsAre(kNoPolygon, kNoPolygon, 1, kNoPolygon));
  EXPECT_THAT(mesh->VerticesOf(1), ElementsAre(3, 2, 4));
  EXPECT_THAT(mesh->NeighboursOf(1), ElementsAre(0, kNoPolygon, kNoPolygon));
}

TEST(PolyanyaMeshTest, ClosedEdgesAreWalls) {
  const std::string closed =
      absl::StrReplaceAll(kVersion3, {{"-1 0 0 3", "-1 0 0 -3"}, {"8 0 2 0", "8 0 -2 0"}});
  const absl::StatusOr<NavMesh> mesh = ParsePolyanyaMesh(closed);
  ASSERT_THAT(mesh, IsOk());
  EXPECT_EQ(mesh->part_count(), 2u);
  // A door that is open from one side alone.
  EXPECT_THAT(MeshError(kVersion3, "8 0 2 0", "8 0 -2 0"), HasSubstr("line 13: "));
}

TEST(PolyanyaMeshTest, WordsAreSeparatedByAnyWhiteSpace) {
  EXPECT_THAT(ParsePolyanyaMesh(absl::StrReplaceAll(kVersion2, {{"\n", " "}})), IsOk());
  EXPECT_THAT(ParsePolyanyaMesh(absl::StrReplaceAll(kVersion2, {{"\n", "\r\n"}, {" ", "\t\n"}})), IsOk());
}

TEST(PolyanyaMeshTest, SaysWhereItIsWrong) {
  EXPECT_THAT(ParsePolyanyaMesh(""), IsError(kInvalid, ErrorReason::kBadFormat, ""));
  EXPECT_THAT(MeshError(kVersion2, "mesh", "mush"), HasSubstr("line 1: "));
  for (const std::string version : {"1", "4", "2.0", "-2", ""}) {
    EXPECT_THAT(MeshError(kVersion2, "2\n", version + "\n"),
                HasSubstr(version.empty() ? "line 3" : "line 2"));
  }
  EXPECT_THAT(MeshError(kVersion2, "1.5", "x"), HasSubstr("line 10: \"x\""));
  EXPECT_THAT(MeshError(kVersion2, "1.5", "nan"), HasSubstr("line 10: "));
  EXPECT_THAT(MeshError(kVersion2, "1.5", "-inf"), HasSubstr("line 10: "));
  EXPECT_THAT(MeshError(kVersion2, "1.5", "1e300"), HasSubstr("line 10: "));
  EXPECT_THAT(MeshError(kVersion2, "4 0 1 4 5", "2 0 1 4 5"), HasSubstr("line 11: "));
  EXPECT_THAT(MeshError(kVersion2, "4 0 1 4 5", "4 0 1 7 5"), HasSubstr("line 11: "));
  EXPECT_THAT(MeshError(kVersion2, "4 0 1 4 5", "4 0 -1 4 5"), HasSubstr("line 11: "));
  EXPECT_THAT(MeshError(kVersion2, "-1 -1 1 -1", "-1 -1 3 -1"), HasSubstr("line 11: "));
  EXPECT_THAT(MeshError(kVersion2, "-1 -1 1 -1", "-1 -1 2 -1"), HasSubstr("line 11: "));
  EXPECT_THAT(MeshError(kVersion2, "-1 -1 1 -1", "-2 -1 1 -1"), HasSubstr("line 11: "));
  EXPECT_THAT(MeshError(kVersion2, "4 0 1 4 5", "4 5 4 1 0"), HasSubstr("line 11: seen from above"));
  EXPECT_THAT(MeshError(kVersion2, "3 4 3 6 -1 1 -1", "3 4 3 6 -1 1 -1 7"), HasSubstr("line 13: "));
  EXPECT_THAT(MeshError(kVersion3, "1 4 3 4", "2 4 3 4"), HasSubstr("line 13: "));
  EXPECT_THAT(MeshError(kVersion3, "4 1 3 6 7", "4 0 3 6 7"), HasSubstr("line 12: "));
  EXPECT_THAT(ParsePolyanyaMesh("mesh 3 3 1 0 0 1 0 0 1 0 3 1 2 3 0 0 0"),
              IsError(kInvalid, ErrorReason::kBadSize, ""))
      << "nothing can be walked";
}

// Numbers that would take memory, or time, for what the file does not have.
TEST(PolyanyaMeshTest, CountsAreCheckedBeforeAnythingIsMadeOfThem) {
  for (const std::string count : {"1000000", "1048577", "4294967297", "9223372036854775807",
                                  "99999999999999999999", "-1", "1e9", "0x10"}) {
    for (const auto& [before, after] : {std::pair("mesh 2 ", " 3\n"),
                                        {"mesh 3 3 ", "\n"},
                                        {"mesh 2 1 1 0 0 ", " 0\n"},
                                        {"mesh 3 1 1 0 0 1 ", " 1 1 1\n"}}) {
      const std::string bytes = absl::StrCat(before, count, after);
      EXPECT_EQ(ParsePolyanyaMesh(bytes).status().code(), kInvalid) << bytes;
    }
  }
}

// The meshes of the benchmark, where they are at hand.
TEST(PolyanyaMeshTest, ReadsTheMeshesOfTheBenchmark) {
  const std::optional<std::filesystem::path> folder = DataFolder();
  if (!folder || !std::filesystem::exists(*folder / "meshes" / "polyanya")) {
    GTEST_SKIP() << "WAYSTAR_DATA names no folder with meshes/polyanya";
  }
  struct Expected {
    std::string name;
    std::size_t vertices;
    std::size_t polygons;
  };
  for (const auto& [name, vertices, polygons] : {Expected{"arena", 112, 120},
                                                 {"arena-merged", 112, 55},
                                                 {"aurora", 34'707, 34'816},
                                                 {"aurora-merged", 34'707, 19'244},
                                                 {"scene_mp_2p_01", 0, 3'860}}) {
    std::ifstream file(*folder / "meshes" / "polyanya" / (name + ".mesh"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const absl::StatusOr<NavMesh> mesh = ParsePolyanyaMesh(bytes);
    ASSERT_THAT(mesh, IsOk()) << name;
    EXPECT_GE(mesh->vertex_count(), vertices) << name;
    EXPECT_EQ(mesh->polygon_count(), polygons) << name;
    // The middle of a polygon is in that one and no other.
    for (PolygonNumber polygon = 0; polygon < mesh->polygon_count(); polygon += 17) {
      WorldPoint middle;
      for (const std::uint32_t vertex : mesh->VerticesOf(polygon)) {
        const auto count = static_cast<double>(mesh->VerticesOf(polygon).size());
        middle.x += mesh->VertexAt(vertex).x / count;
        middle.y += mesh->VertexAt(vertex).y / count;
      }
      const auto place = mesh->FindNearest({middle, 0.0, 0.0});
      ASSERT_TRUE(place.has_value()) << name << " " << polygon;
      EXPECT_EQ(place->polygon, polygon) << name;
    }
  }
}

std::vector<Format> AllFormats() {
  std::vector<Format> formats = Formats();
  formats.push_back({"Polyanya 2", ParsePolyanyaMesh, nullptr, kVersion2});
  formats.push_back({"Polyanya 3", ParsePolyanyaMesh, nullptr, kVersion3});
  return formats;
}

bool IsPolyanya(const Format& format) { return format.looks_like == nullptr; }

// A cut file of Polyanya's is always refused, unless only the last end of a line is missing.
TEST(TextMeshesTest, CutFilesAreRefusedOrReadInPart) {
  for (const Format& format : AllFormats()) {
    for (std::size_t size = 0; size < format.file.size(); ++size) {
      const absl::StatusOr<NavMesh> mesh = format.Read(format.file.substr(0, size));
      if (!mesh.ok()) {
        EXPECT_EQ(mesh.status().code(), kInvalid) << size;
        EXPECT_EQ(ErrorFieldOf(mesh.status()), "") << size;
      }
      if (IsPolyanya(format) && size + 2 < format.file.size()) {
        EXPECT_THAT(mesh, IsError(kInvalid, ErrorReason::kBadFormat, "")) << size;
      }
    }
  }
}

TEST(TextMeshesTest, StopsWhenAsked) {
  for (const Format& format : AllFormats()) {
    for (int looks = 0; looks < (IsPolyanya(format) ? 4 : 6); ++looks) {
      const StopAfter stop(looks);
      EXPECT_EQ(format.Read(format.file, {.grid = {.stop = &stop}}).status().code(),
                absl::StatusCode::kCancelled)
          << format.name << " " << looks;
    }
  }
}

}  // namespace
}  // namespace waystar::core
