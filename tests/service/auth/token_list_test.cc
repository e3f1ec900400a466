#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/app.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "server/runtime/options.h"
#include "server/service/auth/exposure.h"
#include "server/service/auth/token.h"
#include "server/service/server.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// SHA-256 of "abc": FIPS 180-2 (2002), appendix B.1.
const std::string kHashOfAbc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

std::string ErrorOf(const std::string& text) {
  const auto list = TokenList::Parse(text);
  return list.ok() ? "none" : std::string(list.status().message());
}

TEST(TokenListTest, FindsATokenByItsHash) {
  const auto list = TokenList::Parse(absl::StrCat("# names\n\n  arena-1\t", kHashOfAbc,
                                                  "  update:arena-* read:lobby # nothing else\r\n"))
                        .value();
  EXPECT_EQ(list.Find(HashToken("abd")), nullptr);
  const auto token = list.Find(HashToken("abc"));
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
  const auto list = TokenList::Parse(absl::StrCat("a ", kHashOfAbc, " read:*\na ", other, " admin:*\nb ",
                                                  third, " read:*\n"))
                        .value();
  EXPECT_EQ(list.size(), 3);
  const auto a = list.Find(HashToken("abc"));
  const auto same = list.Find(*ParseTokenHash(other));
  const auto b = list.Find(*ParseTokenHash(third));
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
  ASSERT_THAT(list, waystar::IsOk());
  const auto token = list->Find(HashToken(lines[1]));
  ASSERT_NE(token, nullptr);
  EXPECT_EQ(token->name, "Arena.1");
  EXPECT_TRUE(token->May(Permission::kUpdate, "arena-3"));
}

TEST(MatchesPatternTest, StarsStandForAnythingAndTheRestForItself) {
  for (const auto& [pattern, matching, other] :
       std::vector<std::array<const char*, 3>>{{"arena-*", "arena-1", "xarena-1"},
                                               {"arena-*", "arena-", "arena"},
                                               {"*-test", "a-test-test", "test"},
                                               {"a*b*c", "axbxbxc", "axbxcx"},
                                               {"arena", "arena", "arena-1"},
                                               {"a.c", "a.c", "abc"},
                                               {"", "", "a"}}) {
    EXPECT_TRUE(MatchesPattern(pattern, matching)) << pattern;
    EXPECT_FALSE(MatchesPattern(pattern, other)) << pattern;
  }
  for (const char* const name : {"", "x", "arena-1"}) {
    EXPECT_TRUE(MatchesPattern("*", name)) << name;
    EXPECT_TRUE(MatchesPattern("**", name)) << name;
  }
}

TEST(OpenDoorsTest, LocalAddressesHaveNone) {
  for (const char* local : {"127.0.0.1:7450", "localhost:7450", "[::1]:7450", "unix:/run/waystar.sock"}) {
    EXPECT_THAT(OpenDoors({.address = local}), IsEmpty()) << local;
  }
}

TEST(OpenDoorsTest, NamesTheFlagThatClosesEachOfHttp) {
  EXPECT_THAT(OpenDoors({.address = "127.0.0.1:8080"}, /*is_http=*/true), IsEmpty());
  Listening listening{.address = "0.0.0.0:8080"};
  EXPECT_THAT(OpenDoors(listening, /*is_http=*/true), SizeIs(2));
  listening.wants_tokens = true;
  EXPECT_THAT(OpenDoors(listening, /*is_http=*/true), ElementsAre(HasSubstr("--http_tls")));
  listening.has_tls = true;
  EXPECT_THAT(OpenDoors(listening, /*is_http=*/true), IsEmpty());
  listening.wants_tokens = false;
  EXPECT_THAT(OpenDoors(listening, /*is_http=*/true), ElementsAre(HasSubstr("--tokens_file")));
  listening.wants_certificates = true;
  EXPECT_THAT(OpenDoors(listening, /*is_http=*/true), IsEmpty());
}

TEST(OpenDoorsTest, NamesTheFlagThatClosesEach) {
  for (const char* open : {"0.0.0.0:7450", "[::]:7450", "10.0.0.7:7450", "game-7:7450"}) {
    Listening listening{.address = open};
    EXPECT_THAT(OpenDoors(listening), SizeIs(2)) << open;
    listening.has_tls = true;
    EXPECT_THAT(OpenDoors(listening), ElementsAre(HasSubstr("--tokens_file"))) << open;
    listening.wants_tokens = true;
    EXPECT_THAT(OpenDoors(listening), IsEmpty()) << open;
    listening.has_tls = false;
    EXPECT_THAT(OpenDoors(listening), ElementsAre(HasSubstr("--tls_cert"))) << open;
  }
}

TEST(CheckFaultsTest, AnOldLibraryWantsClientsWithCertificatesOrAGateway) {
  Listening listening{.address = "0.0.0.0:7450", .has_tls = true, .wants_tokens = true};
  for (const char* old : {"1.51.1", "1.30.2", "1.56.3", "1.51.1-pre1"}) {
    const absl::Status status = CheckFaults(listening, old, /*is_behind_gateway=*/false);
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("0.0.0.0:7450"), HasSubstr(old), HasSubstr("--tls_client_ca"),
                      HasSubstr("--behind_gateway"), HasSubstr("waystar:hardened")));
    EXPECT_TRUE(CheckFaults(listening, old, /*is_behind_gateway=*/true).ok()) << old;
  }
  listening.wants_certificates = true;
  EXPECT_TRUE(CheckFaults(listening, "1.51.1", /*is_behind_gateway=*/false).ok());
}

TEST(CheckFaultsTest, OthersStart) {
  for (const char* fixed : {"1.57.0", "1.83.0", "2.0.0"}) {
    EXPECT_TRUE(CheckFaults({.address = "0.0.0.0:7450"}, fixed, /*is_behind_gateway=*/false).ok()) << fixed;
  }
  for (const char* local : {"127.0.0.1:7450", "localhost:7450", "[::1]:7450", "unix:/run/waystar.sock"}) {
    EXPECT_TRUE(CheckFaults({.address = local}, "1.51.1", /*is_behind_gateway=*/false).ok()) << local;
  }
}

TEST(CheckFaultsTest, AServerIsCheckedBeforeItServes) {
  runtime::Options options{.listen = "0.0.0.0:0", .workers = 1};
  EXPECT_EQ(Server::Start(options).status(),
            CheckFaults({.address = options.listen}, grpc::Version(), /*is_behind_gateway=*/false));
  options.behind_gateway = true;
  const auto server = Server::Start(options);
  EXPECT_TRUE(server.ok()) << server.status();
}

}  // namespace
}  // namespace waystar::rpc
