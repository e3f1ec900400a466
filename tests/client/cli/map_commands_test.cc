// `waystar map`.

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/client/cli/command_test.h"
#include "tests/testing/own_folder.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kArena[] =
    "map: 'arena' version { epoch: 9 revision: 3 } digest: 0x0123456789abcdef create_time { seconds: "
    "1700000000 }"
    " memory_bytes: 4096 grid { width: 4 height: 2 walkable_cells: 7 obstacle_cells: 1"
    " squares { connectivity: CONNECTIVITY_EIGHT diagonal_cost: 1.5 }"
    " terrains { symbol: '~' name: 'river' cost: 3 impassable: false }"
    " terrains { symbol: '=' name: 'lava' cost: 1 impassable: true }"
    " profiles { name: 'carts' profile { footprint: 2 diagonals: false } } }";

constexpr char kFacts[] =
    "map          arena\n"
    "version      revision 3 of epoch 9\n"
    "create time  2023-11-14 22:13:20 UTC\n"
    "memory       4096 bytes\n"
    "width        4\n"
    "height       2\n"
    "squares      connectivity eight diagonal cost 1.5\n"
    "walkable     7 cells\n"
    "obstacle     1 cells\n"
    "digest       0123456789abcdef\n"
    "\n"
    "SYMBOL  NAME   COST\n"
    "~       river  3\n"
    "=       lava   -     impassable\n"
    "\n"
    "NAME   PROFILE\n"
    "carts  footprint 2 diagonals no\n";

class MapCommandsTest : public waystar::CommandTest {};

TEST_F(MapCommandsTest, ListsAllPages) {
  server_.list_maps = [](auto&, const v1::ListMapsRequest& request, v1::ListMapsResponse& response) {
    response = Parsed<v1::ListMapsResponse>(
        request.page_token().empty() ? absl::StrCat("maps { ", kArena, " } next_page_token: 'more'")
                                     : "maps { map: 'cave' unloaded: true }");
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run("map list"), ExitCode::kOk);
  EXPECT_EQ(out_,
            "MAP    SIZE           REVISION  WALKABLE  OBSTACLES\n"
            "arena  4 x 2 cells    3         7         1\n"
            "cave   not in memory  0         -         -\n");
  EXPECT_EQ(Run("map list --names"), ExitCode::kOk);
  EXPECT_EQ(out_, "arena\ncave\n");
  EXPECT_EQ(Run("map list --json"), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("\"map\":\"cave\""));
  EXPECT_THAT(out_, HasSubstr("\"nextPageToken\":\"\""));
}

TEST_F(MapCommandsTest, ShowsFactsAndPicture) {
  server_.ServeMap(Parsed<v1::MapInfo>(kArena), {"..#.", "~~.."});
  Serve(server_.get_map, absl::StrCat("info { ", kArena, " }"));
  EXPECT_EQ(Run("map show arena"), ExitCode::kOk);
  EXPECT_EQ(out_, absl::StrCat(kFacts,
                               "\n"
                               "  0\n"
                               "0 ..#.\n"
                               "  ~~..\n"));
  EXPECT_EQ(Run("map show arena --no-picture"), ExitCode::kOk);
  EXPECT_EQ(out_, kFacts);
  ExpectRequests(
      server_.render_map,
      {{"map show arena", "map: 'arena' format: PICTURE_FORMAT_TEXT max_width: 100 max_height: 54"},
       {"map show arena --full",
        "map: 'arena' format: PICTURE_FORMAT_TEXT max_width: 4096 max_height: 4096"}});
}

