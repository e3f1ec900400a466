#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/detect/map_folder.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/testing/movingai_data.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Little-endian, as the machine is that runs this.
template <typename Value>
void Put(std::string& bytes, const Value& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

constexpr std::uint16_t kBorder = 0x8000;

struct Polygon {
  std::vector<std::uint16_t> vertices;
  std::vector<std::uint16_t> neighbours;
  std::uint8_t area_and_type = 0;
  std::uint16_t flags = 1;
};

// The finer ground of a polygon: vertices beside its own, and triangles of both.
struct Ground {
  std::vector<std::array<float, 3>> vertices;
  std::vector<std::array<std::uint8_t, 3>> triangles;
};

struct Tile {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::vector<std::array<float, 3>> vertices;
  std::vector<Polygon> polygons;
  float climb = 0.5F;
  // Both ends and the radius of its off-mesh connection, which leads both ways. Without them it is rubbish.
  std::vector<float> connection = {};
  // Entry i belongs to polygon i. Polygons beyond the list have none.
  std::vector<Ground> grounds = {};
};

enum class Links : std::uint8_t { kShort, kLong };

// What Detour saves, with some of each list that is not read.
std::string DetourTile(const Tile& tile, Links links = Links::kLong) {
  constexpr std::int32_t kLinks = 3;
  std::string details;
  std::string detail_vertices;
  std::string detail_triangles;
  for (const Ground& ground : tile.grounds) {
    Put(details, static_cast<std::uint32_t>(detail_vertices.size() / 12));
    Put(details, static_cast<std::uint32_t>(detail_triangles.size() / 4));
    Put(details, static_cast<std::uint8_t>(ground.vertices.size()));
    Put(details, static_cast<std::uint8_t>(ground.triangles.size()));
    Put(details, std::uint16_t{0});
    for (const std::array<float, 3>& vertex : ground.vertices) {
      Put(detail_vertices, vertex);
    }
    for (const std::array<std::uint8_t, 3>& triangle : ground.triangles) {
      Put(detail_triangles, triangle);
      detail_triangles += '\x55';
    }
  }
  const auto count_of = [](std::size_t size) { return static_cast<std::int32_t>(size); };
  std::string bytes;
  Put(bytes,
      std::array{0x444E4156, 7, tile.x, tile.y, 0, 0, count_of(tile.polygons.size()),
                 count_of(tile.vertices.size()), kLinks, count_of(tile.grounds.size()),
                 count_of(detail_vertices.size() / 12), count_of(detail_triangles.size() / 4), 4, 1, 1});
  Put(bytes, std::array{2.0F, 0.6F, tile.climb, 0.0F, 0.0F, 0.0F, 9.0F, 9.0F, 9.0F, 3.3F});
  for (const std::array<float, 3>& vertex : tile.vertices) {
    Put(bytes, vertex);
  }
  for (const Polygon& polygon : tile.polygons) {
    Put(bytes, std::uint32_t{0xFFFFFFFF});
    for (const std::vector<std::uint16_t>* list : {&polygon.vertices, &polygon.neighbours}) {
      for (std::size_t k = 0; k < 6; ++k) {
        Put(bytes, k < list->size() ? (*list)[k] : std::uint16_t{0});
      }
    }
    Put(bytes, polygon.flags);
    Put(bytes, static_cast<std::uint8_t>(polygon.vertices.size()));
    Put(bytes, polygon.area_and_type);
  }
  const std::size_t link_bytes = links == Links::kLong ? 16 : 12;
  bytes.append(kLinks * link_bytes, '\x55');
  bytes += details + detail_vertices + detail_triangles;
  bytes.append(4 * 16, '\x55');
  if (tile.connection.empty()) {
    bytes.append(36, '\x55');
    return bytes;
  }
  for (const float number : tile.connection) {
    Put(bytes, number);
  }
  Put(bytes, std::uint16_t{2});
  Put(bytes, std::uint8_t{1});
  bytes.append(5, '\0');
  return bytes;
}

std::string SetBytes(const std::vector<Tile>& tiles, Links links = Links::kLong) {
  std::string bytes;
  Put(bytes, std::array{0x4D534554, 1, static_cast<std::int32_t>(tiles.size())});
  bytes.append(28, '\0');
  for (const Tile& tile : tiles) {
    const std::string tile_bytes = DetourTile(tile, links);
    if (links == Links::kLong) {
      Put(bytes, std::uint64_t{77});
      Put(bytes, static_cast<std::uint64_t>(tile_bytes.size()));
    } else {
      Put(bytes, std::uint32_t{77});
      Put(bytes, static_cast<std::uint32_t>(tile_bytes.size()));
    }
    bytes += tile_bytes;
  }
  return bytes;
}

// A .mmtile.
std::string EmulatorTile(const Tile& tile, std::size_t extra_bytes = 0) {
  const std::string tile_bytes = DetourTile(tile);
  std::string bytes;
  Put(bytes, std::array{0x4D4D4150U, 7U, 16U, static_cast<std::uint32_t>(tile_bytes.size()), 1U});
  bytes.append(extra_bytes, '\x3F');
  return bytes + tile_bytes;
}

// Seen from above, with the z of the file to the right and the border in the middle:
//   +---+---+
//   | 0 | 2 |
//   +---+   |
//   | 1 |   |
//   +---+---+
// The left tile also has an off-mesh connection, from (1, 1) to (3, 3) in the plan of the file, and the right
// one lies 0.4 higher on the border.
std::vector<Tile> TwoTiles() {
  const Tile left = {
      .x = 0,
      .y = 0,
      .vertices = {{0, 1, 0}, {0, 1, 4}, {2, 1, 4}, {2, 1, 0}, {4, 1, 4}, {4, 1, 0}, {9, 9, 9}},
      .polygons = {{{3, 2, 4, 5}, {2, kBorder | 2, 0, 0}, 3},
                   {{0, 1, 2, 3}, {0, kBorder | 2, 1, 0}, 5},
                   {{6, 6}, {}, 0x40}},
      .connection = {1, 1.25F, 1, 3, 1, 3, 0.5F}};
  const Tile right = {.x = 0,
                      .y = 1,
                      .vertices = {{0, 1.4F, 4}, {0, 1, 8}, {4, 1, 8}, {4, 1.4F, 4}},
                      .polygons = {{{0, 1, 2, 3}, {0, 0, 0, kBorder | 6}, 63}}};
  return {left, right};
}

void ExpectTwoTiles(const absl::StatusOr<DetourMesh>& detour, MeshAxes axes = MeshAxes::kYUp) {
  ASSERT_THAT(detour, IsOk());
  const NavMesh& mesh = detour->mesh;
  EXPECT_EQ(detour->tile_count, 2u);
  EXPECT_EQ(detour->portal_count, 1u);
  EXPECT_EQ(detour->passed_over, 1u);
  EXPECT_EQ(mesh.agent_radius(), double{0.6F});
  const auto portal = mesh.portals().Find("off-mesh-1");
  ASSERT_NE(portal, nullptr);
  EXPECT_EQ(portal->from, FromAxes(axes, 1, 1, 1)) << "on the ground";
  EXPECT_EQ(portal->to, FromAxes(axes, 3, 1, 3));
  EXPECT_EQ(portal->cost, std::sqrt(8.0));
  EXPECT_TRUE(portal->both_ways);
  ASSERT_EQ(mesh.polygon_count(), 3u);
  EXPECT_EQ(mesh.part_count(), 1u);
  EXPECT_EQ(mesh.AreaOf(0), 3);
  EXPECT_EQ(mesh.AreaOf(2), 63);
  // The border of the right tile has the vertex in the middle of the left one's.
  EXPECT_EQ(mesh.VerticesOf(2).size(), 5u);
  EXPECT_EQ(mesh.vertex_count(), 8u);
}

// Reads a file that must be right.
DetourMesh ReadDetour(const std::string& bytes, const ImportOptions& options = {}) {
  absl::StatusOr<DetourMesh> mesh = ParseDetourMesh(bytes, options);
  EXPECT_THAT(mesh, IsOk());
  return *std::move(mesh);
}

std::string DetourError(absl::string_view bytes) {
  const absl::Status status = ParseDetourMesh(bytes).status();
  EXPECT_THAT(status, IsError(kInvalid, ErrorReason::kBadFormat, ""));
  return std::string(status.message());
}

TEST(DetourMeshTest, ReadsSetsWithReferencesOfBothSizesThoughTheyLackTheirHead) {
  for (const Links links : {Links::kLong, Links::kShort}) {
    const std::string whole = SetBytes(TwoTiles(), links);
    ExpectTwoTiles(ParseDetourMesh(whole));
    // The magic alone, or all of the header.
    for (const std::size_t missing : {4U, 40U}) {
      SCOPED_TRACE(missing);
      const std::string bytes = whole.substr(missing);
      EXPECT_EQ(DetectFormat(bytes), MapFormat::kDetour);
      ExpectTwoTiles(ParseDetourMesh(bytes));
      DetourError(bytes.substr(0, bytes.size() - 1));
      DetourError(bytes + "x");
    }
  }
  EXPECT_EQ(DetectFormat(SetBytes(TwoTiles()).substr(3)), MapFormat::kText);
}

TEST(DetourMeshTest, WeldJoinsBordersThatOverlap) {
  std::vector<Tile> tiles = TwoTiles();
  for (const std::size_t vertex : {0U, 3U}) {
    tiles[1].vertices[vertex][2] = 3.9F;
  }
  ImportNotes notes;
  const DetourMesh apart = ReadDetour(SetBytes(tiles), {.notes = &notes});
  EXPECT_EQ(apart.mesh.part_count(), 2u);
  EXPECT_TRUE(std::any_of(notes.notes().begin(), notes.notes().end(), [](const ImportNote& note) {
    return note.text.find("--weld") != std::string::npos;
  }));
  ExpectTwoTiles(ParseDetourMesh(SetBytes(tiles), {.weld = 0.1}));
}

TEST(DetourMeshTest, ReadsTilesAlone) {
  for (const Links links : {Links::kLong, Links::kShort}) {
    const std::string left = DetourTile(TwoTiles()[0], links);
    const std::string right = DetourTile(TwoTiles()[1], links);
    ExpectTwoTiles(ParseDetourMesh(left + right));
    const DetourMesh one = ReadDetour(right);
    EXPECT_EQ(one.mesh.polygon_count(), 1u);
  }
}

TEST(DetourMeshTest, ReadsTheFilesOfEmulators) {
  const std::string tiles = EmulatorTile(TwoTiles()[0]) + EmulatorTile(TwoTiles()[1]);
  ExpectTwoTiles(ParseDetourMesh(tiles));
  ExpectTwoTiles(ParseDetourMesh(std::string(28, '\x41') + tiles));
  // AzerothCore has 36 bytes more in its headers.
  ExpectTwoTiles(ParseDetourMesh(EmulatorTile(TwoTiles()[0], 36) + EmulatorTile(TwoTiles()[1], 36)));
  // TrinityCore has a magic in its .mmap, and two off-mesh connections in this one.
  std::string map;
  Put(map, std::array{0x4D4D4150U, 16U});
  map.append(28, '\x41');
  Put(map, 2);
  map.append(88, '\x41');
  ExpectTwoTiles(ParseDetourMesh(map + tiles));
  EXPECT_THAT(DetourError(map.substr(0, 100)), HasSubstr("off-mesh connections"));
  EXPECT_THAT(DetourError(std::string(28, '\x41')), HasSubstr(".mmtile"));
  EXPECT_THAT(DetourError(tiles + "PAMM"), HasSubstr("tile 2"));
}

TEST(DetourMeshTest, CoordinatesAreTurned) {
  const std::string bytes = SetBytes(TwoTiles());
  const DetourMesh up = ReadDetour(bytes);
  EXPECT_EQ(up.mesh.VertexAt(up.mesh.VerticesOf(0)[0]).z, 1.0);
  EXPECT_EQ(up.mesh.bounds().high, (WorldPoint{4, 8, 1}));
  const absl::StatusOr<DetourMesh> unreal = ParseDetourMesh(bytes, {.axes = MeshAxes::kUnreal});
  ExpectTwoTiles(unreal, MeshAxes::kUnreal);
  EXPECT_EQ(unreal->mesh.bounds().low, (WorldPoint{-4, -8, 1}));
  EXPECT_EQ(FromAxes(MeshAxes::kZUp, 1, 2, 3), (WorldPoint{1, 2, 3}));
}

TEST(DetourMeshTest, BordersAreJoinedWithinTheClimb) {
  std::vector<Tile> tiles = TwoTiles();
  tiles[0].climb = tiles[1].climb = 0.3F;
  const DetourMesh low = ReadDetour(SetBytes(tiles));
  EXPECT_EQ(low.mesh.part_count(), 2u);
  tiles = TwoTiles();
  tiles[0].polygons[0].neighbours[1] = 0;
  tiles[0].polygons[1].neighbours[1] = 0;
  const DetourMesh closed = ReadDetour(SetBytes(tiles));
  EXPECT_EQ(closed.mesh.part_count(), 2u) << "the border is a wall for the left tile";
}

// Two tiles that meet where the x of the file is 4. The heights are those of the edges there: at both ends
// of the left one, and of the right one.
std::vector<Tile> TilesMeetingAt(const std::array<float, 4>& heights, float climb) {
  const auto [a, b, c, d] = heights;
  const Tile left = {.vertices = {{0, a, 0}, {0, b, 8}, {4, b, 8}, {4, a, 0}},
                     .polygons = {{{0, 1, 2, 3}, {0, 0, kBorder, 0}}},
                     .climb = climb};
  const Tile right = {.x = 1,
                      .vertices = {{4, c, 0}, {4, d, 8}, {8, d, 8}, {8, c, 0}},
                      .polygons = {{{0, 1, 2, 3}, {kBorder | 4, 0, 0, 0}}},
                      .climb = climb};
  return {left, right};
}

std::vector<std::string> NotesOfSet(const std::vector<Tile>& tiles) {
  ImportNotes notes;
  EXPECT_THAT(ParseDetourMesh(SetBytes(tiles), {.notes = &notes}), IsOk());
  std::vector<std::string> lines;
  for (const ImportNote& note : notes.notes()) {
    lines.push_back(LineOf(note));
  }
  return lines;
}

TEST(DetourMeshTest, BordersAreJoinedWhereTheirHeightsAgree) {
  struct Case {
    std::array<float, 4> heights;
    // Where the z of the file is between these, the border is open.
    double begin = 0.0;
    double end = 0.0;
  };
  for (const Case& border :
       {Case{{0, 0, 0, 0}, 0, 8}, Case{{0, 0, 0, 0.75F}, 0, 16 / 3.0}, Case{{0, 0, 0.75F, 0}, 8 / 3.0, 8},
        Case{{0, 0, -1, 1}, 2, 6}, Case{{0.75F, 0, 0, 0.75F}, 4 / 3.0, 20 / 3.0},
        Case{{0, 4, 0.25F, 5}, 0, 8 / 3.0}}) {
    const std::vector<Tile> tiles = TilesMeetingAt(border.heights, 0.5F);
    const DetourMesh detour = ReadDetour(SetBytes(tiles));
    const NavMesh& mesh = detour.mesh;
    EXPECT_EQ(mesh.part_count(), 1u);
    const auto neighbours = mesh.NeighboursOf(0);
    const auto vertices = mesh.VerticesOf(0);
    const auto open = std::find(neighbours.begin(), neighbours.end(), 1u);
    ASSERT_NE(open, neighbours.end());
    const auto k = static_cast<std::size_t>(open - neighbours.begin());
    const double begin = mesh.VertexAt(vertices[k]).y;
    const double end = mesh.VertexAt(vertices[(k + 1) % vertices.size()]).y;
    EXPECT_NEAR(begin, border.begin, 0.02);
    EXPECT_NEAR(end, border.end, 0.02);
    EXPECT_THAT(NotesOfSet(tiles), IsEmpty());
  }
  EXPECT_THAT(NotesOfSet(TilesMeetingAt({0, 0, 0.75F, 0.75F}, 0.5F)),
              ElementsAre(HasSubstr("links between tiles that Detour may make are missing")));
  EXPECT_THAT(NotesOfSet(TilesMeetingAt({0, 0, 1.25F, 1.25F}, 0.5F)), IsEmpty());
}

TEST(DetourMeshTest, GroundWithoutFlagsIsClosed) {
  Tile tile = {.vertices = {{0, 0, 0}, {0, 0, 4}, {4, 0, 4}, {4, 0, 0}, {8, 0, 4}, {8, 0, 0}, {9, 9, 9}},
               .polygons = {{{0, 1, 2, 3}, {0, 0, 2, 0}, 0, 1},
                            {{3, 2, 4, 5}, {1, 0, 0, 0}, 0, 0},
                            {{6, 6}, {}, 0x40, 0}},
               .connection = {1, 0, 1, 3, 0, 3, 0.5F}};
  const DetourMesh closed = ReadDetour(SetBytes({tile}));
  EXPECT_EQ(closed.mesh.polygon_count(), 1u);
  EXPECT_TRUE(closed.mesh.portals().Find("off-mesh-1")->closed);
  EXPECT_THAT(NotesOfSet({tile}), ElementsAre(HasSubstr("polygons with flags 0"),
                                              HasSubstr("portals of off-mesh connections with flags 0")));
  tile.polygons[1].flags = 2;
  EXPECT_THAT(NotesOfSet({tile}), ElementsAre(HasSubstr("portals of")));
  for (Polygon& polygon : tile.polygons) {
    polygon.flags = 0;
  }
  const DetourMesh unset = ReadDetour(SetBytes({tile}));
  EXPECT_EQ(unset.mesh.polygon_count(), 2u);
  EXPECT_FALSE(unset.mesh.portals().Find("off-mesh-1")->closed);
  EXPECT_THAT(NotesOfSet({tile}), ElementsAre(HasSubstr("all flags are 0")));
}

// A row of squares with these areas and flags.
Tile RowOf(const std::vector<std::pair<std::uint8_t, std::uint16_t>>& grounds) {
  Tile tile = {.vertices = {{0, 0, 0}, {0, 0, 1}}, .polygons = {}};
  for (const auto& [area, flags] : grounds) {
    const auto first = static_cast<std::uint16_t>(tile.vertices.size() - 2);
    const auto x = static_cast<float>(tile.polygons.size() + 1);
    tile.vertices.insert(tile.vertices.end(), {{x, 0, 0}, {x, 0, 1}});
    tile.polygons.push_back({{first, static_cast<std::uint16_t>(first + 1),
                              static_cast<std::uint16_t>(first + 3), static_cast<std::uint16_t>(first + 2)},
                             {0, 0, 0, 0},
                             area,
                             flags});
  }
  return tile;
}

TEST(DetourMeshTest, AreasAndFlagsAreTerrains) {
  // The commonest flags of an area keep its number.
  const NavMesh mesh =
      ReadDetour(SetBytes({RowOf({{1, 3}, {1, 0x8000}, {1, 3}, {63, 1}, {63, 2}, {0, 1}, {63, 2}})})).mesh;
  const auto terrain = [&](PolygonNumber polygon) { return mesh.terrains()[mesh.AreaOf(polygon)]; };
  EXPECT_EQ(mesh.AreaOf(0), 1);
  EXPECT_EQ(terrain(0), (MeshTerrain{.name = "area-1", .tags = {"flag-0", "flag-1"}}));
  EXPECT_EQ(mesh.AreaOf(1), 2);
  EXPECT_EQ(terrain(1), (MeshTerrain{.name = "area-1-flags-0x8000", .tags = {"flag-15"}}));
  EXPECT_EQ(mesh.AreaOf(2), 1);
  EXPECT_EQ(mesh.AreaOf(3), 3);
  EXPECT_EQ(terrain(3), (MeshTerrain{.name = "walkable-flags-0x0001", .tags = {"flag-0"}}));
  EXPECT_EQ(mesh.AreaOf(4), 63);
  EXPECT_EQ(terrain(4), (MeshTerrain{.name = "walkable", .tags = {"flag-1"}}));
  EXPECT_EQ(terrain(5), (MeshTerrain{.name = "ground", .tags = {"flag-0"}}));
  EXPECT_EQ(mesh.terrains().size(), 64u);
}

TEST(DetourMeshTest, RareFlagsBeyondTheMostTerrainsAreMerged) {
  std::vector<std::pair<std::uint8_t, std::uint16_t>> grounds = {{5, 1}, {5, 1}};
  for (std::uint16_t flags = 2; flags < 70; ++flags) {
    grounds.emplace_back(std::uint8_t{5}, flags);
  }
  const Tile tile = RowOf(grounds);
  EXPECT_THAT(NotesOfSet({tile}), ElementsAre(HasSubstr("more than 64 kinds of ground")));
  const NavMesh mesh = ReadDetour(SetBytes({tile})).mesh;
  EXPECT_EQ(mesh.AreaOf(0), 5);
  EXPECT_EQ(mesh.AreaOf(2), 0);
  EXPECT_EQ(mesh.AreaOf(69), 5);
}

// The polygon is flat where the ground of the level is a hill: the ends of the connection lie on the hill.
TEST(DetourMeshTest, EndsOfConnectionsMayLieAsHighAsThePolygon) {
  Tile tile = {.vertices = {{0, 0, 0}, {0, 3, 8}, {8, 3, 8}, {8, 0, 0}},
               .polygons = {{{0, 1, 2, 3}, {0, 0, 0, 0}}},
               .connection = {2, 2.5F, 2, 6, 3.25F, 4, 0.5F}};
  const DetourMesh hill = ReadDetour(SetBytes({tile}));
  ASSERT_EQ(hill.portal_count, 1u);
  EXPECT_EQ(hill.mesh.portals().Find("off-mesh-1")->from, (WorldPoint{2, 2, 0.75}));
  tile.connection[1] = 3.75F;
  const DetourMesh high = ReadDetour(SetBytes({tile}));
  EXPECT_EQ(high.portal_count, 0u);
}

// Seen from above, with the triangle 1 on the line between the others:
//   +---+---+
//   |   | 2 |
//   | 0 +   |
//   |   |   |
//   +---+---+
TEST(DetourMeshTest, GroundWithoutAreaIsPassedThrough) {
  const Tile tile = {
      .vertices = {{0, 0, 0}, {0, 0, 4}, {4, 0, 4}, {4, 0.25F, 2}, {4, 0, 0}, {8, 0, 4}, {8, 0, 0}},
      .polygons = {{{0, 1, 2, 4}, {0, 0, 2, 0}}, {{4, 2, 3}, {1, 3, 3}}, {{4, 3, 2, 5, 6}, {2, 2, 0, 0, 0}}}};
  const DetourMesh detour = ReadDetour(SetBytes({tile}));
  EXPECT_EQ(detour.mesh.polygon_count(), 2u);
  EXPECT_EQ(detour.mesh.part_count(), 1u);
  EXPECT_THAT(NotesOfSet({tile}), ElementsAre(HasSubstr("faces without an area")));
  // Its corner lies a little within its neighbour, so that it runs the other way.
  Tile turned = tile;
  turned.vertices[3][0] = 3.995F;
  const DetourMesh other = ReadDetour(SetBytes({turned}));
  EXPECT_EQ(other.mesh.part_count(), 1u);
  // A wall of no width: what is above it is out of reach.
  Tile wall = tile;
  wall.vertices = {{0, 0, 0}, {0, 0, 4}, {4, 0, 4}, {4, 0, 0}, {4, 5, 0}, {4, 5, 4}, {8, 5, 4}, {8, 5, 0}};
  wall.polygons = {{{0, 1, 2, 3}, {0, 0, 2, 0}}, {{3, 2, 5, 4}, {1, 0, 3, 0}}, {{4, 5, 6, 7}, {2, 0, 0, 0}}};
  EXPECT_THAT(NotesOfSet({wall}), ElementsAre(HasSubstr("faces without an area"),
                                              HasSubstr("links through polygons without an area")));
}

TEST(DetourMeshTest, GroundOnOtherGroundIsNoted) {
  Tile tile = {.vertices = {{0, 0, 0}, {0, 1, 4}, {4, 1, 4}, {4, 0, 0}, {0, 0, 0}, {0, 1, 4}, {5, 1, 4}},
               .polygons = {{{0, 1, 2, 3}, {0, 0, 0, 0}}, {{4, 5, 6}, {0, 0, 0}}}};
  EXPECT_THAT(NotesOfSet({tile}), ElementsAre(HasSubstr("polygons lie on others")));
  tile.vertices[4][1] = tile.vertices[5][1] = tile.vertices[6][1] = 2.0F;
  EXPECT_THAT(NotesOfSet({tile}), IsEmpty());
}

TEST(DetourMeshTest, ManyPolygonsOnEachOtherAreCounted) {
  Tile tile = {.vertices = {{0, 0, 0}, {0, 0, 4}, {4, 0, 4}, {4, 0, 0}}, .polygons = {}};
  tile.polygons.assign(20'000, {{0, 1, 2, 3}, {0, 0, 0, 0}});
  EXPECT_THAT(NotesOfSet({tile}), ElementsAre("polygons lie on others at the same height, and are joined at "
                                              "common edges alone, 20000 times"));
}

TEST(DetourMeshTest, RefusesTileCachesWithAReason) {
  std::string bytes;
  Put(bytes, 0x54534554);
  Put(bytes, 1);
  bytes.append(200, '\0');
  EXPECT_TRUE(LooksLikeDetourMesh(bytes));
  EXPECT_THAT(DetourError(bytes), HasSubstr("MSET"));
}

TEST(DetourMeshTest, SaysWhereItIsWrong) {
  const auto error_of = [](auto change) {
    std::vector<Tile> tiles = TwoTiles();
    change(tiles[1]);
    return DetourError(SetBytes(tiles));
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {kNan, kInfinity, -kInfinity, 3e38F}) {
    EXPECT_THAT(error_of([&](Tile& tile) { tile.vertices[2][1] = bad; }), HasSubstr("tile 1: vertex 2: "));
    EXPECT_THAT(error_of([&](Tile& tile) { tile.climb = bad; }), HasSubstr("tile 1: "));
  }
  EXPECT_THAT(error_of([](Tile& tile) { tile.climb = -1.0F; }), HasSubstr("tile 1: "));
  EXPECT_THAT(error_of([](Tile& tile) { tile.polygons[0].vertices[3] = 4; }),
              HasSubstr("tile 1: polygon 0: there is no vertex 4"));
  EXPECT_THAT(error_of([](Tile& tile) { tile.polygons[0].vertices.resize(2); }),
              HasSubstr("tile 1: polygon 0: "));
  EXPECT_THAT(error_of([](Tile& tile) { tile.polygons[0].vertices.resize(7); }),
              HasSubstr("tile 1: polygon 0: "));
  EXPECT_THAT(error_of([](Tile& tile) { tile.polygons[0].area_and_type = 0x80; }),
              HasSubstr("tile 1: polygon 0: there is no type 2"));
  EXPECT_THAT(error_of([](Tile& tile) { tile.y = 0; }), HasSubstr("tile 1: another one"));
  EXPECT_THAT(DetourError(""), HasSubstr("no tile"));
  EXPECT_THAT(DetourError(SetBytes(TwoTiles()) + "x"), HasSubstr("after the last"));
  EXPECT_THAT(ParseDetourMesh(SetBytes({})), IsError(kInvalid, ErrorReason::kBadSize, ""));
  std::vector<Tile> flat = {TwoTiles()[1]};
  flat[0].vertices = {{0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {3, 0, 3}};
  EXPECT_THAT(ParseDetourMesh(SetBytes(flat)), IsError(kInvalid, ErrorReason::kBadSize, ""));
}

// The right tile with a ridge, 2 high, along the middle of its polygon.
Tile TileWithRidge() {
  Tile tile = TwoTiles()[1];
  tile.vertices = {{0, 1, 4}, {0, 1, 8}, {4, 1, 8}, {4, 1, 4}};
  tile.grounds = {
      {.vertices = {{2, 3, 4}, {2, 3, 8}}, .triangles = {{0, 1, 4}, {1, 5, 4}, {5, 2, 4}, {2, 3, 4}}}};
  return tile;
}

TEST(DetourMeshTest, FinerGroundIsReadWithLinksOfBothSizes) {
  for (const Links links : {Links::kShort, Links::kLong}) {
    const NavMesh mesh = ReadDetour(SetBytes({TileWithRidge()}, links)).mesh;
    for (const double x : {0.0, 0.5, 1.0, 2.0, 3.5, 4.0}) {
      const double height = 1.0 + 2.0 - std::abs(2.0 - x);
      const std::optional<MeshPlace> place = mesh.FindNearest({{x, 6, height}, 0.001, 0.001});
      ASSERT_TRUE(place) << x;
      EXPECT_NEAR(place->point.z, height, 1e-6) << x;
    }
  }
}

TEST(DetourMeshTest, FinerGroundFollowsThePolygonsThatAreOpen) {
  Tile tile = TileWithRidge();
  tile.polygons.insert(tile.polygons.begin(), {{0, 1, 2}, {}, 0, 0});
  tile.grounds.insert(tile.grounds.begin(), Ground{});
  const NavMesh mesh = ReadDetour(SetBytes({tile})).mesh;
  ASSERT_EQ(mesh.polygon_count(), 1u);
  EXPECT_NEAR(mesh.HeightAt(0, 2, 6), 3.0, 1e-6);
}

TEST(DetourMeshTest, FinerGroundMustBeInTheTile) {
  const auto error_of = [](const auto& change) {
    Tile tile = TileWithRidge();
    change(tile.grounds[0]);
    return DetourError(SetBytes({tile}));
  };
  EXPECT_THAT(error_of([](Ground& ground) { ground.triangles[1][2] = std::uint8_t{6}; }),
              HasSubstr("no such vertex"));
  EXPECT_THAT(error_of([](Ground& ground) { ground.vertices[0][1] = 1e30F; }), HasSubstr("no such vertex"));
  std::string bytes = SetBytes({TileWithRidge()});
  const std::size_t detail_at = bytes.size() - 36 - 4 * 16 - 4 * 4 - 2 * 12 - 12;
  for (const std::size_t at : {detail_at, detail_at + 4}) {
    for (const char byte : {'\x01', '\x7F', '\xFF'}) {
      std::string wrong = bytes;
      wrong[at + 3] = byte;
      EXPECT_THAT(DetourError(wrong), HasSubstr("not in the lists"));
    }
  }
}

TEST(DetourMeshTest, EveryCutIsAnError) {
  for (const std::string& whole : {SetBytes(TwoTiles(), Links::kLong), SetBytes(TwoTiles(), Links::kShort),
                                   EmulatorTile(TwoTiles()[0]), SetBytes({TileWithRidge()})}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_EQ(ParseDetourMesh(whole.substr(0, size)).status().code(), kInvalid) << size;
    }
  }
}

// Sizes that would take memory for what the file does not have, or add up to what it has by wrapping around.
TEST(DetourMeshTest, SizesAreChecked) {
  const std::string whole = SetBytes(TwoTiles());
  constexpr std::size_t kTileAt = 40 + 16;
  std::vector<std::size_t> places = {4, 8, 40 + 8, kTileAt, kTileAt + 4};
  for (std::size_t list = 0; list < 8; ++list) {
    places.push_back(kTileAt + 24 + 4 * list);
  }
  for (const std::size_t at : places) {
    for (const std::uint32_t number :
         {0xFFFFFFFFU, 0x80000000U, 0x7FFFFFFFU, 0x40000000U, 0x10000000U, 0x08000000U, 1'000'000U, 100U}) {
      std::string bytes = whole;
      std::string word;
      Put(word, number);
      bytes.replace(at, 4, word);
      EXPECT_THAT(ParseDetourMesh(bytes), IsError(kInvalid, ErrorReason::kBadFormat, ""))
          << at << " " << number;
    }
  }
}

TEST(DetourMeshTest, StopsWhenAsked) {
  const std::string bytes = SetBytes(TwoTiles());
  for (int looks = 0; looks < 10; ++looks) {
    const StopAfter stop(looks);
    EXPECT_EQ(ParseDetourMesh(bytes, {.grid = {.stop = &stop}}).status().code(), absl::StatusCode::kCancelled)
        << looks;
  }
}

TEST(DetourMeshTest, IsKnownByItsBeginning) {
  for (const std::string& known :
       {SetBytes(TwoTiles()), DetourTile(TwoTiles()[0]), EmulatorTile(TwoTiles()[0]),
        EmulatorTile(TwoTiles()[0], 36), std::string(28, '\x41') + EmulatorTile(TwoTiles()[0])}) {
    EXPECT_TRUE(LooksLikeDetourMesh(known)) << known;
  }
  for (const absl::string_view other :
       {"", "TESM", "TESMTESMTESM", "VAND\n....", "PAMM....PAMM", "mesh\n2\n"}) {
    EXPECT_FALSE(LooksLikeDetourMesh(other)) << other;
  }
}

std::string FileBytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// How many polygons the largest connected part has.
std::size_t LargestPart(const NavMesh& mesh) {
  std::vector<std::size_t> sizes(mesh.part_count());
  std::size_t largest = 0;
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    largest = std::max(largest, ++sizes[mesh.PartOf(polygon)]);
  }
  return largest;
}

// The parameters of a mesh, as the emulators write them.
std::string Params() {
  std::string bytes;
  Put(bytes, std::array{-17066.6F, -100.0F, -17066.6F, 533.3333F, 533.3333F});
  Put(bytes, std::uint32_t{320});
  Put(bytes, std::uint32_t{1} << 31);
  return bytes;
}

TEST(DetourMeshTest, AMapWithoutTilesSaysThatItNeedsThem) {
  const std::string of_trinity = std::string("PAMM\x10\0\0\0", 8) + Params() + std::string(4, '\0');
  for (const std::string& bytes : {Params(), of_trinity}) {
    EXPECT_EQ(DetectFormat(bytes), MapFormat::kDetour);
    const absl::Status status = ImportMap(MapFormat::kDetour, bytes, {}).status();
    EXPECT_THAT(status, IsError(kInvalid, ErrorReason::kBadFormat, ""));
    EXPECT_THAT(std::string(status.message()), HasSubstr("a .mmap needs the .mmtile of its map behind it"));
  }
  for (const absl::string_view text :
       {absl::string_view("......\n......\n......\n......\n"),
        absl::string_view("1\0002\0003\0\n\0001\0002\0003\0\n\0001\0002\0003\0\n\0001\0002\0", 28)}) {
    ASSERT_EQ(text.size(), 28U);
    EXPECT_FALSE(LooksLikeDetourMesh(text)) << text;
  }
  const OwnFolder folder;
  for (const std::string& bytes : {Params(), std::string(28, '\x41'), std::string()}) {
    const auto loaded = LoadMapFile({.path = folder.Write("571.mmap", bytes), .id = "571"}, 100, nullptr);
    EXPECT_THAT(std::string(loaded.status().message()), HasSubstr("holds no tile of Detour"));
  }
}

// The id of a map may begin as that of another does.
TEST(DetourMeshTest, AFolderMayHoldMapsOfEmulatorsWithTheirOwnTiles) {
  const OwnFolder folder;
  const std::vector<std::string> maps = {"0111", "111", "1116"};
  for (const std::string& map : maps) {
    folder.Write(map + ".mmap", std::string(28, '\x41'));
  }
  folder.Write("1113132.mmtile", EmulatorTile(TwoTiles()[0]));
  folder.Write("1113133.MMTILE", EmulatorTile(TwoTiles()[1]));
  folder.Write("11163132.mmtile", EmulatorTile(TwoTiles()[0]));
  folder.Write("0111_31_32.mmtile", EmulatorTile(TwoTiles()[0]));
  for (const char* const other : {"111.mmtile", "111313.mmtile", "111_copy.mmtile", "0003133.mmtile"}) {
    folder.Write(other, "no tile of these maps");
  }
  const auto listed = ListMapFiles(folder.path());
  ASSERT_THAT(listed, IsOk());
  ASSERT_EQ(listed->files.size(), maps.size());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const auto loaded = LoadMapFile(listed->files[i], 100, nullptr);
    ASSERT_THAT(loaded, IsOk()) << maps[i];
    EXPECT_EQ(loaded->maps.front().id, maps[i]);
    EXPECT_EQ(std::get<NavMesh>(loaded->maps.front().map).polygon_count(), maps[i] == "111" ? 3U : 2U);
  }
}

