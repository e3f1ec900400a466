// A board of hexagons against a real server: what its picture labels is what commands take and print.

#include "tests/client/cli/served_command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class HexCommandsTest : public ::waystar::testing::ServedCommandTest {
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
  EXPECT_THAT(out_, HasSubstr("stairs  0,0   4,3 "));
}

TEST_F(HexCommandsTest, ReachIsWhereItIsDrawn) {
  ASSERT_EQ(Run({"reach", "board", "0,3", "--max-cost", "1"}), ExitCode::kOk) << err_;
  EXPECT_EQ(out_,
            "  0\n"
            "0 . . . . .\n"
            "   . # # # .\n"
            "  + + . . .\n"
            "   S + # . .\n"
            "S start  + within reach  # obstacle\n"
            "4 cells within reach, x 0 to 1 and y 2 to 3 (revision 1)\n");
}

}  // namespace
}  // namespace waystar::cli
