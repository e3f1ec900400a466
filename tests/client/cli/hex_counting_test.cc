// Cells of maps of hexagons, which commands count as pictures label them.

#include "client/cli/hex_counting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "client/cli/cell_argument.h"
#include "tests/client/cli/cells.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::At;
using ::waystar::testing::Refusal;

// A board of 3 columns and 3 rows, whose column 0 of row 0 is 1,0 on the plane.
v1::HexInfo Board() {
  v1::HexInfo board;
  board.set_layout(v1::HEX_LAYOUT_ODD_ROWS);
  board.set_columns(3);
  board.set_rows(3);
  board.mutable_zero()->set_x(1);
  return board;
}

class HexCountingTest : public ::waystar::testing::CommandTest {
 protected:
  HexCountingTest() {
    *info_.mutable_grid()->mutable_hexagons() = Board();
    server_.get_map = [this](auto&, const v1::GetMapRequest&, v1::GetMapResponse& response) {
      ++asked_;
      *response.mutable_info() = info_;
      return refusal_;
    };
    server_.find_path = [this](auto&, const v1::FindPathRequest& request, auto&) {
      view_ = request.view();
      return grpc::Status::OK;
    };
    server_.sample_cells = [this](auto&, const v1::SampleCellsRequest& request, auto&) {
      view_ = request.view();
      return grpc::Status::OK;
    };
    server_.find_paths = [this](auto&, const v1::FindPathsRequest& request, auto&) {
      view_ = request.view();
      return grpc::Status::OK;
    };
    server_.update_obstacles = [this](auto&, const v1::UpdateObstaclesRequest& request, auto&) {
      update_ = request;
      return grpc::Status::OK;
    };
    server_.ServeMap(info_, {"...", "...", "..."});
  }

  v1::MapInfo info_;
  grpc::Status refusal_;
  int asked_ = 0;
  v1::View view_;
  v1::UpdateObstaclesRequest update_;
};

TEST_F(HexCountingTest, QuestionsCountByTheLayoutOfTheMap) {
  Run({"find", "arena", "0,0", "1,2", "--no-picture"});
  EXPECT_EQ(view_.coordinates(), v1::HEX_LAYOUT_ODD_ROWS);
  EXPECT_EQ(asked_, 1);
  Run({"find", "arena", "--start-position", "0,0", "--goal-position", "1,2", "--no-picture"});
  EXPECT_EQ(view_.coordinates(), v1::HEX_LAYOUT_ODD_ROWS);
  in_ = "0,0 1,2\n";
  Run({"paths", "arena"});
  EXPECT_EQ(view_.coordinates(), v1::HEX_LAYOUT_ODD_ROWS);
  view_.Clear();
  // It answers cells.
  Run({"sample", "arena"});
  EXPECT_EQ(view_.coordinates(), v1::HEX_LAYOUT_ODD_ROWS);
}

TEST_F(HexCountingTest, TheCommandLineMaySayOtherwise) {
  Run({"find", "arena", "0,0", "1,2", "--no-picture", "--coordinates", "axial"});
  EXPECT_EQ(view_.coordinates(), v1::HEX_LAYOUT_AXIAL_POINTY);
  EXPECT_EQ(asked_, 0);
  Run({"find", "arena", "0,0", "1,2", "--no-picture", "--coordinates", "even-columns"});
  EXPECT_EQ(view_.coordinates(), v1::HEX_LAYOUT_EVEN_COLUMNS);
}

TEST_F(HexCountingTest, NothingIsAskedWhereNoCellIs) {
  Run({"find", "arena", "harbour", "lighthouse", "--no-picture"});
  Run({"obstacle", "remove", "arena", "gate"});
  Run({"obstacle", "move", "arena", "gate", "1,0"});
  Run({"portal", "close", "arena", "stairs"});
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(view_.coordinates(), v1::HEX_LAYOUT_UNSPECIFIED);
}

TEST_F(HexCountingTest, OtherMapsHaveOneWayToCount) {
  info_.clear_grid();
  Run({"find", "arena", "0,0", "1,2", "--no-picture"});
  EXPECT_EQ(view_.coordinates(), v1::HEX_LAYOUT_UNSPECIFIED);
  info_.mutable_grid()->mutable_hexagons()->set_layout(v1::HEX_LAYOUT_AXIAL_FLAT);
  Run({"find", "arena", "0,0", "1,2", "--no-picture"});
  EXPECT_EQ(view_.coordinates(), v1::HEX_LAYOUT_UNSPECIFIED);
}

TEST_F(HexCountingTest, GoesOnWithoutTheRightToRead) {
  refusal_ = Refusal(grpc::StatusCode::PERMISSION_DENIED, "no right to read", "PERMISSION_DENIED");
  EXPECT_EQ(Run({"block", "arena", "0,0"}), ExitCode::kOk) << err_;
  EXPECT_EQ(update_.coordinates(), v1::HEX_LAYOUT_UNSPECIFIED);
  EXPECT_EQ(Run({"block", "arena", "0,0", "--coordinates", "odd-rows"}), ExitCode::kOk) << err_;
  EXPECT_EQ(update_.coordinates(), v1::HEX_LAYOUT_ODD_ROWS);
}