TEST_F(MapCommandsTest, ShowsFactsOfGraphsAndMeshes) {
  Serve(server_.get_map,
        "info { map: 'isles' create_time { seconds: 1700000000 } graph { nodes: 3 edges: 4 max_distance: 7"
        " tags: 'dry' tags: 'wide' } }");
  EXPECT_EQ(Run("map show isles --no-picture"), ExitCode::kOk);
  EXPECT_EQ(out_,
            "map           isles\n"
            "create time   2023-11-14 22:13:20 UTC\n"
            "nodes         3\n"
            "edges         4\n"
            "tags          dry, wide\n"
            "max distance  7\n");
  Serve(server_.get_map,
        "info { map: 'keep' create_time { seconds: 1700000000 } mesh { polygons: 1 parts: 2 portals: 5"
        " low { x: -1 } high { x: 9 y: 2 z: 4 } } }");
  EXPECT_EQ(Run("map show keep --no-picture"), ExitCode::kOk);
  EXPECT_EQ(out_,
            "map          keep\n"
            "create time  2023-11-14 22:13:20 UTC\n"
            "polygons     1\n"
            "parts        2\n"
            "low          -1,0\n"
            "high         9,2,4\n"
            "portals      5\n");
  Serve(server_.get_map,
        "info { map: 'keep' mesh { agent_radius: 0.5 named_obstacles: 3 }"
        " old_snapshots { oldest_revision: 2 count: 3 memory_bytes: 512 } }");
  EXPECT_EQ(Run("map show keep --no-picture"), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("named obstacles  3\n"
                              "agent radius     0.5\n"
                              "old snapshots    oldest revision 2 count 3 memory 512 bytes\n"));
  Serve(server_.get_map,
        "info { map: 'keep' mesh { terrains { name: 'ground' cost: 1 }"
        " terrains { area: 1 name: 'lava' tags: 'hot' tags: 'wet' cost: 1 impassable: true } } }");
  EXPECT_EQ(Run("map show keep --no-picture"), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("AREA  NAME    TAGS      COST\n"
                              "0     ground  -         1\n"
                              "1     lava    hot, wet  -     impassable\n"));
}

TEST_F(MapCommandsTest, Creates) {
  ExpectRequests(server_.create_map, {{"map create arena 4x2 --fill ~ --terrain ~=river:3 --connectivity 4",
                                       "map: 'arena' blank { width: 4 height: 2 fill: '~' }"
                                       " grid { squares { connectivity: CONNECTIVITY_FOUR }"
                                       " terrains { symbol: '~' name: 'river' cost: 3 } }"},
                                      {"map create arena 4x2 --hexagons even-columns --request-id once",
                                       "map: 'arena' blank { width: 4 height: 2 } request_id: 'once'"
                                       " grid { hexagons { layout: HEX_LAYOUT_EVEN_COLUMNS } }"}});
  Serve(server_.create_map, absl::StrCat("info { ", kArena, " }"));
  EXPECT_EQ(Run("map create arena 4x2"), ExitCode::kOk);
  EXPECT_EQ(out_, "Created arena: 4 x 2 cells, revision 3.\n");
  Serve(server_.create_map, absl::StrCat("already_created: true info { ", kArena, " }"));
  EXPECT_EQ(Run("map create arena 4x2 --request-id once"), ExitCode::kOk);
  EXPECT_EQ(out_, "Already created arena: 4 x 2 cells, revision 3.\n");
}

TEST_F(MapCommandsTest, DeletesWhatItCan) {
  ExpectRequests(server_.delete_map, {{"map delete arena --expect-revision 5 --expect-epoch 7",
                                       "map: 'arena' expected_version { epoch: 7 revision: 5 }"}});
  server_.delete_map = [](auto&, const v1::DeleteMapRequest& request, v1::DeleteMapResponse& response) {
    if (request.map() == "gone") {
      return Refusal(grpc::StatusCode::NOT_FOUND, "no map 'gone'", "MAP_NOT_FOUND", "map");
    }
    response.mutable_version()->set_revision(5);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run("map delete arena gone cave"), ExitCode::kRefused);
  EXPECT_EQ(out_, "Deleted arena at revision 5.\nDeleted cave at revision 5.\n");
  EXPECT_THAT(err_, HasSubstr("no map 'gone'"));
}

// `waystar map import` and `export`.
class MapFilesTest : public waystar::CommandTest {
 protected:
  MapFilesTest() {
    server_.import_map = [this](auto&, const std::vector<v1::ImportMapRequest>& parts,
                                v1::ImportMapResponse& response) {
      header_ = parts.at(0).header();
      received_.clear();
      for (const auto& part : parts) {
        received_ += part.chunk();
      }
      response = Parsed<v1::ImportMapResponse>(absl::StrCat(
          "info { version { revision: 1 } grid { width: 4 height: 2 walkable_cells: 7 } }", notes_));
      response.mutable_info()->set_map(header_.map());
      return grpc::Status::OK;
    };
  }

  std::string Path(const std::string& name) const { return folder_.PathOf(name); }

  std::string WriteFile(const std::string& name, const std::string& bytes = "..") const {
    return folder_.Write(name, bytes);
  }

