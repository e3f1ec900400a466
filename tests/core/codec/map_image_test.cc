#include "server/core/codec/map_image.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/codec/fields.h"
#include "server/core/codec/values.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/formats/text/rows.h"
#include "server/formats/text/text.h"
#include "tests/core/edit/any_map.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/graph_model.h"
#include "tests/testing/mutated_bytes.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

template <typename Map>
Map Decoded(const std::string& image) {
  absl::StatusOr<AnyMap> map = DecodeImage(image);
  EXPECT_EQ(map.status(), absl::OkStatus());
  return std::get<Map>(*std::move(map));
}

void ExpectSameImage(const GridMap& map, const GridMap& wanted, const std::string& where) {
  SCOPED_TRACE(where);
  ExpectSame(map, wanted);
  EXPECT_EQ(EncodeImage(map), EncodeImage(wanted));
}

GridMap WithPortalsAndProfiles(GridMap map, Generator& generator) {
  for (int i = 0; i < 8; ++i) {
    absl::StatusOr<EditResult> result = ApplyEdits(map, {AnyPortalOrProfileEdit(map, generator)});
    if (result.ok()) {
      map = std::move(result->map);
    }
  }
  return map;
}

TEST(MapImageTest, GridsComeBackAsTheyWere) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = seed % 10 == 0 ? 200 : 40,
                                 .weighted = generator.Chance(0.5),
                                 .connectivity = AnyConnectivity(generator)});
    map = WithPortalsAndProfiles(map, generator);
    for (int i = generator.Between(0, 3); i > 0; --i) {
      map = ApplyEdits(map, generator.AnyEdits(map, 5), absl::FromUnixSeconds(1'700'000'000))->map;
    }
    const Edit brief = PutObstacle{.obstacle = generator.ObstacleOf(map, "brief"),
                                   .lifetime = absl::Seconds(generator.Between(1, 60))};
    if (auto result = ApplyEdits(map, {brief}, absl::FromUnixSeconds(1000)); result.ok()) {
      map = std::move(result->map);
    }
    const std::string where = absl::StrCat("seed ", seed);
    GridMap again = Decoded<GridMap>(EncodeImage(map));
    ExpectSameImage(again, map, where);
    const std::vector<Edit> edits = generator.AnyEdits(map, 5);
    ExpectSameImage(ApplyEdits(again, edits)->map, ApplyEdits(map, edits)->map,
                    absl::StrCat(where, ", changed"));
  }
}

TEST(MapImageTest, BoardsOfHexagonsKeepTheirLayout) {
  for (int layout = 0; layout <= static_cast<int>(HexLayout::kEvenColumns); ++layout) {
    GridSettings settings{.connectivity = Connectivity::kSix, .diagonal_cost = 1.0};
    settings.frame.hexagons = HexBoard{.layout = static_cast<HexLayout>(layout)};
    const absl::StatusOr<GridMap> map = ParseRows({"..#.", "#...", ".#.."}, settings, {});
    ASSERT_TRUE(map.ok()) << map.status();
    const GridMap again = Decoded<GridMap>(EncodeImage(*map));
    ExpectSameImage(again, *map, absl::StrCat("layout ", layout));
    EXPECT_EQ(FormatText(again), FormatText(*map));
  }
}

// However the map came about; a blank map of the largest size takes no more than its rows do.
TEST(MapImageTest, TheImageFollowsFromTheMapAlone) {
  const GridMap blank = DrawMap({"....", "...."});
  const GridMap changed =
      ApplyEdits(blank, std::vector<Edit>{BlockCells{.shape = {.cells = {{1, 1}, {2, 0}}}},
                                          UnblockCells{.shape = {.cells = {{2, 0}}}}})
          ->map;
  EXPECT_EQ(EncodeImage(changed), EncodeImage(DrawMap({"....", ".#.."})));
  EXPECT_LT(EncodeImage(*GridMap::Create(kMaxMapSide, kMaxMapSide, {})).size(), 1000u);
}

