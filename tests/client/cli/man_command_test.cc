#include <gmock/gmock.h>

#include "client/cli/manual/manual_page.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RoffTest, TakesTextLiterally) {
  EXPECT_EQ(RoffText(".it's a --flag of \\n"), "\\&.it\\(aqs a \\-\\-flag of \\en");
  EXPECT_EQ(RoffArgument("a \"b\""), "\"a \\(dqb\\(dq\"");
}

TEST(RoffTest, KeepsTheShapeOfExamples) {
  EXPECT_EQ(RoffParagraphs("One\ntwo.\n\nExamples:\n  a\n  b\n"),
            ".PP\nOne\ntwo.\n.PP\nExamples:\n.RS\n.nf\na\nb\n.fi\n.RE\n");
}

class ManCommandTest : public ::waystar::testing::CommandTest {};

TEST_F(ManCommandTest, TellsOfEveryCommandWithItsOptionsAndExamples) {
  EXPECT_EQ(RunBare({"man"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr(".TH WAYSTAR 1"));
  EXPECT_THAT(out_, HasSubstr(".SS \"waystar map import FILE [OPTIONS]\"\n"));
  EXPECT_THAT(out_, HasSubstr(".SS \"waystar top [OPTIONS]\"\n"));
  EXPECT_THAT(out_, HasSubstr("\\fB\\-\\-output\\fR \\fIFILE\\fR"));
  EXPECT_THAT(out_, HasSubstr("waystar map import arena.txt\n"));
  EXPECT_THAT(out_, HasSubstr("\\fBWAYSTAR_SERVER\\fR"));
  EXPECT_THAT(out_, HasSubstr(".SH \"EXIT CODES\"\n"));
  EXPECT_THAT(out_, Not(HasSubstr("--")));
}

}  // namespace
}  // namespace waystar::cli
