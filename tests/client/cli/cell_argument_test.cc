#include "client/cli/cell_argument.h"

#include <gtest/gtest.h>

namespace waystar::cli {
namespace {

TEST(CellArgumentTest, ReadsACell) {
  const auto cell = ParseCell("3,14");
  ASSERT_TRUE(cell.ok()) << cell.status();
  EXPECT_EQ(cell->x(), 3);
  EXPECT_EQ(cell->y(), 14);
  EXPECT_EQ(FormatCell(*cell), "3,14");
}

TEST(CellArgumentTest, ReadsNegativeCoordinates) {
  const auto cell = ParseCell("-1,-20");
  ASSERT_TRUE(cell.ok()) << cell.status();
  EXPECT_EQ(FormatCell(*cell), "-1,-20");
}

TEST(CellArgumentTest, RefusesWhatIsNoCell) {
  for (const char* text :
       {"", ",", "3", "3,", ",4", "3;4", "3,4,5", "a,b", "1.5,2", "99999999999,1", "3,4..5,6"}) {
    EXPECT_FALSE(ParseCell(text).ok()) << text;
  }
}

}  // namespace
}  // namespace waystar::cli