// Rows of words and rows that end within one, of one terrain, of runs and of single cells.
TEST(MapImageTest, RowsOfAnyWidthComeBack) {
  const GridSettings settings{.terrains = {{},
                                           {.symbol = '~', .name = "water", .cost = 4.0},
                                           {.symbol = '^', .name = "rock", .impassable = true}}};
  Random random(5);
  for (const int width : {1, 2, 7, 8, 9, 62, 63, 64, 65, 126, 127, 128, 129, 200}) {
    for (const TerrainId fill : {TerrainId{0}, TerrainId{2}}) {
      for (const bool blocked : {false, true}) {
        const GridMap blank = *GridMap::Create(width, 12, settings, fill, blocked);
        const std::string where = absl::StrCat(width, " cells, terrain ", fill, blocked ? ", blocked" : "");
        ExpectSameImage(Decoded<GridMap>(EncodeImage(blank)), blank, where);
        GridMapEditor editor(blank);
        for (int y = 0; y < 12; ++y) {
          const int longest = y < 4 ? 1 : y < 8 ? width : 12;
          for (int x = 0; x < width && y % 4 != 3;) {
            const int end = std::min(width, x + random.Between(1, longest));
            editor.SetTerrains(y, x, end, static_cast<TerrainId>(random.Between(0, 2)));
            editor.SetObstacles(y, x, end, random.Chance(0.4));
            x = end;
          }
        }
        const GridMap map = std::move(editor).Finish();
        ExpectSameImage(Decoded<GridMap>(EncodeImage(map)), map, where);
      }
    }
  }
}

// Where a row is of one terrain and an eighth of its cells are blocked, a byte a cell would be eight times
// as much.
TEST(MapImageTest, ObstaclesTakeABitACell) {
  Random random(9);
  const GridMap blank = *GridMap::Create(4000, 400, {});
  GridMapEditor editor(blank);
  for (int i = 0; i < 200'000; ++i) {
    editor.SetObstacle({random.Between(0, 3999), random.Between(0, 399)}, true);
  }
  const GridMap map = std::move(editor).Finish();
  const std::string image = EncodeImage(map);
  BlockReader from(image, 4000 * 400 / 8 + 4000);
  from.Number(1);
  from.Number(1);
  const absl::StatusOr<GridMap> again = ReadGrid(from, {});
  ASSERT_THAT(again.status(), IsOk());
  EXPECT_EQ(again->digest(), map.digest());
}

// A grid of 70 x 1 cells of two terrains, whose cells are `cells`.
std::string ImageOfCells(const std::string& cells) {
  BlockWriter to;
  to.PutNumber(1);
  to.PutNumber(0);
  to.PutNumber(70);
  to.PutNumber(1);
  WriteValue(GridSettings{.terrains = {{}, {.symbol = '~', .name = "water", .cost = 4.0}}}, to);
  to.PutBytes(cells);
  to.PutBytes(std::string(3, '\0'));
  return std::move(to).Finish();
}

