#include <gtest/gtest.h>

#include "client/cli/usage_error.h"

namespace waystar::cli {
namespace {

TEST(SuggestionTest, FindsTheNearest) {
  const std::vector<std::string> commands = {"map", "find", "block", "unblock", "health"};
  EXPECT_EQ(Suggest("mpa", commands), "map");
  EXPECT_EQ(Suggest("fin", commands), "find");
  EXPECT_EQ(Suggest("blok", commands), "block");
  EXPECT_EQ(Suggest("unblok", commands), "unblock");
  EXPECT_EQ(Suggest("helath", commands), "health");
}

TEST(SuggestionTest, DoesNotGuessWildly) {
  EXPECT_EQ(Suggest("frobnicate", {"map", "find"}), "");
  EXPECT_EQ(Suggest("xyz", {"map", "find"}), "");
}

}  // namespace
}  // namespace waystar::cli