TEST_F(HexCountingTest, ChangesCountByTheLayoutOfTheMap) {
  const std::vector<std::vector<std::string>> commands = {{"block", "arena", "0,0"},
                                                          {"unblock", "arena", "0,0..1,1"},
                                                          {"terrain", "arena", "~", "disc:1,1,1"},
                                                          {"obstacle", "put", "arena", "gate", "0,0"},
                                                          {"obstacle", "resize", "arena", "gate", "0,0"},
                                                          {"portal", "put", "arena", "stairs", "0,0", "1,1"}};
  for (const std::vector<std::string>& command : commands) {
    update_.Clear();
    EXPECT_EQ(Run(command), ExitCode::kOk) << err_;
    EXPECT_EQ(update_.coordinates(), v1::HEX_LAYOUT_ODD_ROWS) << command.front();
    std::vector<std::string> axial = command;
    axial.insert(axial.end(), {"--coordinates", "axial"});
    EXPECT_EQ(Run(axial), ExitCode::kOk) << err_;
    EXPECT_EQ(update_.coordinates(), v1::HEX_LAYOUT_AXIAL_POINTY) << command.front();
  }
}

// The server tells of reach by the plane, whose row 2 begins at column 1 of the board.
TEST_F(HexCountingTest, ReachIsToldByColumnsAndRows) {
  std::vector<v1::HexLayout> asked;
  server_.find_reachable = [&](auto&, const v1::FindReachableRequest& request, auto& response) {
    asked.push_back(request.view().coordinates());
    response.mutable_bounds()->set_y(1);
    response.mutable_bounds()->set_width(2);
    response.mutable_bounds()->set_height(2);
    response.set_cells(std::string("\x02\x01", 2));
    response.set_count(2);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"reach", "arena", "0,1"}), ExitCode::kOk) << err_;
  EXPECT_EQ(out_,
            "  0\n"
            "0 . . .\n"
            "   S . .\n"
            "  + . .\n"
            "S start  + within reach\n"
            "2 cells within reach, x 0 to 0 and y 1 to 2 (revision 0)\n");
  EXPECT_EQ(Run({"reach", "arena", "1,1", "--coordinates", "axial", "--no-picture"}), ExitCode::kOk) << err_;
  EXPECT_THAT(asked, ::testing::ElementsAre(v1::HEX_LAYOUT_ODD_ROWS, v1::HEX_LAYOUT_AXIAL_POINTY));
}

TEST_F(HexCountingTest, ListsTellByColumnsAndRows) {
  server_.list_portals = [](auto&, const auto&, v1::ListPortalsResponse& response) {
    v1::Portal& portal = *response.add_portals();
    portal.set_id("stairs");
    *portal.mutable_from() = At(1, 1);
    *portal.mutable_to() = At(2, 2);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"portal", "list", "arena"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("stairs  0,1   2,2 "));
  EXPECT_EQ(Run({"portal", "list", "arena", "--coordinates", "axial"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("stairs  1,1   2,2 "));
}

TEST(HexShapeTest, PartsOfRowsAreRectanglesAgain) {
  const HexCounting counting(v1::HEX_LAYOUT_ODD_ROWS, Board());
  v1::Shape shape;
  *shape.add_cells() = At(1, 0);
  for (const auto& [x, y] : {std::pair(1, 1), std::pair(0, 2)}) {
    v1::Rectangle& row = *shape.add_rectangles();
    row.set_x(x);
    row.set_y(y);
    row.set_width(2);
    row.set_height(1);
  }
  shape.add_discs()->mutable_center()->set_x(1);
  EXPECT_EQ(counting.TextOf(shape), "0,0 0,1+2x2 disc:0,0,0");
  EXPECT_EQ(HexCounting().TextOf(shape), "1,0 1,1+2x1 0,2+2x1 disc:1,0,0");
  shape.mutable_discs(0)->mutable_center()->set_x(1.5);
  EXPECT_EQ(counting.TextOf(shape), "axial 1,0 1,1+2x1 0,2+2x1 disc:1.5,0,0");
}

TEST(HexShapeTest, CellsGoToThePlaneAndBack) {
  for (const v1::HexLayout layout : {v1::HEX_LAYOUT_ODD_ROWS, v1::HEX_LAYOUT_EVEN_COLUMNS}) {
    const HexCounting counting(layout, Board());
    for (const v1::Cell& cell : {At(0, 0), At(-3, 5), At(7, -2)}) {
      const v1::Cell back = counting.FromPlane(counting.ToPlane(cell));
      EXPECT_EQ(FormatCell(back), FormatCell(cell));
    }
  }
}

}  // namespace
}  // namespace waystar::cli