TEST(MapImageTest, CellsAreChecked) {
  const auto message_of = [](absl::string_view cells) {
    return std::string(DecodeImage(ImageOfCells(std::string(cells))).status().message());
  };
  const std::string free(9, '\0');
  // What is right gets as far as the digest, which is missing.
  const std::string right = "missing";
  EXPECT_THAT(message_of({"\0\0\0", 3}), HasSubstr(right));
  EXPECT_THAT(message_of({"\x81\0\0", 3}), HasSubstr(right));
  EXPECT_THAT(message_of({"\x02\0\0", 3}), HasSubstr("terrain 2 of 2"));
  EXPECT_THAT(message_of({"\0\3", 2}), HasSubstr("at most 2"));
  // Runs.
  EXPECT_THAT(message_of({"\0\1\1\x45\0\1\0", 7}), HasSubstr(right));
  EXPECT_THAT(message_of({"\0\1\2\x46\0", 5}), HasSubstr("terrain 2 of 2"));
  EXPECT_THAT(message_of({"\0\1\x81\x46\0", 5}), HasSubstr("terrain 129 of 2"));
  EXPECT_THAT(message_of({"\0\1\1\x47\0", 5}), HasSubstr("at most 70"));
  EXPECT_THAT(message_of({"\0\1\1\x45\0\2\0", 7}), HasSubstr("at most 1"));
  EXPECT_THAT(message_of({"\0\1\1\0\0", 5}), HasSubstr("a run has no cell"));
  // Single cells.
  EXPECT_THAT(
      message_of(absl::StrCat(absl::string_view("\0\2", 2), std::string(70, '\1'), free.substr(0, 1))),
      HasSubstr(right));
  EXPECT_THAT(
      message_of(absl::StrCat(absl::string_view("\0\2", 2), std::string(70, '\2'), free.substr(0, 1))),
      HasSubstr("terrain 2 of 2"));
  // Obstacles: cell x is bit x + 1.
  const auto with_bits = [&](std::string bits) {
    return message_of(absl::StrCat(absl::string_view("\0\0\1", 3), bits));
  };
  std::string all(9, '\xFF');
  all.front() = '\xFE';
  all.back() = '\x7F';
  EXPECT_THAT(with_bits(all), HasSubstr(right));
  all.front() = '\xFF';
  EXPECT_THAT(with_bits(all), HasSubstr("beside its row"));
  all.front() = '\xFE';
  all.back() = '\xFF';
  EXPECT_THAT(with_bits(all), HasSubstr("beside its row"));
}

void ExpectSame(const WaypointGraph& graph, const WaypointGraph& wanted, const std::string& where) {
  SCOPED_TRACE(where);
  EXPECT_EQ(ArcsOf(graph), ArcsOf(wanted));
  EXPECT_EQ(graph.FreeNumbers(), wanted.FreeNumbers());
  EXPECT_EQ(graph.digest(), wanted.digest());
  EXPECT_EQ(graph.max_distance(), wanted.max_distance());
  EXPECT_EQ(graph.least_cost_per_length(), wanted.least_cost_per_length());
  EXPECT_EQ(ElementsOf<Obstacle>(graph.sight().obstacles()),
            ElementsOf<Obstacle>(wanted.sight().obstacles()));
  ASSERT_EQ(graph.number_limit(), wanted.number_limit());
  for (NodeNumber node = 0; node < wanted.number_limit(); ++node) {
    ASSERT_EQ(graph.Exists(node), wanted.Exists(node)) << node;
    if (wanted.Exists(node)) {
      EXPECT_EQ(graph.IdOf(node), wanted.IdOf(node));
      EXPECT_EQ(graph.PositionOf(node), wanted.PositionOf(node));
      EXPECT_EQ(graph.IsEnabled(node), wanted.IsEnabled(node));
      EXPECT_EQ(graph.LabelOf(node), wanted.LabelOf(node));
      EXPECT_EQ(graph.NamesOf(graph.TagsOf(node)).size(), wanted.NamesOf(wanted.TagsOf(node)).size());
    }
  }
}

TEST(MapImageTest, GraphsComeBackWithTheNumbersOfTheirNodes) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    AnyGraph any(seed);
    for (int i = 0; i < 40; ++i) {
      any.Edit();
    }
    const std::string where = absl::StrCat("seed ", seed);
    const WaypointGraph again = Decoded<WaypointGraph>(EncodeImage(any.graph()));
    ExpectSame(again, any.graph(), where);
    EXPECT_EQ(EncodeImage(again), EncodeImage(any.graph())) << where;
    const std::vector<WaypointNode> more = {{.id = "new-1"}, {.id = "new-2", .position = {3, 3, 0}}};
    GraphEditor editor(again);
    ASSERT_EQ(any.editor->PutNodes(more, false), absl::OkStatus());
    ASSERT_EQ(editor.PutNodes(more, false), absl::OkStatus());
    ExpectSame(editor.graph(), any.graph(), absl::StrCat(where, ", changed"));
  }
}

