#include "client/cli/find_text.h"

#include <gtest/gtest.h>

#include "tests/client/cli/cells.h"

namespace waystar::cli {
namespace {

using ::waystar::testing::At;

v1::FindPathResponse Answer(v1::Outcome outcome, v1::Reason reason) {
  v1::FindPathResponse answer;
  answer.set_outcome(outcome);
  answer.set_reason(reason);
  answer.mutable_version()->set_revision(3);
  answer.mutable_statistics()->set_expanded(42);
  answer.mutable_statistics()->mutable_search_time()->set_nanos(12300);
  answer.mutable_statistics()->set_algorithm(v1::ALGORITHM_ASTAR);
  return answer;
}

v1::FindPathResponse WithPath(v1::FindPathResponse answer) {
  answer.set_cost(2.41421356);
  *answer.mutable_end() = At(2, 1);
  for (const v1::Cell& cell : {At(0, 0), At(1, 1), At(2, 1)}) {
    *answer.add_points() = cell;
  }
  return answer;
}

TEST(FindTextTest, FoundPath) {
  EXPECT_EQ(FindText({}, WithPath(Answer(v1::OUTCOME_FOUND, v1::REASON_GOAL_REACHED))),
            "Path found: 2 steps at cost 2.41421356 (revision 3; 42 cells expanded in 12.3us by A*)");
}

TEST(FindTextTest, StraightLinesAreNoSteps) {
  v1::FindPathRequest smoothed;
  smoothed.set_path_form(v1::PATH_FORM_SMOOTHED);
  EXPECT_EQ(
      FindText(smoothed, WithPath(Answer(v1::OUTCOME_FOUND, v1::REASON_GOAL_REACHED))),
      "Path found: 2 straight lines at cost 2.41421356 (revision 3; 42 cells expanded in 12.3us by A*)");
  v1::FindPathResponse any_angle = WithPath(Answer(v1::OUTCOME_FOUND, v1::REASON_GOAL_REACHED));
  any_angle.mutable_points()->RemoveLast();
  any_angle.mutable_statistics()->set_algorithm(v1::ALGORITHM_LAZY_THETA_STAR);
  EXPECT_EQ(FindText({}, any_angle),
            "Path found: 1 straight line at cost 2.41421356 (revision 3; 42 cells expanded in 12.3us "
            "by Lazy Theta*)");
}

TEST(FindTextTest, UnreachableGoal) {
  EXPECT_EQ(FindText({}, Answer(v1::OUTCOME_UNREACHABLE, v1::REASON_NO_ROUTE)),
            "No path to the goal: walls part it from the start (revision 3; 42 cells expanded in 12.3us "
            "by A*)");
}

TEST(FindTextTest, PartialPath) {
  EXPECT_EQ(FindText({}, WithPath(Answer(v1::OUTCOME_PARTIAL, v1::REASON_GOAL_BLOCKED))),
            "No path to the goal: it is blocked; 2 steps at cost 2.41421356 to 2,1, the nearest cell "
            "that can be "
            "reached (revision 3; 42 cells expanded in 12.3us by A*)");
}

TEST(FindTextTest, ExhaustedBudget) {
  EXPECT_EQ(FindText({}, WithPath(Answer(v1::OUTCOME_BUDGET_EXHAUSTED, v1::REASON_EXPANSION_LIMIT))),
            "Search ended early: the expansion limit was reached; 2 steps at cost 2.41421356 to 2,1, the "
            "nearest "
            "cell it came to (revision 3; 42 cells expanded in 12.3us by A*)");
}

TEST(FindTextTest, ListsThePathInItsForm) {
  EXPECT_EQ(PathText(WithPath({})), "0,0 1,1 2,1");
  v1::FindPathResponse directions;
  directions.add_directions(v1::DIRECTION_SOUTH_EAST);
  directions.add_directions(v1::DIRECTION_EAST);
  EXPECT_EQ(PathText(directions), "SE E");
}

}  // namespace
}  // namespace waystar::cli
