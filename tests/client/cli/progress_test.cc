#include "client/cli/progress.h"

#include <gmock/gmock.h>

#include <sstream>

namespace waystar::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(ProgressTest, TellsHowFarAndHowFastAndHowLongYet) {
  EXPECT_EQ(ProgressLine("importing", 12 << 20, 24 << 20, absl::Seconds(2)),
            "importing  [############------------]  50%  12.0 of 24.0 MiB  6.0 MiB/s  2s left");
  EXPECT_EQ(ProgressLine("importing", 24 << 20, 24 << 20, absl::Seconds(4)),
            "importing  [########################]  100%  24.0 of 24.0 MiB  6.0 MiB/s");
  EXPECT_EQ(ProgressLine("exporting", 10 << 20, 0, absl::Seconds(5)), "exporting  10.0 MiB  2.0 MiB/s");
}

class ProgressOutputTest : public ::testing::Test {
 protected:
  std::string Written(bool is_terminal, bool json) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    Io io{in, out, err};
    io.shows_progress = is_terminal;
    Session session(io);
    session.options().json = json;
    {
      Progress progress(session, "importing");
      progress.Show(1, 2);
    }
    EXPECT_EQ(out.str(), "");
    return err.str();
  }
};

TEST_F(ProgressOutputTest, IsWrittenOverItselfAndGoneAtTheEnd) {
  const std::string written = Written(/*is_terminal=*/true, /*json=*/false);
  EXPECT_THAT(written, HasSubstr("\r\x1b[Kimporting  ["));
  EXPECT_THAT(written, EndsWith("\r\x1b[K"));
}

TEST_F(ProgressOutputTest, IsForTerminalsAndPeople) {
  EXPECT_EQ(Written(/*is_terminal=*/false, /*json=*/false), "");
  EXPECT_EQ(Written(/*is_terminal=*/true, /*json=*/true), "");
}

}  // namespace
}  // namespace waystar::cli
