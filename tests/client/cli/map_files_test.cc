#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/client/cli/command_test.h"
#include "tests/testing/own_folder.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// `waystar map import` and `export`.
class MapFilesTest : public ::waystar::testing::CommandTest {
 protected:
  MapFilesTest() {
    server_.import_map = [this](auto&, const std::vector<v1::ImportMapRequest>& parts,
                                v1::ImportMapResponse& response) {
      header_ = parts.at(0).header();
      received_.clear();
      for (const auto& part : parts) {
        received_ += part.chunk();
      }
      if (header_.map() == refused_) {
        return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no ground");
      }
      v1::MapInfo& info = *response.mutable_info();
      info.set_map(header_.map());
      info.mutable_version()->set_revision(1);
      info.mutable_grid()->set_width(4);
      info.mutable_grid()->set_height(2);
      info.mutable_grid()->set_walkable_cells(7);
      response.mutable_notes()->Assign(notes_.begin(), notes_.end());
      return grpc::Status::OK;
    };
  }

  void AddNote(const std::string& text, const std::string& first_place, int count) {
    v1::ImportNote& note = notes_.emplace_back();
    note.set_text(text);
    note.set_first_place(first_place);
    note.set_count(count);
  }

  std::string Path(const std::string& name) const { return folder_.PathOf(name); }

  std::string WriteFile(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }

  std::string ReadFile(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  const ::waystar::testing::OwnFolder folder_;
  v1::ImportMapHeader header_;
  std::vector<v1::ImportNote> notes_;
  std::string received_;
  // The name of a map that is not made.
  std::string refused_ = "refused";
};

TEST_F(MapFilesTest, ImportsAFileUnderItsName) {
  EXPECT_EQ(Run({"map", "import", WriteFile("arena.txt", "..#.\n....\n")}), ExitCode::kOk);
  EXPECT_EQ(out_, "Imported arena: 4 x 2 cells, 7 of them walkable, revision 1.\n");
  EXPECT_EQ(header_.map(), "arena");
  EXPECT_EQ(header_.size(), 10);
  EXPECT_EQ(header_.format(), v1::MAP_FORMAT_UNSPECIFIED);
  EXPECT_EQ(received_, "..#.\n....\n");
}

TEST_F(MapFilesTest, SaysWhatWasPassedOver) {
  AddNote("hidden layers", "layer \"decor\" (line 12)", 3);
  AddNote("hidden objects", "object 5", 1);
  AddNote("nothing blocks", "", 1);
  AddNote("notes of other kinds", "", 4);
  EXPECT_EQ(Run({"map", "import", WriteFile("arena.txt", "..")}), ExitCode::kOk);
  EXPECT_EQ(out_,
            "Imported arena: 4 x 2 cells, 7 of them walkable, revision 1.\n"
            "Note: hidden layers: layer \"decor\" (line 12) and 2 more.\n"
            "Note: hidden objects: object 5.\n"
            "Note: nothing blocks.\n"
            "Note: notes of other kinds, 4 times.\n");
}

TEST_F(MapFilesTest, ImportsWithOptions) {
  EXPECT_EQ(Run({"map", "import", "--terrain", "~=river:3", "--terrain", "^=peak:impassable",
                 WriteFile("arena.txt", "."), "--as", "valley", "--format", "moving_ai", "--connectivity",
                 "8", "--diagonal-cost", "1.4"}),
            ExitCode::kOk);
  EXPECT_EQ(header_.map(), "valley");
  EXPECT_EQ(header_.format(), v1::MAP_FORMAT_MOVING_AI);
  EXPECT_EQ(header_.grid().squares().connectivity(), v1::CONNECTIVITY_EIGHT);
  EXPECT_EQ(header_.grid().squares().diagonal_cost(), 1.4);
  ASSERT_EQ(header_.grid().terrains_size(), 2);
  EXPECT_EQ(header_.grid().terrains(0).name(), "river");
  EXPECT_TRUE(header_.grid().terrains(1).impassable());
}

TEST_F(MapFilesTest, ImportsLevelsToBuildMeshesOf) {
  EXPECT_EQ(Run({"map", "import", WriteFile("level.obj", "v"), "--agent-radius", "0.4", "--agent-height",
                 "1.8", "--tile-cells", "32"}),
            ExitCode::kOk);
  const v1::MeshBuild& build = header_.import_options().build();
  EXPECT_EQ(build.agent_radius(), 0.4);
  EXPECT_EQ(build.agent_height(), 1.8);
  EXPECT_EQ(build.tile_cells(), 32);
  EXPECT_FALSE(build.has_max_slope());
  EXPECT_EQ(Run({"map", "import", WriteFile("level.obj", "v"), "--agent", "human:0.4:1.8", "--agent",
                 "troll:1.2:3"}),
            ExitCode::kOk);
  EXPECT_EQ(header_.map(), "level-troll");
  EXPECT_EQ(header_.import_options().build().agent_radius(), 1.2);
  EXPECT_EQ(header_.import_options().build().agent_height(), 3);
  EXPECT_EQ(Run({"map", "import", WriteFile("level.obj", "v"), "--agent", "human"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"map", "import", WriteFile("level.glb", "glTF"), "--build"}), ExitCode::kOk);
  EXPECT_TRUE(header_.import_options().has_build());
  EXPECT_EQ(Run({"map", "import", WriteFile("mesh.obj", "v")}), ExitCode::kOk);
  EXPECT_FALSE(header_.import_options().has_build());
  EXPECT_FALSE(header_.import_options().has_weld());
  EXPECT_EQ(Run({"map", "import", WriteFile("ground.glb", "glTF"), "--weld", "0.1"}), ExitCode::kOk);
  EXPECT_EQ(header_.import_options().weld(), 0.1);
}

TEST_F(MapFilesTest, SaysWhichAgentsHaveTheirMaps) {
  refused_ = "level-giant";
  EXPECT_NE(Run({"map", "import", WriteFile("level.obj", "v"), "--agent", "human:0.4:1.8", "--agent",
                 "troll:1.2:3", "--agent", "giant:9:9"}),
            ExitCode::kOk);
  EXPECT_THAT(err_, HasSubstr("no ground"));
  EXPECT_THAT(err_, HasSubstr("left as they are: level-human, level-troll; give the other agents alone"));
  refused_ = "level-human";
  EXPECT_NE(Run({"map", "import", WriteFile("level.obj", "v"), "--agent", "human:0.4:1.8"}), ExitCode::kOk);
  EXPECT_THAT(err_, Not(HasSubstr("left as they are")));
}

TEST_F(MapFilesTest, ImportsFilesOfLevelEditors) {
  EXPECT_EQ(
      Run({"map", "import", WriteFile("world.ldtk", "{}"), "--level", "Cellar", "--layer", "Walls", "--layer",
           "Water", "--terrains", WriteFile("world.terrains", "value 2 water 3\n"), "--format", "ldtk"}),
      ExitCode::kOk);
  EXPECT_EQ(header_.format(), v1::MAP_FORMAT_LDTK);
  EXPECT_EQ(header_.import_options().level(), "Cellar");
  EXPECT_EQ(header_.import_options().layers_size(), 2);
  EXPECT_EQ(header_.import_options().layers(1), "Water");
  EXPECT_EQ(header_.import_options().terrains(), "value 2 water 3\n");
  EXPECT_EQ(Run({"map", "import", WriteFile("isle.png", "x"), "--terrains", Path("missing.terrains")}),
            ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("cannot read"));
}

TEST_F(MapFilesTest, ImportsStandardInputUnderAGivenName) {
  in_ = "..\n";
  EXPECT_EQ(Run({"map", "import", "-", "--as", "pipe"}), ExitCode::kOk);
  EXPECT_EQ(header_.map(), "pipe");
  EXPECT_EQ(header_.size(), 3);
  EXPECT_EQ(received_, "..\n");
  EXPECT_EQ(Run({"map", "import", "-"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("needs a name: --as NAME"));
}

TEST_F(MapFilesTest, ExplainsWhatCannotBeRead) {
  EXPECT_EQ(Run({"map", "import", Path("missing.txt")}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("missing.txt: No such file or directory"));
  EXPECT_EQ(Run({"map", "import", folder_.path().string()}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("it is a folder"));
}

TEST_F(MapFilesTest, ExportsToStandardOutput) {
  server_.ServeMap({}, {".#", ".."});
  EXPECT_EQ(Run({"map", "export", "arena"}), ExitCode::kOk);
  EXPECT_EQ(out_, "connectivity 8\nmap\n.#\n..\n");
  EXPECT_EQ(Run({"map", "export", "arena", "--json"}), ExitCode::kUsage);
}

TEST_F(MapFilesTest, ExportsAnImageUnlessPeopleReadTheFile) {
  server_.ServeMap({}, {".."});
  v1::MapFormat format = v1::MAP_FORMAT_UNSPECIFIED;
  server_.export_map = [&format, serve = server_.export_map](auto& context, const auto& request,
                                                             auto& parts) {
    format = request.format();
    return serve(context, request, parts);
  };
  EXPECT_EQ(Run({"map", "export", "arena"}), ExitCode::kOk);
  EXPECT_EQ(format, v1::MAP_FORMAT_WAYSTAR);
  EXPECT_EQ(Run({"map", "export", "arena", "-o", Path("arena.waymap")}), ExitCode::kOk);
  EXPECT_EQ(format, v1::MAP_FORMAT_WAYSTAR);
  EXPECT_EQ(Run({"map", "export", "arena", "-o", Path("arena.txt")}), ExitCode::kOk);
  EXPECT_EQ(format, v1::MAP_FORMAT_TEXT);
  is_terminal_ = true;
  EXPECT_EQ(Run({"map", "export", "arena"}), ExitCode::kOk);
  EXPECT_EQ(format, v1::MAP_FORMAT_TEXT);
  EXPECT_EQ(Run({"map", "export", "arena", "--format", "waystar"}), ExitCode::kOk);
  EXPECT_EQ(format, v1::MAP_FORMAT_WAYSTAR);
}

TEST_F(MapFilesTest, ExportsToAFile) {
  v1::MapInfo info;
  info.mutable_version()->set_revision(3);
  server_.ServeMap(info, {".#", ".."});
  EXPECT_EQ(Run({"map", "export", "arena", "-o", Path("out.txt")}), ExitCode::kOk);
  EXPECT_EQ(ReadFile("out.txt"), "connectivity 8\nmap\n.#\n..\n");
  EXPECT_THAT(out_, HasSubstr("arena at revision 3, 25 bytes.\n"));
  EXPECT_EQ(Run({"map", "export", "arena", "--output", Path("out.txt"), "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("\"size\":\"25\""));
}

TEST_F(MapFilesTest, SaysWhatAFormatLeavesOut) {
  v1::MapInfo info;
  info.mutable_grid()->set_named_obstacles(2);
  info.mutable_grid()->set_portals(1);
  server_.ServeMap(info, {".#", ".."});
  const std::string file = WriteFile("out.txt", "precious");
  EXPECT_EQ(Run({"map", "export", "arena", "-o", file}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("leave out what arena has: 2 named obstacles, 1 portal\n"));
  EXPECT_THAT(err_, HasSubstr("--lossy"));
  EXPECT_EQ(ReadFile("out.txt"), "precious");
  EXPECT_EQ(Run({"map", "export", "arena", "-o", file, "--lossy"}), ExitCode::kOk);
  EXPECT_EQ(err_, "waystar: left out: 2 named obstacles, 1 portal\n");
  EXPECT_EQ(ReadFile("out.txt"), "connectivity 8\nmap\n.#\n..\n");
  EXPECT_EQ(Run({"map", "export", "arena", "-o", Path("out.waymap")}), ExitCode::kOk);
  EXPECT_EQ(err_, "");
}

TEST_F(MapFilesTest, ExplainsWhatCannotBeWritten) {
  server_.ServeMap({}, {".."});
  EXPECT_EQ(Run({"map", "export", "arena", "-o", Path("missing/out.txt")}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("cannot write"));
}

TEST_F(MapFilesTest, AFailedExportLeavesTheFileAlone) {
  const std::string file = WriteFile("out.txt", "precious");
  EXPECT_EQ(Run({"map", "export", "arena", "-o", file}), ExitCode::kFailure);
  EXPECT_EQ(ReadFile("out.txt"), "precious");
}

}  // namespace
}  // namespace waystar::cli
