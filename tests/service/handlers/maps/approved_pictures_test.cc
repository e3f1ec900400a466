// Pictures of the sample maps and of what people write their first pathfinder for, compared pixel by pixel
// with those that somebody looked at and approved. `./dev approve-pictures` takes them as they are drawn now.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/palette.h"
#include "tests/service/about_map.h"
#include "tests/service/handlers/maps/pictures.h"
#include "tests/service/test_server.h"
#include "tests/testing/folders.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

runtime::Options WithSamples() {
  runtime::Options options;
  options.maps_dir = SourceFolder() / "server/samples";
  return options;
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void WriteFile(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

class ApprovedPicturesTest : public ::testing::Test {
 protected:
  void Compare(const std::string& name, v1::RenderMapRequest request) {
    request.set_max_width(720);
    request.set_max_height(720);
    const auto response = server_.client().RenderMap(request);
    ASSERT_TRUE(response.ok()) << name << ": " << response.status();
    const auto approved = SourceFolder() / "tests/data/approved" / (name + ".png");
    if (std::getenv("WAYSTAR_APPROVE_PICTURES") != nullptr) {
      WriteFile(approved, response->image());
      return;
    }
    const auto expected = picture::DecodePng(ReadFile(approved));
    if (!expected.ok() || *expected != PixelsOf(*response)) {
      const auto drawn = BuildFolder() / "pictures" / (name + ".png");
      WriteFile(drawn, response->image());
      ADD_FAILURE() << "look at " << drawn << ", which is not as " << approved
                    << "; ./dev approve-pictures takes all as they are now";
    }
  }

  void CompareInBothThemes(const std::string& name, v1::RenderMapRequest request) {
    Compare(name, request);
    request.set_theme(v1::PICTURE_THEME_DARK);
    Compare(name + "-dark", request);
  }

  static v1::RenderMapRequest Path(const std::string& map, const v1::Cell& start, const v1::Cell& goal) {
    v1::RenderMapRequest request = RenderRequest(map);
    *request.mutable_query() = PathRequest("", start, goal);
    return request;
  }

  static v1::RenderMapRequest Search(const std::string& map, const v1::Cell& start, const v1::Cell& goal,
                                     v1::Algorithm algorithm) {
    v1::RenderMapRequest request = Path(map, start, goal);
    request.mutable_query()->set_algorithm(algorithm);
    request.set_with_search(true);
    return request;
  }

  void Update(const std::string& update) {
    ASSERT_TRUE(server_.client().UpdateMap(Parsed<v1::UpdateMapRequest>(update)).ok());
  }

  TestServer server_{WithSamples()};
};

TEST_F(ApprovedPicturesTest, SampleMaps) {
  const auto samples = server_.client().ListMaps({}).value();
  std::vector<std::string> names;
  for (const v1::MapInfo& sample : samples.maps()) {
    names.push_back(sample.map());
    Compare(sample.map(), RenderRequest(sample.map()));
  }
  EXPECT_THAT(names, ::testing::ElementsAre("dungeon", "hex-isle", "isle", "keep", "river", "ten-by-ten",
                                            "tiles", "twenty-by-fifty", "village"));
}

TEST_F(ApprovedPicturesTest, FirstPaths) {
  Compare("ten-by-ten-path", Path("ten-by-ten", CellAt(0, 0), CellAt(7, 7)));
  Compare("river-path", Path("river", CellAt(0, 0), CellAt(25, 0)));
  Compare("twenty-by-fifty-path", Path("twenty-by-fifty", CellAt(0, 0), CellAt(19, 49)));
  Compare("village-path", Path("village", CellAt(4, 4), CellAt(26, 4)));
  Compare("hex-isle-path", Path("hex-isle", CellAt(3, 2), CellAt(12, 7)));
}

// From below the gallery to its end above that.
TEST_F(ApprovedPicturesTest, PathsOnMeshes) {
  auto request = Parsed<v1::RenderMapRequest>(R"(
    map: "keep"
    query { start { position { x: 2 y: 2 } } goals { position { x: 2 y: 3 z: 4 } } })");
  Compare("keep-path", request);
  request.set_with_search(true);
  CompareInBothThemes("keep-search", request);
  request.set_with_search(false);
  request.set_oblique(true);
  Compare("keep-oblique", request);
}

TEST_F(ApprovedPicturesTest, Searches) {
  Compare("tiles-astar", Search("tiles", CellAt(0, 0), CellAt(15, 9), v1::ALGORITHM_ASTAR));
  Compare("tiles-jump-points", Search("tiles", CellAt(0, 0), CellAt(15, 9), v1::ALGORITHM_JUMP_POINT_SEARCH));
  Compare("dungeon-dijkstra", Search("dungeon", CellAt(2, 2), CellAt(45, 23), v1::ALGORITHM_DIJKSTRA));
}

TEST_F(ApprovedPicturesTest, SearchesOnGraphs) {
  auto create = About<v1::CreateMapRequest>("rooms");
  const std::string json = ReadFile(SourceFolder() / "docs/rooms.json");
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, create.mutable_graph()).ok());
  ASSERT_TRUE(server_.client().CreateMap(create).ok());
  auto request = Parsed<v1::RenderMapRequest>(R"(
    map: "rooms" query { start { node: "well" } goals { node: "vault" } } with_search: true)");
  CompareInBothThemes("rooms-astar", request);
  request.mutable_query()->set_algorithm(v1::ALGORITHM_DIJKSTRA);
  Compare("rooms-dijkstra", request);
}