// Meshes of the demo's levels, where they are at hand.
TEST(DetourMeshTest, ReadsMeshesOfRecastDemo) {
  const std::optional<std::filesystem::path> folder = DataFolder();
  if (!folder || !std::filesystem::exists(*folder / "meshes" / "detour")) {
    GTEST_SKIP() << "WAYSTAR_DATA names no folder with meshes/detour";
  }
  const std::filesystem::path files = *folder / "meshes" / "detour";
  const DetourMesh level = ReadDetour(FileBytes(files / "all_tiles_navmesh.bin"));
  EXPECT_EQ(level.tile_count, 66u);
  EXPECT_EQ(level.mesh.polygon_count() + level.portal_count + level.passed_over, 271u);
  EXPECT_GT(LargestPart(level.mesh), 100u);
  const absl::StatusOr<DetourMesh> dungeon =
      ParseDetourMesh(FileBytes(files / "dungeon_all_tiles_navmesh.bin"));
  const absl::StatusOr<DetourMesh> dungeon_32 =
      ParseDetourMesh(FileBytes(files / "dungeon_all_tiles_navmesh_32bit.bin"));
  ASSERT_THAT(dungeon, IsOk());
  ASSERT_THAT(dungeon_32, IsOk());
  EXPECT_EQ(dungeon->tile_count, 41u);
  EXPECT_EQ(dungeon->mesh.polygon_count(), 143u);
  EXPECT_EQ(dungeon->mesh.vertex_count(), dungeon_32->mesh.vertex_count());
  EXPECT_GT(LargestPart(dungeon->mesh), 100u);
  for (PolygonNumber polygon = 0; polygon < 143; ++polygon) {
    EXPECT_EQ(dungeon->mesh.NeighboursOf(polygon), dungeon_32->mesh.NeighboursOf(polygon));
    EXPECT_EQ(dungeon->mesh.VerticesOf(polygon), dungeon_32->mesh.VerticesOf(polygon));
  }
  for (const char* cache : {"all_tiles_tilecache.bin", "dungeon_all_tiles_tilecache.bin"}) {
    EXPECT_THAT(DetourError(FileBytes(files / cache)), HasSubstr("MSET"));
  }
}

}  // namespace
}  // namespace waystar::core