NavMesh RandomMesh(std::uint64_t seed) {
  Random random(seed);
  MeshSpec spec;
  AddFloor(spec, 6, 4, 0.0, random);
  AddFloor(spec, 3, 5, 8.0, random);
  for (std::size_t i = 0; i < spec.polygons.size(); ++i) {
    spec.polygons[i].area = static_cast<std::uint8_t>(i % kMaxMeshAreas);
  }
  if (random.Chance(0.5)) {
    AddPeaks(spec);
  }
  return MeshOf(std::move(spec));
}

TEST(MapImageTest, MeshesComeBackAsTheyWere) {
  for (std::uint64_t seed = 1; seed <= Rounds(20); ++seed) {
    const NavMesh mesh = RandomMesh(seed);
    const NavMesh again = Decoded<NavMesh>(EncodeImage(mesh));
    EXPECT_EQ(again.digest(), mesh.digest());
    ASSERT_EQ(again.vertex_count(), mesh.vertex_count());
    ASSERT_EQ(again.polygon_count(), mesh.polygon_count());
    for (std::uint32_t vertex = 0; vertex < mesh.vertex_count(); ++vertex) {
      EXPECT_EQ(again.VertexAt(vertex), mesh.VertexAt(vertex));
    }
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      EXPECT_THAT(again.VerticesOf(polygon), ElementsAreArray(mesh.VerticesOf(polygon)));
      EXPECT_THAT(again.NeighboursOf(polygon), ElementsAreArray(mesh.NeighboursOf(polygon)));
      EXPECT_EQ(again.AreaOf(polygon), mesh.AreaOf(polygon));
    }
    EXPECT_EQ(EncodeImage(again), EncodeImage(mesh));
  }
}

TEST(MapImageTest, ObstaclesOfMeshesComeBackAsTheyWere) {
  MeshBatchEditor editor(RandomMesh(1).WithAgentRadius(0.4));
  const Obstacle crate{.id = "crate", .shape = {.discs = {{{2, 2}, 1}}}};
  const Obstacle wall{.id = "wall", .shape = {.lines = {{{0, 0}, {4, 3}, 0.5}}}};
  const std::vector<Edit> edits = {PutMeshObstacle{{.obstacle = crate, .lifetime = absl::Seconds(5)}, {0, 2}},
                                   PutObstacle{.obstacle = wall}};
  ASSERT_THAT(editor.Apply(edits, absl::UnixEpoch()).status(), IsOk());
  const NavMesh mesh = std::move(editor).Finish();
  // Logs and images of other releases have it.
  EXPECT_EQ(absl::StrCat(absl::Hex(mesh.digest())), "470f477777eac62e");
  const NavMesh again = Decoded<NavMesh>(EncodeImage(mesh));
  EXPECT_EQ(again.digest(), mesh.digest());
  EXPECT_EQ(again.agent_radius(), 0.4);
  EXPECT_EQ(again.Polygons(), mesh.Polygons());
  EXPECT_EQ(*again.obstacles().Find("crate"), *mesh.obstacles().Find("crate"));
  EXPECT_EQ(*again.obstacles().Find("wall"), *mesh.obstacles().Find("wall"));
}

TEST(MapImageTest, FinerGroundComesBackAsItWas) {
  Random random(1);
  MeshSpec spec;
  AddFloor(spec, 3, 2, 0.0, random);
  const NavMesh plain = MeshOf(spec);
  AddPeaks(spec);
  const NavMesh mesh = MeshOf(spec);
  EXPECT_NE(mesh.digest(), plain.digest());
  EXPECT_EQ(absl::StrCat(absl::Hex(plain.digest()), " ", absl::Hex(mesh.digest())),
            "5f72a3c292068e78 2452290b8cb6317c");
  const NavMesh again = Decoded<NavMesh>(EncodeImage(mesh));
  EXPECT_EQ(again.digest(), mesh.digest());
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    const WorldPoint middle = MiddleOf(mesh, polygon);
    EXPECT_GT(mesh.HeightAt(polygon, middle.x, middle.y), plain.HeightAt(polygon, middle.x, middle.y));
    EXPECT_EQ(again.HeightAt(polygon, middle.x, middle.y), mesh.HeightAt(polygon, middle.x, middle.y));
  }
}