TEST_F(ApprovedPicturesTest, GraphsWithoutPositionsAreLaidOut) {
  const auto create = Parsed<v1::CreateMapRequest>(R"(
    map: "states"
    graph {
      nodes { id: "idle" } nodes { id: "walk" } nodes { id: "run" }
      nodes { id: "jump" } nodes { id: "fall" } nodes { id: "swim" }
      edges { edge { from: "idle" to: "walk" } cost: 1 }
      edges { edge { from: "walk" to: "run" } cost: 1 }
      edges { edge { from: "run" to: "jump" one_way: true } cost: 1 }
      edges { edge { from: "jump" to: "fall" one_way: true } cost: 1 }
      edges { edge { from: "fall" to: "idle" one_way: true } cost: 1 }
      edges { edge { from: "walk" to: "swim" } cost: 1 }
    })");
  ASSERT_TRUE(server_.client().CreateMap(create).ok());
  const auto request = Parsed<v1::RenderMapRequest>(R"(
    map: "states" query { start { node: "idle" } goals { node: "fall" } } with_search: true)");
  Compare("states", request);
  const auto response = server_.client().RenderMap(request).value();
  ASSERT_EQ(response.placement().nodes_size(), 6);
  EXPECT_NE(response.placement().nodes(0).point().x(), response.placement().nodes(1).point().x());
}

TEST_F(ApprovedPicturesTest, ObstaclesThatAppear) {
  Update(R"(
    map: "tiles"
    edits { add_obstacle { id: "crates" shape { cells { x: 3 y: 4 } } } }
    edits { add_obstacle {
      id: "fire" shape { discs { center { x: 6 y: 7 } radius: 2.5 } } cost_addition: 8 falloff: FALLOFF_LINEAR
    } }
    edits { add_obstacle {
      id: "mud" shape { rectangles { x: 9 y: 0 width: 2 height: 4 } } cost_factor: 3
    } }
    edits { add_obstacle {
      id: "gold" shape { discs { center { x: 14 y: 5 } radius: 1.5 } } cost_addition: -0.7
    } })");
  CompareInBothThemes("tiles-obstacles", Path("tiles", CellAt(0, 0), CellAt(15, 9)));
}

TEST_F(ApprovedPicturesTest, Portals) {
  Update(R"(
    map: "ten-by-ten"
    edits { add_portal {
      id: "ferry" from { x: 1 y: 8 } to { x: 8 y: 1 } cost: 2 both_ways: true
    } })");
  Compare("ten-by-ten-portal", Path("ten-by-ten", CellAt(0, 9), CellAt(9, 0)));
}

