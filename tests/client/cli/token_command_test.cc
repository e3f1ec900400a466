#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class TokenCommandTest : public ::waystar::testing::CommandTest {};

TEST_F(TokenCommandTest, PrintsATokenAndItsLine) {
  EXPECT_EQ(RunBare({"token", "arena-1", "update:arena-*", "read:lobby"}), ExitCode::kOk);
  EXPECT_THAT(out_, MatchesRegex("The token, which is kept nowhere else:\n"
                                 "wst_[-_A-Za-z0-9]{43}\n"
                                 "Its line in the server's --tokens_file:\n"
                                 "arena-1 sha256:[0-9a-f]{64} update:arena-\\* read:lobby\n"));
}

TEST_F(TokenCommandTest, MakesAnotherEachTime) {
  EXPECT_EQ(RunBare({"token", "a", "read:*", "--json"}), ExitCode::kOk);
  const std::string first = out_;
  EXPECT_THAT(first, HasSubstr("\"token\":\"wst_"));
  EXPECT_THAT(first, HasSubstr("\"line\":\"a sha256:"));
  EXPECT_EQ(RunBare({"token", "a", "read:*", "--json"}), ExitCode::kOk);
  EXPECT_NE(out_, first);
}

TEST_F(TokenCommandTest, RefusesWhatTheServerWould) {
  EXPECT_EQ(RunBare({"token", "a b", "read:*"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("NAME: 'a b' is not 1 to 63"));
  EXPECT_EQ(RunBare({"token", "a"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("PERMISSION is required"));
  for (const char* bad : {"write:*", "read", "read:", "read:Arena"}) {
    EXPECT_EQ(RunBare({"token", "a", bad}), ExitCode::kUsage) << bad;
    EXPECT_THAT(err_, HasSubstr("is not read:MAPS")) << bad;
  }
}

}  // namespace
}  // namespace waystar::cli
