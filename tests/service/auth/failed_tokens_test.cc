#include "server/service/auth/failed_tokens.h"

#include <map>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/test_server.h"
#include "tests/testing/fake_clock.h"

namespace waystar::rpc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(NetworkTest, IsWhatOneCustomerHas) {
  EXPECT_EQ(NetworkOf("ipv4:203.0.113.7:41482"), "203.0.113.7");
  EXPECT_EQ(NetworkOf("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:41482"), "2001:db8:1:2::/64");
  EXPECT_EQ(NetworkOf("ipv6:[2001:db8:1:2::1]:41482"), "2001:db8:1:2::/64");
  EXPECT_EQ(NetworkOf("ipv6:%5Bfe80::1%25eth0%5D:41482"), "fe80::/64");
  EXPECT_EQ(NetworkOf("ipv6:%5B::1%5D:41482"), "::/64");
  EXPECT_EQ(NetworkOf("ipv6:[::ffff:203.0.113.7]:41482"), "203.0.113.7");
  EXPECT_EQ(NetworkOf("unix:/run/waystar.sock"), "unix");
  EXPECT_EQ(NetworkOf("unix:"), "unix");
  EXPECT_EQ(NetworkOf("http:203.0.113.7"), "203.0.113.7");
  EXPECT_EQ(NetworkOf(""), "");
}

class FailedTokensTest : public ::testing::Test {
 protected:
  // Counts calls of one peer, a tenth of a second apart, and returns how many of them are to be logged.
  int Logged(const std::string& peer, int calls) {
    int logged = 0;
    for (int i = 0; i < calls; ++i) {
      clock_.Advance(absl::Milliseconds(100));
      logged += failed_.Count(peer).logged.has_value() ? 1 : 0;
    }
    return logged;
  }

  FakeClock clock_;
  FailedTokens failed_{clock_};
};

TEST_F(FailedTokensTest, LogsTheFirstOfANetworkWithinAMinute) {
  EXPECT_EQ(Logged("ipv4:203.0.113.7:1", 25), FailedTokens::kLogged);
  EXPECT_EQ(Logged("ipv4:203.0.113.7:2", 5), 0) << "from another port";
  EXPECT_EQ(Logged("ipv4:203.0.113.8:1", 5), 5) << "from another address";
  clock_.Advance(absl::Minutes(1));
  const std::optional<FailedTokens::Logged> logged = failed_.Count("ipv4:203.0.113.7:1").logged;
  ASSERT_TRUE(logged.has_value());
  EXPECT_EQ(logged->failures, 1);
  EXPECT_EQ(logged->left_out, 0) << "the other address has told of them";
}

TEST_F(FailedTokensTest, TellsHowManyWereLeftOut) {
  Logged("ipv4:203.0.113.7:1", 25);
  const std::optional<FailedTokens::Logged> logged = failed_.Count("ipv4:203.0.113.8:1").logged;
  ASSERT_TRUE(logged.has_value());
  EXPECT_EQ(logged->failures, 1);
  EXPECT_EQ(logged->left_out, 15);
}

TEST_F(FailedTokensTest, LogsAFewOfMillionsOfNetworks) {
  int logged = 0;
  for (int network = 0; network < 100'000; ++network) {
    logged += failed_.Count(absl::StrCat("ipv6:[2001:db8:", absl::Hex(network >> 16), ":",
                                         absl::Hex(network & 0xFFFF), "::1]:1"))
                      .logged.has_value()
                  ? 1
                  : 0;
  }
  EXPECT_EQ(logged, runtime::LineLimit::kLines);
}

TEST_F(FailedTokensTest, RemembersWhoFailsMost) {
  Logged("ipv4:203.0.113.7:1", 25);
  for (int network = 0; network < 100'000; ++network) {
    failed_.Count(
        absl::StrCat("ipv4:10.", network >> 16, ".", (network >> 8) & 255, ".", network & 255, ":1"));
  }
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(failed_.Count("ipv4:203.0.113.7:1").logged, std::nullopt);
}

