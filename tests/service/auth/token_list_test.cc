#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/app.h"
#include "gmock/gmock.h"
#include "server/service/auth/token.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::waystar::testing::IsOk;

// SHA-256 of "abc": FIPS 180-2 (2002), appendix B.1.
const std::string kHashOfAbc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

std::string ErrorOf(const std::string& text) {
  const auto list = TokenList::Parse(text);
  return list.ok() ? "none" : std::string(list.status().message());
}

TEST(TokenListTest, FindsATokenByItsHash) {
  const auto list = TokenList::Parse(
      absl::StrCat("# names\n\n  arena-1\t", kHashOfAbc, "  update:arena-* read:lobby # nothing else\r\n"));
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->Find(HashToken("abd")), nullptr);
  const auto token = list->Find(HashToken("abc"));
  ASSERT_NE(token, nullptr);
  EXPECT_EQ(token->name, "arena-1");
  EXPECT_TRUE(token->May(Permission::kRead, "arena-7"));
  EXPECT_TRUE(token->May(Permission::kUpdate, "arena-7"));
  EXPECT_FALSE(token->May(Permission::kAdmin, "arena-7"));
  EXPECT_TRUE(token->May(Permission::kRead, "lobby"));
  EXPECT_FALSE(token->May(Permission::kUpdate, "lobby"));
  EXPECT_FALSE(token->May(Permission::kRead, "vault"));
  EXPECT_TRUE(token->MaySomewhere(Permission::kUpdate));
  EXPECT_FALSE(token->MaySomewhere(Permission::kAdmin));
  EXPECT_FALSE(token->MayEverywhere(Permission::kRead));
}

TEST(TokenListTest, IdsAreThoseOfNames) {
  const std::string other = absl::StrCat("sha256:", std::string(64, 'F'));
  const std::string third = absl::StrCat("sha256:", std::string(64, '1'));
  const auto list = TokenList::Parse(
      absl::StrCat("a ", kHashOfAbc, " read:*\na ", other, " admin:*\nb ", third, " read:*\n"));
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->size(), 3);
  const auto a = list->Find(HashToken("abc"));
  const auto same = list->Find(*ParseTokenHash(other));
  const auto b = list->Find(*ParseTokenHash(third));
  EXPECT_EQ(a->id, same->id);
  EXPECT_NE(a->id, b->id);
  EXPECT_NE(a->id, 0);
}

TEST(TokenListTest, SaysWhichLineIsWrong) {
  EXPECT_THAT(ErrorOf(absl::StrCat("a ", kHashOfAbc, " read:*\nb")),
              StartsWith("line 2: a token has a name"));
  EXPECT_THAT(ErrorOf("a sha256:12 read:*"), StartsWith("line 1: the hash"));
  EXPECT_THAT(ErrorOf(absl::StrCat("a ", std::string(64, '0'), " read:*")), HasSubstr("sha256:"));
  EXPECT_THAT(ErrorOf(absl::StrCat("a sha256:", std::string(64, '0'), " read:*")), HasSubstr("the hash 0"));
  EXPECT_THAT(ErrorOf(absl::StrCat("a ", kHashOfAbc, " write:*")),
              HasSubstr("\"write\" is not a permission"));
  EXPECT_THAT(ErrorOf(absl::StrCat("a ", kHashOfAbc, " read")), HasSubstr("\"read\" should be"));
  EXPECT_THAT(ErrorOf(absl::StrCat("a ", kHashOfAbc, " read:")), HasSubstr("should be a permission"));
  EXPECT_THAT(ErrorOf(absl::StrCat("a ", kHashOfAbc, " read:Arena")), HasSubstr("should be a permission"));
  EXPECT_THAT(ErrorOf(absl::StrCat("a", std::string(63, 'a'), " ", kHashOfAbc, " read:*")),
              StartsWith("line 1: a token's name"));
  EXPECT_THAT(ErrorOf(absl::StrCat("a=b ", kHashOfAbc, " read:*")), StartsWith("line 1: a token's name"));
  EXPECT_THAT(ErrorOf(absl::StrCat("a ", kHashOfAbc, " read:*\n\nb ", kHashOfAbc, " admin:*\n")),
              StartsWith("line 3: an earlier line has the same hash"));
}

TEST(TokenListTest, MayHaveNoTokens) {
  for (const char* text : {"", "\n", "# gone\n"}) {
    const auto list = TokenList::Parse(text);
    ASSERT_THAT(list, IsOk()) << text;
    EXPECT_EQ(list->size(), 0);
  }
}

// A token that the command line tool makes is taken by the server.
TEST(TokenCommandTest, MakesTokensThatTheServerTakes) {
  std::istringstream in;
  std::ostringstream out;
  cli::Io io{in, out, out};
  ASSERT_EQ(cli::Run({"token", "Arena.1", "update:arena-*", "admin:x_.*"}, io), cli::ExitCode::kOk);
  const std::vector<std::string> lines = absl::StrSplit(out.str(), '\n');
  ASSERT_GE(lines.size(), 4);
  const auto list = TokenList::Parse(lines[3]);
  ASSERT_THAT(list, ::waystar::testing::IsOk());
  const auto token = list->Find(HashToken(lines[1]));
  ASSERT_NE(token, nullptr);
  EXPECT_EQ(token->name, "Arena.1");
  EXPECT_TRUE(token->May(Permission::kUpdate, "arena-3"));
}

}  // namespace
}  // namespace waystar::rpc
