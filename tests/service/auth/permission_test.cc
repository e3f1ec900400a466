#include <array>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "server/runtime/options.h"
#include "server/service/auth/exposure.h"
#include "server/service/auth/token.h"
#include "server/service/server.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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