TEST(MapImageTest, SurfacesForLargerAgentsComeBackAsTheyWere) {
  MeshBatchEditor editor(RandomMesh(1).WithAgentRadius(0.4).WithLarger(
      {RandomMesh(2).WithAgentRadius(0.5), RandomMesh(3).WithAgentRadius(1.5)}));
  const Obstacle crate{.id = "crate", .shape = {.discs = {{{2, 2}, 1}}}};
  const NavMesh smallest = RandomMesh(1);
  const MeshPlace end = *smallest.FindNearest({.position = {3, 1, 0}, .radius = 9, .height = 9});
  const MeshPlace start = *smallest.FindNearest({.position = {0, 3, 0}, .radius = 9, .height = 9});
  const std::vector<Edit> edits = {
      PutObstacle{.obstacle = crate},
      PutMeshPortal{.portal = {.id = "door", .from = start.point, .to = end.point, .cost = 1.0}}};
  ASSERT_THAT(editor.Apply(edits, absl::UnixEpoch()).status(), IsOk());
  const NavMesh mesh = std::move(editor).Finish();
  EXPECT_EQ(ImageVersionOf(mesh), MeshImageVersion::kSurfaces);
  // Logs and images of other releases have it.
  EXPECT_EQ(absl::StrCat(absl::Hex(mesh.digest())), "88ae6810fa94d4c");
  const std::string image = EncodeImage(mesh);
  const NavMesh again = Decoded<NavMesh>(image);
  EXPECT_EQ(again.digest(), mesh.digest());
  EXPECT_EQ(EncodeImage(again), image);
  ASSERT_EQ(again.larger().size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const NavMesh& surface = again.larger()[i];
    EXPECT_EQ(surface.agent_radius(), mesh.larger()[i].agent_radius());
    EXPECT_EQ(surface.digest(), mesh.larger()[i].digest());
    EXPECT_EQ(surface.Polygons(), mesh.larger()[i].Polygons());
    EXPECT_EQ(surface.portals().Find("door")->lanes, mesh.larger()[i].portals().Find("door")->lanes);
  }
}

TEST(MapImageTest, ProfilesOfMeshesComeBackAsTheyWere) {
  const MeshProfileTable profiles = {{.name = "boat",
                                      .ground = {.costs = {{"water", 2.5}}, .forbidden_tags = {"deep"}},
                                      .required_tags = {"key"}},
                                     {.name = "cart", .ground = {.forbidden = {"area-7"}}}};
  Random random(1);
  MeshSpec spec;
  AddFloor(spec, 2, 2, 0.0, random);
  spec.polygons.front().area = 7;
  spec.terrains = {{.name = "water", .tags = {"wet"}}};
  const NavMesh bare = MeshOf(std::move(spec));
  const NavMesh mesh = bare.WithProfiles(profiles);
  // The part of the profiles. Logs and images of other releases have it.
  EXPECT_EQ(absl::StrCat(absl::Hex(mesh.digest() - bare.digest())), "fe3fa3d825eee30b");
  const NavMesh again = Decoded<NavMesh>(EncodeImage(mesh));
  EXPECT_EQ(again.digest(), mesh.digest());
  EXPECT_EQ(again.profiles(), profiles);
}