TEST_F(ApprovedPicturesTest, WaypointGraphs) {
  const auto create = Parsed<v1::CreateMapRequest>(R"(
    map: "islands"
    graph {
      nodes { id: "harbour" position {} }
      nodes { id: "ford" position { x: 6 } }
      nodes { id: "bridge" position { x: 6 y: 8 } }
      nodes { id: "lighthouse" position { x: 12 } }
      nodes { id: "cave" position { x: 13 y: 7 } }
      edges { edge { from: "bridge" to: "cave" one_way: true } }
      edges { edge { from: "lighthouse" to: "cave" } enabled: false }
      auto_connect { max_distance: 10 }
      obstacles { id: "rock" shape { discs { center { x: 3 y: 0.4 } radius: 1 } } }
    })");
  ASSERT_TRUE(server_.client().CreateMap(create).ok());
  const auto request = Parsed<v1::RenderMapRequest>(R"(
    map: "islands" query { start { node: "harbour" } goals { node: "lighthouse" } })");
  Compare("islands", request);
}

// Pictures of navigation meshes: of one floor of several, and from the side.

// A floor from (0, 0) to (8, 8), and a roof at height 3 from (2, 4) to (6, 8). y is up in the file.
constexpr char kRoofedFloor[] =
    "v 0 0 0\nv 8 0 0\nv 8 0 8\nv 0 0 8\n"
    "v 2 3 4\nv 6 3 4\nv 6 3 8\nv 2 3 8\n"
    "f 1 2 3 4\nf 5 6 7 8\n";

class MeshPicturesTest : public PictureTest {
 protected:
  MeshPicturesTest() {
    auto request = About<v1::CreateMapRequest>("house");
    request.set_data(kRoofedFloor);
    EXPECT_THAT(Create(request), IsOk());
    Create("yard", {"...", "..."});
  }

  static v1::RenderMapRequest AtHeights(double low, double high) {
    v1::RenderMapRequest request = RenderRequest("house");
    request.mutable_heights()->set_low(low);
    request.mutable_heights()->set_high(high);
    return request;
  }

  static void SetQuery(double start_x, double start_y, double goal_x, double goal_y,
                       v1::RenderMapRequest& request) {
    *request.mutable_query() = Parsed<v1::FindPathRequest>(
        absl::StrCat("start { position { x: ", start_x, " y: ", start_y,
                     " } } goals { position { x: ", goal_x, " y: ", goal_y, " } }"));
  }
};

TEST_F(MeshPicturesTest, ShowsTheFloorsThatAreAskedFor) {
  const v1::RenderMapResponse all = Render(RenderRequest("house"));
  const v1::RenderMapResponse floor = Render(AtHeights(-1, 2));
  const v1::RenderMapResponse roof = Render(AtHeights(3, 3));
  EXPECT_NE(ColorAt(all, 3.3, 6.3, 0), ColorAt(all, 1.3, 1.3, 0));
  EXPECT_EQ(ColorAt(floor, 3.3, 6.3, 0), ColorAt(floor, 1.3, 1.3, 0));
  EXPECT_NE(ColorAt(roof, 3.3, 6.3, 0), ColorAt(roof, 1.3, 1.3, 0));
  EXPECT_FALSE(all.placement().has_z_step());
  // One that is left out is no limit.
  v1::RenderMapRequest upwards = RenderRequest("house");
  upwards.mutable_heights()->set_low(1);
  EXPECT_EQ(Render(upwards).image(), roof.image());
  upwards.mutable_heights()->clear_low();
  EXPECT_EQ(Render(upwards).image(), all.image());
}

TEST_F(MeshPicturesTest, TextShowsFloorsToo) {
  v1::RenderMapRequest request = AtHeights(3, 3);
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  request.set_labels(false);
  const std::string roof = Render(request).image();
  SetQuery(1, 1, 7, 1, request);
  const std::string with_path = Render(request).image();
  EXPECT_THAT(with_path.substr(0, with_path.find("S start")), Not(HasSubstr("*")));
  request.clear_query();
  request.clear_heights();
  const std::string all = Render(request).image();
  EXPECT_LT(std::count(roof.begin(), roof.end(), '.'), std::count(all.begin(), all.end(), '.'));
  EXPECT_THAT(roof, HasSubstr("...."));
}

TEST_F(MeshPicturesTest, DrawsThePathFaintAtOtherHeights) {
  v1::RenderMapRequest request = AtHeights(3, 3);
  SetQuery(1, 1, 7, 1, request);
  const picture::Canvas elsewhere = PixelsOf(Render(request));
  request.clear_heights();
  const picture::Canvas here = PixelsOf(Render(request));
  const auto blue = [](const picture::Canvas& canvas) {
    return std::count(canvas.pixels().begin(), canvas.pixels().end(), picture::kLightPalette.path);
  };
  // The legend has some.
  EXPECT_GT(blue(here), 10 * blue(elsewhere));
}

