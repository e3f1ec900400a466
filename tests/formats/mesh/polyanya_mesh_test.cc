#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/testing/movingai_data.h"
#include "tests/testing/mutated_bytes.h"
#include "tests/testing/random.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::waystar::testing::DataFolder;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;
using ::waystar::testing::MutatedBytes;
using ::waystar::testing::Random;
using ::waystar::testing::Rounds;

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

TEST(PolyanyaMeshTest, EveryCutIsAnError) {
  for (const absl::string_view whole : {kVersion2, kVersion3}) {
    for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
      EXPECT_THAT(ParsePolyanyaMesh(whole.substr(0, size)), IsError(kInvalid, ErrorReason::kBadFormat, ""))
          << size;
    }
  }
}

TEST(PolyanyaMeshTest, MutatedFilesAreRefusedOrRead) {
  Random random(7);
  const std::vector<std::string> files = {std::string(kVersion2), std::string(kVersion3)};
  for (std::uint64_t round = 0; round < Rounds(4'000); ++round) {
    const std::string bytes = MutatedBytes(files[round % 2], files, random);
    const absl::StatusOr<NavMesh> mesh = ParsePolyanyaMesh(bytes);
    if (!mesh.ok()) {
      EXPECT_EQ(mesh.status().code(), kInvalid) << bytes;
      EXPECT_EQ(ErrorFieldOf(mesh.status()), "") << bytes;
    }
  }
}

TEST(PolyanyaMeshTest, StopsWhenAsked) {
  for (int looks = 0; looks < 4; ++looks) {
    const testing::StopAfter stop(looks);
    EXPECT_EQ(ParsePolyanyaMesh(kVersion2, &stop).status().code(), absl::StatusCode::kCancelled) << looks;
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

}  // namespace
}  // namespace waystar::core
