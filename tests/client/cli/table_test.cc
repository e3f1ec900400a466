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

TEST(TableTest, NoRowsAreNoText) { EXPECT_EQ(FormatTable({}), ""); }

}  // namespace
}  // namespace waystar::cli