  std::string ReadFile(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  // Expects the header that an import of a file of two bytes sends.
  void ExpectHeader(const std::string& file, const std::string& options, const std::string& header) {
    EXPECT_EQ(Run(absl::StrCat("map import ", WriteFile(file), options)), ExitCode::kOk) << err_;
    EXPECT_EQ(header_.DebugString(), Parsed<v1::ImportMapHeader>("size: 2 " + header).DebugString());
  }

  const waystar::OwnFolder folder_;
  v1::ImportMapHeader header_;
  std::string notes_;
  std::string received_;
};

TEST_F(MapFilesTest, ImportsAFileUnderItsName) {
  EXPECT_EQ(Run("map import " + WriteFile("arena.txt", "..#.\n....\n")), ExitCode::kOk);
  EXPECT_EQ(out_, "Imported arena: 4 x 2 cells, 7 of them walkable, revision 1.\n");
  EXPECT_EQ(header_.DebugString(),
            Parsed<v1::ImportMapHeader>("map: 'arena' size: 10 grid {}").DebugString());
  EXPECT_EQ(received_, "..#.\n....\n");
  in_ = "..\n";
  EXPECT_EQ(Run("map import - --as pipe"), ExitCode::kOk);
  EXPECT_EQ(header_.map(), "pipe");
  EXPECT_EQ(received_, "..\n");
  notes_ =
      " notes { text: 'hidden layers' first_place: 'layer 12' count: 3 }"
      " notes { text: 'hidden objects' first_place: 'object 5' count: 1 }"
      " notes { text: 'nothing blocks' count: 1 } notes { text: 'notes of other kinds' count: 4 }";
  EXPECT_EQ(Run("map import " + WriteFile("arena.txt")), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("\nNote: hidden layers: layer 12 and 2 more.\n"
                              "Note: hidden objects: object 5.\n"
                              "Note: nothing blocks.\n"
                              "Note: notes of other kinds, 4 times.\n"));
}

TEST_F(MapFilesTest, ImportsWithOptions) {
  ExpectHeader(
      "arena.txt",
      " --terrain ~=river:3 --terrain ^=peak:impassable --as valley --format moving_ai --connectivity "
      "8 --diagonal-cost 1.4",
      "map: 'valley' format: MAP_FORMAT_MOVING_AI grid { squares { connectivity: CONNECTIVITY_EIGHT"
      " diagonal_cost: 1.4 } terrains { symbol: '~' name: 'river' cost: 3 }"
      " terrains { symbol: '^' name: 'peak' impassable: true } }");
  ExpectHeader("world.ldtk",
               " --level Cellar --layer Walls --layer Water --format ldtk --terrains " +
                   WriteFile("world.terrains", "value 2 water 3\n"),
               "map: 'world' format: MAP_FORMAT_LDTK grid {} import_options { level: 'Cellar'"
               " layers: 'Walls' layers: 'Water' terrains: 'value 2 water 3\\n' }");
  ExpectHeader("level.obj", " --agent-radius 0.4 --agent-height 1.8 --tile-cells 32",
               "map: 'level' grid {} import_options { build { agent_radius: 0.4 agent_height: 1.8"
               " tile_cells: 32 } }");
  ExpectHeader("level.glb", " --build", "map: 'level' grid {} import_options { build {} }");
  ExpectHeader("ground.glb", " --weld 0.1 --mesh-agent-radius 0.5",
               "map: 'ground' grid {} import_options { weld: 0.1 agent_radius: 0.5 }");
  ExpectHeader("ground.obj", " --mesh-terrain 1=water:3 --mesh-terrain 12=:impassable",
               "map: 'ground' grid {} import_options { mesh_terrains { area: 1 name: 'water' cost: 3 } "
               "mesh_terrains { area: 12 impassable: true } }");
  ExpectHeader("level.obj", " --agent human:0.4:1.8 --agent troll:1.2:3",
               "map: 'level' grid {} import_options { build { agent_radius: 0.4 agent_height: 1.8 }"
               " larger_builds { agent_radius: 1.2 agent_height: 3 } }");
  ExpectHeader(
      "level.obj", " --agent troll:1.2:3 --agent human:0.4:1.8 --max-slope 30",
      "map: 'level' grid {} import_options { build { agent_radius: 0.4 agent_height: 1.8 max_slope: 30 }"
      " larger_builds { agent_radius: 1.2 agent_height: 3 max_slope: 30 } }");
}

TEST_F(MapFilesTest, ExplainsMistakes) {
  server_.ServeMap({}, {".."});
  const std::string file = WriteFile("level.obj");
  const auto expect = [this](const std::string& line, const char* error) {
    ExpectMistakes({{line.c_str(), error}});
  };
  expect("map import -", "needs a name: --as NAME");
  expect("map import " + Path("missing.txt"), "missing.txt: No such file or directory");
  expect("map import " + folder_.path().string(), "it is a folder");
  expect(absl::StrCat("map import ", file, " --agent human"), "'human' is not an agent");
  expect(absl::StrCat("map import ", file, " --terrains ", Path("missing")), "cannot read");
  expect("map export arena --json", "--json needs -o FILE");
  expect("map export arena -o " + Path("missing/out.txt"), "cannot write");
  expect("map create arena 4x2 --hexagons odd-rows --connectivity 4", "--connectivity");
  expect("map create arena 4x2 --diagonal-cost 1.5 --hexagons odd-rows", "--diagonal-cost");
  expect("map delete arena cave --expect-revision 5", "are about one MAP");
}

TEST_F(MapFilesTest, ExportsAnImageUnlessPeopleReadTheFile) {
  server_.ServeMap(Parsed<v1::MapInfo>("version { revision: 3 }"), {".#", ".."});
  v1::MapFormat format = v1::MAP_FORMAT_UNSPECIFIED;
  server_.export_map = [&format, serve = server_.export_map](auto& context, const auto& request,
                                                             auto& parts) {
    format = request.format();
    return serve(context, request, parts);
  };
  EXPECT_EQ(Run("map export arena"), ExitCode::kOk);
  EXPECT_EQ(out_, "connectivity 8\nmap\n.#\n..\n");
  EXPECT_EQ(format, v1::MAP_FORMAT_WAYSTAR);
  EXPECT_EQ(Run("map export arena -o -"), ExitCode::kOk);
  EXPECT_EQ(out_, "connectivity 8\nmap\n.#\n..\n");
  EXPECT_EQ(Run("map export arena -o " + Path("arena.waymap")), ExitCode::kOk);
  EXPECT_EQ(format, v1::MAP_FORMAT_WAYSTAR);
  EXPECT_EQ(Run("map export arena -o " + Path("arena.txt")), ExitCode::kOk);
  EXPECT_EQ(format, v1::MAP_FORMAT_TEXT);
  EXPECT_EQ(ReadFile("arena.txt"), "connectivity 8\nmap\n.#\n..\n");
  EXPECT_THAT(out_, HasSubstr("arena at revision 3, 25 bytes.\n"));
  is_terminal_ = true;
  EXPECT_EQ(Run("map export arena"), ExitCode::kOk);
  EXPECT_EQ(format, v1::MAP_FORMAT_TEXT);
  EXPECT_EQ(Run("map export arena --format waystar"), ExitCode::kOk);
  EXPECT_EQ(format, v1::MAP_FORMAT_WAYSTAR);
}

TEST_F(MapFilesTest, SaysWhatAFormatLeavesOut) {
  const std::string file = WriteFile("out.txt", "precious");
  EXPECT_EQ(Run("map export arena -o " + file), ExitCode::kFailure) << "there is no such map";
  EXPECT_EQ(ReadFile("out.txt"), "precious");
  server_.ServeMap(Parsed<v1::MapInfo>("grid { named_obstacles: 2 portals: 1 }"), {".#", ".."});
  EXPECT_EQ(Run("map export arena -o " + file), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("leave out what arena has: 2 named obstacles, 1 portal\n"));
  EXPECT_EQ(ReadFile("out.txt"), "precious");
  EXPECT_EQ(Run(absl::StrCat("map export arena --lossy -o ", file)), ExitCode::kOk);
  EXPECT_EQ(err_, "waystar: not exported: 2 named obstacles, 1 portal\n");
  EXPECT_EQ(ReadFile("out.txt"), "connectivity 8\nmap\n.#\n..\n");
  EXPECT_EQ(Run("map export arena -o " + Path("out.waymap")), ExitCode::kOk);
  EXPECT_EQ(err_, "");
}

}  // namespace
}  // namespace waystar::cli
