// `waystar render` and `waystar animate`, and pictures of hexagons, against a real server.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "server/render/file/picture_file.h"
#include "tests/client/cli/served_command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class PictureCommandsTest : public waystar::ServedCommandTest {
 protected:
  PictureCommandsTest() {
    server_.Create("yard", {"......",  //
                            ".##...",  //
                            "......",  //
                            "...#.."});
  }

  // Of a file that is gone with the test.
  std::string FileNamed(const std::string& name) const { return folder_.PathOf(name); }

  static std::string BytesOf(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    std::filesystem::remove(name);
    return bytes.str();
  }
};

TEST_F(PictureCommandsTest, RendersTextWithoutAFile) {
  ASSERT_EQ(Run({"render", "yard", "0,0", "5,3"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, StartsWith("yard  6 x 4 cells, revision 1\npath found, cost 6.82842712; "));
  EXPECT_THAT(out_, HasSubstr("0 S"));
}

TEST_F(PictureCommandsTest, FindAndTraceDrawTheirPaths) {
  ASSERT_EQ(Run({"find", "yard", "0,0", "5,2"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, StartsWith("  0    5\n"
                               "0 S***..\n"
                               "  .##.*.\n"
                               "  .....G\n"
                               "  ...#..\n"
                               ". ground, cost 1  # obstacle  S start  G goal  * path\n"
                               "Path found: "));
  ASSERT_EQ(Run({"trace", "yard", "0,0", "2,0", "--algorithm", "astar", "--max-events", "2"}), ExitCode::kOk)
      << err_;
  EXPECT_THAT(out_, StartsWith("  0    5\n0 S*G...\n"));
  EXPECT_THAT(out_, HasSubstr("expanded at cost 0"));
}

TEST_F(PictureCommandsTest, LargeMapsAreShownAroundThePath) {
  server_.Create("plain", std::vector<std::string>(80, std::string(300, '.')));
  ASSERT_EQ(Run({"find", "plain", "200,40", "203,40"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("S**G"));
  EXPECT_THAT(out_, HasSubstr("Shown: x 155 to 248 and y 15 to 65 of a map of 300 x 80.\n"));
  ASSERT_EQ(Run({"find", "plain", "0,0", "299,0"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("of a map of 300 x 80. Each character stands for 3."));
}

TEST_F(PictureCommandsTest, FileNameSaysWhatToRender) {
  const std::string png = FileNamed("render.png");
  ASSERT_EQ(Run({"render", "yard", "-o", png, "--size", "200x100"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("yard at revision 1"));
  const auto canvas = picture::DecodePng(BytesOf(png));
  ASSERT_TRUE(canvas.ok()) << canvas.status();
  EXPECT_LE(canvas->width(), 200);
  const std::string svg = FileNamed("render.svg");
  ASSERT_EQ(Run({"render", "yard", "-o", svg}), ExitCode::kOk) << err_;
  EXPECT_THAT(BytesOf(svg), StartsWith("<svg"));
  ASSERT_EQ(Run({"render", "yard", "-o", "-", "--format", "svg"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, StartsWith("<svg"));
}

TEST_F(PictureCommandsTest, RendersDarkPicturesAndTheFirstEventsOfASearch) {
  const std::string svg = FileNamed("render.svg");
  ASSERT_EQ(Run({"render", "yard", "--theme", "dark", "-o", svg}), ExitCode::kOk) << err_;
  const std::string dark = BytesOf(svg);
  ASSERT_EQ(Run({"render", "yard", "--theme", "light", "-o", svg}), ExitCode::kOk) << err_;
  EXPECT_NE(BytesOf(svg), dark);
  EXPECT_EQ(Run({"render", "yard", "--theme", "grey"}), ExitCode::kUsage);
  ASSERT_EQ(Run({"render", "yard", "0,0", "5,3", "--search", "--algorithm", "astar", "--max-events", "4",
                 "--no-labels", "--no-legend"}),
            ExitCode::kOk)
      << err_;
  EXPECT_EQ(std::count(out_.begin(), out_.end(), 'o'), 1) << out_;
  EXPECT_EQ(Run({"render", "yard", "0,0", "5,3", "--max-events", "3"}), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("max_events requires with_search"));
}

TEST_F(PictureCommandsTest, RendersBlocksForTerminalsWithColours) {
  is_terminal_ = true;
  ASSERT_EQ(Run({"render", "yard", "--format", "blocks", "--size", "24x16"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("\x1b[38;2;"));
  EXPECT_THAT(out_, HasSubstr("\xe2\x96\x80"));
  EXPECT_EQ(Run({"render", "yard", "--format", "blocks", "--color", "never"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("ask for --format text"));
}

TEST_F(PictureCommandsTest, RegionsOfGraphsMayHaveFractions) {
  Create(
      "map: 'town' graph { nodes { id: 'n1' position { x: 13.401 y: 52.51 } }"
      " nodes { id: 'n2' position { x: 13.41 y: 52.51 } }"
      " nodes { id: 'n3' position { x: 13.419 y: 52.51 } } }");
  const auto nodes = [this] { return std::count(out_.begin(), out_.end(), 'o'); };
  const std::vector<std::string> bare = {"render", "town", "--no-labels", "--no-legend"};
  ASSERT_EQ(Run(bare), ExitCode::kOk) << err_;
  EXPECT_EQ(nodes(), 3);
  for (const char* part : {"13.405,52.505..13.42,52.515", "13.405,52.505+0.015x0.01"}) {
    std::vector<std::string> arguments = bare;
    arguments.insert(arguments.end(), {"--region", part});
    ASSERT_EQ(Run(arguments), ExitCode::kOk) << err_;
    EXPECT_EQ(nodes(), 2) << part;
  }
  ASSERT_EQ(Run({"render", "yard", "--no-labels", "--no-legend", "--region", "1,1..2,1"}), ExitCode::kOk)
      << err_;
  EXPECT_EQ(out_, "##\n");
  EXPECT_NE(Run({"render", "yard", "--region", "0,0..2.5,1"}), ExitCode::kOk);
  EXPECT_THAT(err_, HasSubstr("a region, in cells"));
  EXPECT_EQ(Run({"render", "yard", "--region", "0,0..2"}), ExitCode::kUsage);
}

TEST_F(PictureCommandsTest, MeshesAreShownByFloorAndFromTheSide) {
  v1::CreateMapRequest house;
  house.set_map("house");
  house.set_data(
      "v 0 0 0\nv 8 0 0\nv 8 0 8\nv 0 0 8\nv 2 3 4\nv 6 3 4\nv 6 3 8\nv 2 3 8\nf 1 2 3 4\nf 5 6 7 8\n");
  ASSERT_TRUE(server_.client().CreateMap(house).ok());
  const auto ground = [this](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"render", "house", "--no-labels", "--no-legend"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(Run(arguments), ExitCode::kOk) << err_;
    return std::count(out_.begin(), out_.end(), '.');
  };
  const auto all = ground({});
  EXPECT_EQ(ground({"--heights", ":0"}), all);
  const auto roof = ground({"--heights", "2.5:3.5"});
  EXPECT_GT(roof, 0);
  EXPECT_LT(roof, all);
  EXPECT_EQ(ground({"--heights", "1:"}), roof);
  const std::string png = FileNamed("house.png");
  ASSERT_EQ(Run({"render", "house", "--oblique", "-o", png}), ExitCode::kOk) << err_;
  EXPECT_TRUE(picture::DecodePng(BytesOf(png)).ok());
  for (const char* bad : {"3", "3:x", "1:2:3", "3..5"}) {
    EXPECT_EQ(Run({"render", "house", "--heights", bad}), ExitCode::kUsage) << bad;
  }
  EXPECT_EQ(Run({"render", "house", "--heights", "5:3"}), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("there are no heights"));
  EXPECT_EQ(Run({"render", "house", "--oblique"}), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("text shows a mesh from above"));
}

TEST_F(PictureCommandsTest, RendersAnUnreachableGoal) {
  ASSERT_TRUE(
      server_.client().UpdateMap(BlockRequest("yard", {CellAt(4, 3), CellAt(4, 2), CellAt(5, 2)})).ok());
  EXPECT_EQ(Run({"render", "yard", "0,0", "5,3"}), ExitCode::kNoPath);
  EXPECT_THAT(out_, HasSubstr("no path to the goal"));
}

TEST_F(PictureCommandsTest, RefusesWhatCannotBe) {
  EXPECT_EQ(Run({"render", "yard", "0,0"}), ExitCode::kUsage);
  is_terminal_ = true;
  EXPECT_EQ(Run({"render", "yard", "--format", "png"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"render", "yard", "-o", FileNamed("no/such/folder.png")}), ExitCode::kUsage);
  EXPECT_EQ(Run({"render", "yard", "-o", FileNamed("yard.jpg")}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr(".png, .svg or .txt"));
  EXPECT_EQ(Run({"render", "yard", "-o", FileNamed("yard"), "--format", "png"}), ExitCode::kOk);
  EXPECT_EQ(Run({"render", "nowhere"}), ExitCode::kRefused);
  EXPECT_EQ(Run({"animate", "yard", "0,0", "5,3", "-o", "search.mp4"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"animate", "yard", "0,0", "5,3", "-o", "search.gif", "--beside", "magic"}),
            ExitCode::kUsage);
  EXPECT_EQ(Run({"animate", "yard", "0,0", "9,9", "-o", FileNamed("search.gif")}), ExitCode::kRefused);
}

TEST_F(PictureCommandsTest, AnimatesSearchesSideBySideAsSmallAsTheyMustBe) {
  const std::string gif = FileNamed("search.gif");
  ASSERT_EQ(Run({"animate", "yard", "0,0", "5,3", "--algorithm", "astar", "--beside", "dijkstra", "--beside",
                 "jump-point", "-o", gif, "--frames", "8"}),
            ExitCode::kOk)
      << err_;
  EXPECT_THAT(out_, HasSubstr("by A*"));
  EXPECT_THAT(out_, HasSubstr("by Dijkstra"));
  EXPECT_THAT(out_, HasSubstr("by jump point search"));
  EXPECT_THAT(BytesOf(gif), StartsWith("GIF89a"));
  ASSERT_EQ(Run({"animate", "yard", "0,0", "5,3", "-o", "-"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, StartsWith("GIF89a"));
  EXPECT_EQ(Run({"animate", "yard", "0,0", "5,3", "-o", "-", "--json"}), ExitCode::kUsage);
  const std::string webp = FileNamed("search.webp");
  ASSERT_EQ(Run({"animate", "yard", "0,0", "5,3", "-o", webp}), ExitCode::kOk) << err_;
  EXPECT_THAT(BytesOf(webp), StartsWith("RIFF"));
  const std::string small = FileNamed("small.gif");
  ASSERT_EQ(Run({"animate", "yard", "0,0", "5,3", "-o", small, "--max-megabytes", "0.05"}), ExitCode::kOk)
      << err_;
  EXPECT_LE(BytesOf(small).size(), 52429U);
}

TEST_F(PictureCommandsTest, AnimatesAndTracesSearchesOnGraphs) {
  Create(
      "map: 'islands' graph { nodes { id: 'harbour' position {} } nodes { id: 'ford' position { x: 6 } }"
      " nodes { id: 'lighthouse' position { x: 12 } } nodes { id: 'moon' position { x: 40 } }"
      " auto_connect { max_distance: 7 } }");
  const std::string gif = FileNamed("graph.gif");
  ASSERT_EQ(Run({"animate", "islands", "harbour", "lighthouse", "--algorithm", "astar", "--beside",
                 "dijkstra", "-o", gif}),
            ExitCode::kOk)
      << err_;
  EXPECT_THAT(out_, HasSubstr("3 frames"));
  EXPECT_THAT(out_, HasSubstr("Path found: 3 nodes at cost 12 (revision 1; 2 nodes expanded"));
  EXPECT_THAT(out_, HasSubstr("by Dijkstra"));
  EXPECT_THAT(BytesOf(gif), StartsWith("GIF89a"));
  ASSERT_EQ(Run({"trace", "islands", "harbour", "lighthouse"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, StartsWith("ORDER  NODE        COST  TOTAL  FROM\n"
                               "1      harbour     0     12\n"
                               "2      ford        6     12     harbour\n"
                               "open   lighthouse  12    12     ford\n"));
  EXPECT_EQ(Run({"animate", "islands", "harbour", "lighthouse", "--algorithm", "jump-point", "-o", gif}),
            ExitCode::kRefused);
  EXPECT_EQ(Run({"animate", "islands", "harbour", "moon", "-o", gif}), ExitCode::kNoPath) << err_;
  EXPECT_THAT(out_, HasSubstr("No path to the goal: no edges lead there"));
}

TEST_F(PictureCommandsTest, AnimatesAndTracesSearchesOnMeshes) {
  v1::CreateMapRequest create;
  create.set_map("floor");
  create.set_data(
      "mesh 2 8 3\n"
      "-1 0 1 0\n 4 0 1 0\n 4 4 3 0 1 2\n 0 4 2 0 1\n 0 8 1 1\n 4 8 2 1 2\n 8 9 1 2\n 8 4 1 2\n"
      "4 0 1 2 3 -1 -1 -1 1\n"
      "4 3 2 5 4 -1 0 2 -1\n"
      "4 2 7 6 5 1 -1 -1 -1\n");
  ASSERT_TRUE(server_.client().CreateMap(create).ok());
  const std::string gif = FileNamed("mesh.gif");
  ASSERT_EQ(Run({"animate", "floor", "2,1,0", "7,5,0", "-o", gif}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("2 frames"));
  EXPECT_THAT(out_, HasSubstr("1 interval expanded"));
  EXPECT_THAT(out_, HasSubstr("by Polyanya"));
  EXPECT_THAT(BytesOf(gif), StartsWith("GIF89a"));
  EXPECT_EQ(Run({"animate", "floor", "2,1,0", "7,5,0", "--beside", "polyanya", "-o", gif}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("no other algorithm to be seen beside it"));
  EXPECT_EQ(Run({"animate", "floor", "2,1,0", "7,5,0", "--algorithm", "astar", "-o", gif}),
            ExitCode::kRefused);
  ASSERT_EQ(Run({"trace", "floor", "2,1,0", "7,5,0"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, StartsWith("ORDER  ID  THROUGH  POLYGON  LEFT  RIGHT  ROOT"));
  EXPECT_THAT(out_, HasSubstr("left open: 1 interval\n"));
  EXPECT_EQ(Run({"render", "floor", "2,1,0", "7,5,0", "--search"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("expanded at cost"));
}

TEST_F(PictureCommandsTest, ShowsTheLabelsOfNodes) {
  Create(
      "map: 'railway' graph { nodes { id: 'koln-hbf' label: 'Köln/Hbf' } nodes { id: 'inn' enabled: false } "
      "}");
  ASSERT_EQ(Run({"map", "show", "railway"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("koln-hbf \"Köln/Hbf\"  "));
  EXPECT_THAT(out_, HasSubstr("inn (disabled)  "));
}

// A board of hexagons: what its picture labels is what commands take and print.
class HexCommandsTest : public waystar::ServedCommandTest {
 protected:
  HexCommandsTest() {
    v1::GridOptions grid;
    grid.mutable_hexagons()->set_layout(v1::HEX_LAYOUT_ODD_ROWS);
    server_.Create("board",
                   {".....",  //
                    ".###.",  //
                    ".....",  //
                    "..#.."},
                   grid);
  }
};

TEST_F(HexCommandsTest, PathsGoFromLabelToLabel) {
  ASSERT_EQ(Run({"find", "board", "0,0", "0,3", "--form", "cells"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, StartsWith("  0\n"
                               "0 S . . . .\n"
                               "   * # # # .\n"
                               "  * . . . .\n"
                               "   G . # . .\n"));
  EXPECT_THAT(out_, HasSubstr("\n0,0 0,1 0,2 0,3\n"));
}

TEST_F(HexCommandsTest, TracesDrawTheSearchWhereItWas) {
  ASSERT_EQ(Run({"trace", "board", "0,3", "1,3", "--algorithm", "astar"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("   S G # . .\n"));
  EXPECT_THAT(out_, StartsWith("  0\n"
                               "0 . . . . .\n"
                               "   . # # # .\n"
                               "  o o . . .\n"));
}

TEST_F(HexCommandsTest, ObstaclesLieOnTheirLabels) {
  ASSERT_EQ(Run({"block", "board", "0,2"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("1 cell changed"));
  ASSERT_EQ(Run({"map", "show", "board"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("\n  # . . . .\n   . . # . .\n"));
  EXPECT_EQ(Run({"block", "board", "5,2"}), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("column 5 of row 2 is off the map, which has 5 columns and 4 rows"));
  ASSERT_EQ(Run({"obstacle", "put", "board", "crate", "3,2..4,3"}), ExitCode::kOk) << err_;
  ASSERT_EQ(Run({"obstacle", "list", "board"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("3,2+2x2"));
  ASSERT_EQ(Run({"portal", "put", "board", "stairs", "0,0", "4,3"}), ExitCode::kOk) << err_;
  ASSERT_EQ(Run({"portal", "list", "board"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("stairs  0,0   4,3\n"));
}

TEST_F(HexCommandsTest, ReachIsWhereItIsDrawn) {
  ASSERT_EQ(Run({"reach", "board", "0,3", "--max-cost", "1"}), ExitCode::kOk) << err_;
  EXPECT_EQ(out_,
            "  0\n"
            "0 . . . . .\n"
            "   . # # # .\n"
            "  * * . . .\n"
            "   S * # . .\n"
            "S start  * within reach\n"
            ". ground, cost 1  # obstacle\n"
            "4 cells within reach, x 0 to 1 and y 2 to 3 (revision 1)\n");
}

}  // namespace
}  // namespace waystar::cli