TEST(MapImageTest, DigestsTellMeshesApart) {
  EXPECT_NE(RandomMesh(1).digest(), RandomMesh(2).digest());
  Random random(1);
  MeshSpec spec;
  AddFloor(spec, 2, 2, 0.0, random);
  const NavMesh mesh = MeshOf(spec);
  EXPECT_EQ(MeshOf(spec).digest(), mesh.digest());
  spec.polygons.front().area = 7;
  EXPECT_NE(MeshOf(spec).digest(), mesh.digest());
  spec.polygons.front().area = 0;
  spec.vertices.front().z += 1;
  EXPECT_NE(MeshOf(spec).digest(), mesh.digest());
  EXPECT_NE(mesh.WithAgentRadius(0.5).digest(), mesh.digest());
}

// A map with something of everything.
std::string SmallImage() {
  Generator generator(7);
  const GridMap map = DrawMap({"..~.....", "#~......", "........"},
                              {.terrains = {{}, {.symbol = '~', .name = "water", .cost = 4.0}}});
  return EncodeImage(ApplyEdits(WithPortalsAndProfiles(map, generator), generator.AnyEdits(map, 6))->map);
}

void ExpectRefusedOrSame(const std::string& damaged, const std::string& image, const std::string& where) {
  const absl::StatusOr<AnyMap> map = DecodeImage(damaged);
  if (map.ok()) {
    EXPECT_EQ(EncodeImage(std::get<GridMap>(*map)), image) << where;
  } else {
    EXPECT_EQ(ErrorReasonOf(map.status()), "BAD_FORMAT") << where;
  }
}

TEST(MapImageTest, NoFlippedBitGoesUnnoticed) {
  const std::string image = SmallImage();
  for (std::size_t i = 0; i < image.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = image;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      ExpectRefusedOrSame(damaged, image, absl::StrCat("byte ", i, " bit ", bit));
    }
  }
}

TEST(MapImageTest, NoMissingByteGoesUnnoticed) {
  for (const std::string& image : {SmallImage(), EncodeImage(RandomMesh(3))}) {
    for (std::size_t size = 0; size < image.size(); ++size) {
      EXPECT_EQ(ErrorReasonOf(DecodeImage(image.substr(0, size)).status()), "BAD_FORMAT") << size;
    }
    std::string damaged = image;
    damaged[damaged.size() / 2] ^= 0x10;
    EXPECT_EQ(ErrorReasonOf(DecodeImage(damaged).status()), "BAD_FORMAT");
    EXPECT_FALSE(DecodeImage(absl::StrCat(image, "x")).ok());
    EXPECT_FALSE(DecodeImage(absl::StrCat(image, image.substr(kImageMagic.size()))).ok());
  }
}

std::string ContentOf(const std::string& image) {
  BlockReader from(image, std::uint64_t{1} << 30);
  std::string content;
  for (char byte = 0; from.Bytes(&byte, 1), from.ok();) {
    content.push_back(byte);
  }
  return content;
}

std::string ImageOf(const std::string& content) {
  BlockWriter to;
  to.PutBytes(content);
  return std::move(to).Finish();
}

// Reads all but the version and the digest, which no mutation of a map keeps.
absl::StatusOr<AnyMap> ReadBeforeDigest(const std::string& image, const ImageLimits& limits) {
  const auto whole = [](auto map) -> absl::StatusOr<AnyMap> {
    if (!map.ok()) {
      return map.status();
    }
    return *std::move(map);
  };
  BlockReader from(image, limits.max_content_bytes);
  from.Number();
  const std::uint64_t kind = from.Number(1);
  if (!from.ok()) {
    return from.status();
  }
  return kind == 0 ? whole(ReadGrid(from, limits)) : whole(ReadGraph(from));
}

TEST(MapImageTest, TheDigestMustBeThatOfTheMap) {
  std::string content = ContentOf(SmallImage());
  ASSERT_THAT(DecodeImage(ImageOf(content)), IsOk());
  content[content.size() - 8] = static_cast<char>(content[content.size() - 8] ^ 1);
  const absl::Status status = DecodeImage(ImageOf(content)).status();
  EXPECT_EQ(ErrorReasonOf(status), "BAD_FORMAT");
  EXPECT_THAT(status.message(), HasSubstr("digest"));
}