TEST_F(FailedTokensTest, ClosesConnectionsThatShowOnlyWrongTokens) {
  const std::string guesser = "ipv4:203.0.113.7:1";
  const std::string gateway = "ipv4:203.0.113.7:2";
  failed_.NoteAccepted(gateway);
  for (int i = 0; i < FailedTokens::kOfConnection; ++i) {
    EXPECT_FALSE(failed_.Count(guesser).closes_connection);
    EXPECT_FALSE(failed_.Count(gateway).closes_connection);
  }
  EXPECT_FALSE(failed_.Count(gateway).closes_connection) << "others show right ones on it";
  EXPECT_TRUE(failed_.Count(guesser).closes_connection);
  EXPECT_FALSE(failed_.Count("ipv4:203.0.113.7:3").closes_connection);
  clock_.Advance(absl::Minutes(1));
  EXPECT_FALSE(failed_.Count(guesser).closes_connection);
}

TEST_F(FailedTokensTest, TurnsOutAddressesThatShowOnlyWrongTokensOverHttp) {
  const std::string guesser = "http:203.0.113.7";
  for (int i = 0; i <= FailedTokens::kOfConnection; ++i) {
    EXPECT_FALSE(failed_.IsTurnedOut(guesser));
    failed_.Count(guesser);
  }
  EXPECT_TRUE(failed_.IsTurnedOut(guesser));
  EXPECT_FALSE(failed_.IsTurnedOut("http:203.0.113.8"));
  clock_.Advance(FailedTokens::kTurnedOut);
  EXPECT_FALSE(failed_.IsTurnedOut(guesser));
  for (int i = 0; i < FailedTokens::kOfConnection; ++i) {
    EXPECT_FALSE(failed_.IsTurnedOut(guesser));
    failed_.Count(guesser);
  }
  EXPECT_TRUE(failed_.IsTurnedOut(guesser));
  failed_.NoteAccepted(guesser);
  EXPECT_FALSE(failed_.IsTurnedOut(guesser));
}

// Whoever guesses needs a new connection for every few guesses, and harms nobody at the same address.
TEST(WrongTokensTest, CloseTheConnectionUnlessARightOneWasShownOnIt) {
  GuardedServer server(TokenLine("guest", "read:*"));
  server.Create("arena", {"..."});
  const auto get = [](v1::MapService::Stub& maps, const std::string& token) {
    auto request = About<v1::GetMapRequest>("arena");
    v1::GetMapResponse response;
    BoundedContext context;
    ShowToken(context, token);
    return GuardedServer::Show(maps.GetMap(&context, request, &response));
  };
  const auto stranger = v1::MapService::NewStub(server.server().NewChannel());
  std::map<std::string, int> answers;
  for (int i = 0; i < 3 * (FailedTokens::kOfConnection + 1); ++i) {
    ++answers[get(*stranger, absl::StrCat("guess", i))];
    EXPECT_EQ(server.Get("guest", "arena"), "OK");
  }
  EXPECT_GE(answers["16 BAD_TOKEN"], FailedTokens::kOfConnection);
  EXPECT_GE(answers["14 "], 1) << "the connection was closed";
  EXPECT_EQ(answers["16 BAD_TOKEN"] + answers["14 "], 3 * (FailedTokens::kOfConnection + 1));
  for (int i = 0; i < 2 * FailedTokens::kOfConnection; ++i) {
    EXPECT_EQ(server.Get("visitor", "arena"), "16 BAD_TOKEN") << "a right token was shown there";
  }
  const auto newcomer = v1::MapService::NewStub(server.server().NewChannel());
  EXPECT_EQ(get(*newcomer, "guest"), "OK");
}

TEST(FailedTokensLogTest, NamesWhoFailed) {
  GuardedServer server(TokenLine("guest", "read:*"));
  server.Create("arena", {"..."});
  const std::string log = LogOf([&] {
    for (int i = 0; i < 3 * FailedTokens::kLogged; ++i) {
      EXPECT_EQ(server.Get("visitor", "arena"), "16 BAD_TOKEN");
    }
    EXPECT_EQ(server.Get("guest", "arena"), "OK");
  });
  EXPECT_THAT(log, HasSubstr("level=warning event=token_refused reason=BAD_TOKEN peer=ipv4:127.0.0.1:"));
  EXPECT_THAT(log, HasSubstr(absl::StrCat(" failures=", FailedTokens::kLogged, " ")));
  EXPECT_THAT(log, Not(HasSubstr(absl::StrCat(" failures=", FailedTokens::kLogged + 1, " "))));
  EXPECT_THAT(log, Not(HasSubstr("visitor")));
}

}  // namespace
}  // namespace waystar::rpc