TEST_F(MeshPicturesTest, FromTheSideHighPointsLieHigher) {
  v1::RenderMapRequest request = RenderRequest("house");
  request.set_oblique(true);
  const v1::RenderMapResponse response = Render(request);
  const v1::PicturePlacement& placement = response.placement();
  EXPECT_LT(placement.z_step().y(), 0);
  EXPECT_GT(placement.y_step().y(), 0);
  EXPECT_LT(placement.y_step().y(), placement.x_step().x());
  const picture::Color floor = ColorAt(response, 1.3, 1.3, 0);
  const picture::Color roof = ColorAt(response, 3.3, 6.3, 3);
  EXPECT_NE(floor, roof);
  // The ground below the roof is in sight, and what lies behind it is not.
  EXPECT_EQ(ColorAt(response, 3.3, 7.7, 0), floor);
  EXPECT_EQ(ColorAt(response, 3.3, 2.3, 0), roof);
  EXPECT_EQ(Render(request).image(), response.image());
  request.set_format(v1::PICTURE_FORMAT_SVG);
  EXPECT_THAT(Render(request).image(), HasSubstr("</svg>"));
}

TEST_F(MeshPicturesTest, FromTheSideAPathBehindARoofIsFaint) {
  v1::RenderMapRequest request = RenderRequest("house");
  request.set_oblique(true);
  SetQuery(1, 2, 7, 2, request);
  const v1::RenderMapResponse response = Render(request);
  EXPECT_EQ(ColorAt(response, 1.6, 2, 0), picture::kLightPalette.path);
  EXPECT_EQ(ColorAt(response, 6.4, 2, 0), picture::kLightPalette.path);
  for (double x = 2.3; x < 5.7; x += 0.1) {
    EXPECT_NE(ColorAt(response, x, 2, 0), picture::kLightPalette.path) << x;
  }
  // In front of it, it is plain to see, and the answer does not name polygons that nobody asked for.
  SetQuery(1, 7.8, 7, 7.8, request);
  EXPECT_EQ(ColorAt(Render(request), 4, 7.8, 0), picture::kLightPalette.path);
  EXPECT_EQ(response.answer().path().corridor_size(), 0);
  request.mutable_query()->set_with_corridor(true);
  EXPECT_EQ(Render(request).answer().path().corridor_size(), 1);
}

TEST_F(MeshPicturesTest, FromTheSideAnAreaFits) {
  const auto request =
      Parsed<v1::RenderMapRequest>(R"(map: "house" oblique: true area { x: 3 y: 5 width: 2 height: 2 })");
  const v1::RenderMapResponse response = Render(request);
  EXPECT_EQ(response.placement().area().width(), 2);
  EXPECT_EQ(ColorAt(response, 3.43, 5.6, 3), ColorAt(response, 4.57, 6.35, 3));
  EXPECT_NE(ColorAt(response, 3.43, 6.9, 0), ColorAt(response, 4.57, 6.35, 3));
}

TEST_F(MeshPicturesTest, RefusesWhatMakesNoSense) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(TryToRender(AtHeights(kNan, 2)), IsError(kInvalid, ErrorReason::kBadValue, "heights.low"));
  EXPECT_THAT(TryToRender(AtHeights(2, kNan)), IsError(kInvalid, ErrorReason::kBadValue, "heights.high"));
  EXPECT_THAT(TryToRender(AtHeights(2, 1)), IsError(kInvalid, ErrorReason::kBadValue, "heights.low"));
  v1::RenderMapRequest request = RenderRequest("house");
  request.set_oblique(true);
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  EXPECT_THAT(TryToRender(request), IsError(kInvalid, ErrorReason::kBadValue, "oblique"));
  ASSERT_THAT(Create(Parsed<v1::CreateMapRequest>("map: 'graph' graph { nodes { id: 'a' } }")), IsOk());
  for (const char* map : {"yard", "graph"}) {
    request.set_map(map);
    EXPECT_THAT(TryToRender(request),
                IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, "oblique"));
    v1::RenderMapRequest floors = AtHeights(0, 1);
    floors.set_map(map);
    EXPECT_THAT(TryToRender(floors),
                IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, "heights"));
  }
}

}  // namespace
}  // namespace waystar