// The checksums are right, and what they protect is not.
TEST(MapImageTest, ImagesMadeByHandAreCheckedLikeRequests) {
  const std::string content = ContentOf(SmallImage());
  ASSERT_EQ(ImageOf(content), SmallImage());
  AnyGraph any(3);
  ASSERT_TRUE(any.model.max_distance.has_value()) << "the graph connects its nodes by itself";
  for (int i = 0; i < 20; ++i) {
    any.Edit();
  }
  const std::string of_graph = ContentOf(EncodeImage(any.graph()));
  Random random(11);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string image = ImageOf(MutatedBytes(i % 2 == 0 ? content : of_graph, {}, random));
    const absl::StatusOr<AnyMap> whole = DecodeImage(image, {.max_side = 100});
    refused += whole.ok() ? 0 : 1;
    const absl::StatusOr<AnyMap> map = ReadBeforeDigest(image, {.max_side = 100});
    if (!map.ok()) {
      EXPECT_EQ(ErrorReasonOf(whole.status()), "BAD_FORMAT") << whole.status();
      EXPECT_EQ(ErrorReasonOf(map.status()), "BAD_FORMAT") << map.status();
    } else if (const auto* grid = std::get_if<GridMap>(&*map)) {
      ExpectSameImage(Decoded<GridMap>(EncodeImage(*grid)), *grid, absl::StrCat("mutation ", i));
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(MapImageTest, WhatIsNoImageIsNamed) {
  EXPECT_FALSE(IsMapImage("...."));
  EXPECT_TRUE(IsMapImage(SmallImage()));
  EXPECT_THAT(DecodeImage("....").status().message(), HasSubstr("not a map image"));
}

TEST(MapImageTest, OtherVersionsAreRefused) {
  std::string content = ContentOf(SmallImage());
  ASSERT_EQ(content.front(), 1);
  for (const int version : {0, 7, 127}) {
    content.front() = static_cast<char>(version);
    const absl::Status status = DecodeImage(ImageOf(content)).status();
    EXPECT_EQ(ErrorReasonOf(status), "BAD_FORMAT");
    EXPECT_THAT(status.message(), HasSubstr(absl::StrCat("version ", version, ", and only 1 to 6 are")));
  }
  for (const int of_meshes : {2, 3, 4, 5, 6}) {
    content.front() = static_cast<char>(of_meshes);
    EXPECT_EQ(ErrorReasonOf(DecodeImage(ImageOf(content)).status()), "BAD_FORMAT");
  }
}

TEST(MapImageTest, LimitsHoldBeforeMemoryIsTaken) {
  const std::string large = EncodeImage(*GridMap::Create(300, 200, {}));
  EXPECT_FALSE(DecodeImage(large, {.max_side = 299}).ok());
  EXPECT_TRUE(DecodeImage(large, {.max_side = 300}).ok());

  // Blocks that take 60 bytes each and hold a million zeros.
  const std::string zeros = ImageOf(std::string(std::size_t{64} << 20, '\1'));
  EXPECT_THAT(DecodeImage(zeros, {.max_content_bytes = 1000}).status().message(),
              HasSubstr("more than it may"));

  std::vector<Edit> edits;
  for (int i = 0; i < 20; ++i) {
    edits.push_back(
        PutObstacle{.obstacle = {.id = absl::StrCat("o", i), .shape = {.rectangles = {{0, 0, 300, 200}}}}});
  }
  const std::string covered = EncodeImage(ApplyEdits(*GridMap::Create(300, 200, {}), edits)->map);
  EXPECT_THAT(DecodeImage(covered, {.max_obstacle_cells = 1'000'000}).status().message(),
              HasSubstr("cover more cells"));
}

}  // namespace
}  // namespace waystar::core
