#include "client/cli/table.h"

#include <gtest/gtest.h>

namespace waystar::cli {
namespace {

TEST(TableTest, AlignsColumns) {
  EXPECT_EQ(FormatTable({{"MAP", "SIZE", "REVISION"}, {"a", "10 x 20", "1"}, {"castle", "1 x 1", "42"}}),
            "MAP     SIZE     REVISION\n"
            "a       10 x 20  1\n"
            "castle  1 x 1    42\n");
}

TEST(TableTest, CutsTheWidestColumnsToFit) {
  EXPECT_EQ(FormatTable({{"START", "PATH", "WHY"}, {"1,1", "1,1 2,2 3,3 4,4", "a wall stands there"}}, 30),
            "START  PATH        WHY\n"
            "1,1    1,1 2,2 3…  a wall sta…\n");
}

TEST(TableTest, LeavesSomethingOfEachColumn) {
  EXPECT_EQ(FormatTable({{"abcdefgh", "ijklmnop"}}, 1), "abc…  ijk…\n");
}

TEST(TableTest, CountsCharactersAndNotBytes) {
  EXPECT_EQ(FormatTable({{"äöü", "1"}, {"abc", "2"}}, 6), "äöü  1\nabc  2\n");
  EXPECT_EQ(FormatTable({{"ääääää"}}, 5), "ääää…\n");
}

TEST(TableTest, NoRowsAreNoText) { EXPECT_EQ(FormatTable({}), ""); }

}  // namespace
}  // namespace waystar::cli
