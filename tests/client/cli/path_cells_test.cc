#include "client/cli/draw/path_cells.h"

#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "client/cli/cell_argument.h"
#include "tests/client/cli/cells.h"

namespace waystar::cli {
namespace {

using ::waystar::testing::At;

constexpr char kWalk[] = "1,1 2,2 3,3 3,2 3,1 2,1";

std::string Cells(const v1::FindPathResponse& answer) {
  return absl::StrJoin(PathCells("arena", At(1, 1), answer), " ",
                       [](std::string* out, const v1::Cell& cell) { *out += FormatCell(cell); });
}

v1::FindPathResponse AnswerWith(const std::vector<v1::Cell>& points) {
  v1::FindPathResponse answer;
  *answer.mutable_end() = At(2, 1);
  for (const v1::Cell& point : points) {
    *answer.add_points() = point;
  }
  return answer;
}

TEST(PathCellsTest, KeepsEveryCell) {
  EXPECT_EQ(Cells(AnswerWith({At(1, 1), At(2, 2), At(3, 3), At(3, 2), At(3, 1), At(2, 1)})), kWalk);
}

TEST(PathCellsTest, FillsInBetweenCorners) {
  EXPECT_EQ(Cells(AnswerWith({At(1, 1), At(3, 3), At(3, 1), At(2, 1)})), kWalk);
}

TEST(PathCellsTest, FollowsLinesAtAnyAngle) {
  EXPECT_EQ(Cells(AnswerWith({At(1, 1), At(6, 3), At(4, -2)})),
            "1,1 2,1 3,2 4,2 5,3 6,3 6,2 5,1 5,0 4,-1 4,-2");
}

TEST(PathCellsTest, FollowsDirections) {
  v1::FindPathResponse answer = AnswerWith({});
  answer.add_directions(v1::DIRECTION_SOUTH_EAST);
  answer.add_directions(v1::DIRECTION_SOUTH_EAST);
  answer.add_directions(v1::DIRECTION_NORTH);
  answer.add_directions(v1::DIRECTION_NORTH);
  answer.add_directions(v1::DIRECTION_WEST);
  EXPECT_EQ(Cells(answer), kWalk);
}

TEST(PathCellsTest, DrawsNoLineThroughAPortal) {
  v1::FindPathResponse answer = AnswerWith({At(1, 1), At(2, 1), At(9, 1), At(10, 2)});
  v1::PortalCrossing crossing;
  crossing.set_index(2);
  *crossing.mutable_arrival() = At(9, 1);
  *answer.add_crossings() = crossing;
  EXPECT_EQ(Cells(answer), "1,1 2,1 9,1 10,2");

  answer = AnswerWith({});
  answer.add_directions(v1::DIRECTION_EAST);
  answer.add_directions(v1::DIRECTION_SOUTH_EAST);
  *answer.add_crossings() = crossing;
  answer.mutable_crossings(0)->set_index(1);
  EXPECT_EQ(Cells(answer), "1,1 2,1 9,1 10,2");
}

TEST(PathCellsTest, LeavesOutWhatLiesOnAnotherMap) {
  v1::FindPathResponse answer = AnswerWith({At(1, 1), At(2, 1), At(5, 5), At(6, 5), At(3, 1), At(4, 1)});
  v1::PortalCrossing& down = *answer.add_crossings();
  down.set_index(2);
  down.set_map("cellar");
  *down.mutable_arrival() = At(5, 5);
  v1::PortalCrossing& up = *answer.add_crossings();
  up.set_index(4);
  up.set_map("arena");
  *up.mutable_arrival() = At(3, 1);
  EXPECT_EQ(Cells(answer), "1,1 2,1 3,1 4,1");
}

TEST(PathCellsTest, APathOfNoStepsIsItsStart) {
  v1::FindPathResponse answer;
  *answer.mutable_end() = At(1, 1);
  EXPECT_EQ(Cells(answer), "1,1");
}

TEST(PathCellsTest, NoPathHasNoCells) { EXPECT_EQ(Cells({}), ""); }

}  // namespace
}  // namespace waystar::cli
