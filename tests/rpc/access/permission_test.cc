#include "gmock/gmock.h"
#include "server/rpc/access/exposure.h"
#include "server/rpc/access/token.h"

namespace waystar::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(MatchesPatternTest, StarsStandForAnything) {
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_TRUE(MatchesPattern("*", "arena-1"));
  EXPECT_TRUE(MatchesPattern("arena-*", "arena-1"));
  EXPECT_TRUE(MatchesPattern("arena-*", "arena-"));
  EXPECT_TRUE(MatchesPattern("*-test", "a-test-test"));
  EXPECT_TRUE(MatchesPattern("a*b*c", "axbxbxc"));
  EXPECT_TRUE(MatchesPattern("**", "x"));
  EXPECT_TRUE(MatchesPattern("arena", "arena"));
}

TEST(MatchesPatternTest, TheRestStandsForItself) {
  EXPECT_FALSE(MatchesPattern("arena", "arena-1"));
  EXPECT_FALSE(MatchesPattern("arena-*", "xarena-1"));
  EXPECT_FALSE(MatchesPattern("arena-*", "arena"));
  EXPECT_FALSE(MatchesPattern("a*b*c", "axbxcx"));
  EXPECT_FALSE(MatchesPattern("a.c", "abc"));
  EXPECT_FALSE(MatchesPattern("", "a"));
  EXPECT_TRUE(MatchesPattern("", ""));
}

TEST(OpenDoorsTest, LocalAddressesHaveNone) {
  for (const char* local : {"127.0.0.1:7450", "localhost:7450", "[::1]:7450", "unix:/run/waystar.sock"}) {
    EXPECT_THAT(OpenDoors(local, false, false), IsEmpty()) << local;
  }
}

TEST(OpenDoorsTest, NamesTheFlagThatClosesEach) {
  for (const char* open : {"0.0.0.0:7450", "[::]:7450", "10.0.0.7:7450", "game-7:7450"}) {
    EXPECT_THAT(OpenDoors(open, false, false), SizeIs(2)) << open;
    EXPECT_THAT(OpenDoors(open, true, false), ElementsAre(HasSubstr("--tokens_file"))) << open;
    EXPECT_THAT(OpenDoors(open, false, true), ElementsAre(HasSubstr("--tls_cert"))) << open;
    EXPECT_THAT(OpenDoors(open, true, true), IsEmpty()) << open;
  }
}

}  // namespace
}  // namespace waystar::rpc
