// Tokens that change while the server runs.

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/service/admission/call_gate.h"
#include "server/service/auth/access_control.h"
#include "server/service/token_file_watcher.h"
#include "tests/service/about_map.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TokenFileWatcherTest : public ::testing::Test {
 protected:
  // Writes the file, and looks at it.
  void Show(const std::string& tokens) {
    file_.Write(tokens);
    watcher_.Look();
  }

  // Returns which of "old" and "new" gets in.
  std::string Admitted() const {
    return absl::StrCat(access_.FindToken("old").ok() ? "old" : "",
                        access_.FindToken("new").ok() ? "new" : "");
  }

  const std::string old_ = TokenLine("old", "read:*");
  const std::string new_ = TokenLine("new", "read:*");
  const TestFile file_{"tokens"};
  AccessControl access_;
  CallGate gate_;
  TokenFileWatcher watcher_{access_, gate_};
};

TEST_F(TokenFileWatcherTest, KeepsTheTokensThatThereWereWhileTheFileIsBad) {
  file_.Write(old_);
  ASSERT_THAT(watcher_.Start(file_.path()), IsOk());
  EXPECT_EQ(Admitted(), "old");
  Show(absl::StrCat(new_, "nonsense\n"));
  EXPECT_EQ(Admitted(), "old");
  std::filesystem::remove(file_.path());
  watcher_.Look();
  EXPECT_EQ(Admitted(), "old");
  Show(new_);
  EXPECT_EQ(Admitted(), "new");
}

TEST_F(TokenFileWatcherTest, LetsNobodyInOnceTheLastTokenIsGone) {
  file_.Write(old_);
  ASSERT_THAT(watcher_.Start(file_.path()), IsOk());
  Show("# nobody\n");
  watcher_.Look();
  EXPECT_EQ(Admitted(), "");
  Show(new_);
  EXPECT_EQ(Admitted(), "new");
}

TEST_F(TokenFileWatcherTest, LetsNobodyInWithAFileThatIsEmptyFromTheStart) {
  file_.Write("");
  const std::string log = LogOf([&] { ASSERT_THAT(watcher_.Start(file_.path()), IsOk()); });
  EXPECT_THAT(log, HasSubstr("level=warning event=tokens_let_nobody_in"));
  EXPECT_FALSE(access_.FindToken("").ok());
  EXPECT_EQ(Admitted(), "");
}

TEST_F(TokenFileWatcherTest, DoesNotStartWithABadFile) {
  const auto error = [&] {
    const auto server = Server::Start({.listen = "127.0.0.1:0", .workers = 1, .tokens_file = file_.path()});
    return std::string(server.status().message());
  };
  EXPECT_THAT(error(), AllOf(HasSubstr(file_.path()), HasSubstr("No such file")));
  file_.Write("# a comment\nnonsense\n");
  EXPECT_THAT(error(), AllOf(HasSubstr(file_.path()), HasSubstr("line 2: ")));
}

class RevocationTest : public ::testing::Test {
 protected:
  RevocationTest() {
    server_.Create("arena", {"....", "...."});
    ShowToken(context_, "guest");
  }

  // Expects that the call, which the server answers, ends with that error under those tokens. Returns its
  // answer.
  template <typename Response, typename Call>
  Response ExpectEnd(Call& call, const std::string& tokens, const std::string& error) {
    Response first;
    EXPECT_TRUE(call.Read(&first));
    server_.SetTokens(tokens);
    Response next;
    EXPECT_FALSE(call.Read(&next));
    EXPECT_EQ(GuardedServer::Show(call.Finish()), error);
    return first;
  }

  GuardedServer server_{TokenLine("guest", "update:arena")};
  BoundedContext context_;
};

TEST_F(RevocationTest, CallsSeeTheNewFile) {
  EXPECT_EQ(server_.Get("guest", "arena"), "OK");
  EXPECT_EQ(server_.Get("visitor", "arena"), "16 BAD_TOKEN");
  server_.SetTokens(TokenLine("visitor", "read:*"));
  ASSERT_TRUE(WaitUntil([&] { return server_.Get("visitor", "arena") == "OK"; }, "the new tokens"));
  EXPECT_EQ(server_.Get("guest", "arena"), "16 BAD_TOKEN");
}

TEST_F(RevocationTest, WatchesOfMapsEnd) {
  auto request = About<v1::WatchMapRequest>("arena");
  ExpectEnd<v1::WatchMapResponse>(*server_.maps().WatchMap(&context_, request), "", "16 BAD_TOKEN");
}

TEST_F(RevocationTest, StreamsOfQueriesEnd) {
  const auto stream = server_.paths().StreamFindPath(&context_);
  v1::StreamFindPathRequest request;
  *request.add_queries()->mutable_query() = PathRequest("arena", CellAt(0, 0), CellAt(3, 1));
  ASSERT_TRUE(stream->Write(request));
  EXPECT_TRUE(ExpectEnd<v1::StreamFindPathResponse>(*stream, "", "16 BAD_TOKEN").answers(0).has_answer());
}

TEST_F(RevocationTest, AgentsEndWithTheRightToTheirMap) {
  server_.Create("attic", {"...."});
  server_.SetTokens(TokenLine("guest", "read:arena read:attic"));
  ASSERT_TRUE(WaitUntil([&] { return server_.Get("guest", "attic") == "OK"; }, "the new tokens"));
  const auto stream = server_.paths().FollowAgents(&context_);
  v1::FollowAgentsRequest request;
  const auto put = [&](std::uint64_t agent, const std::string& map) {
    v1::AgentChange& change = *request.add_changes();
    change.set_agent(agent);
    *change.mutable_put() = PathRequest(map, CellAt(0, 0), CellAt(3, 0));
  };
  put(1, "arena");
  put(2, "attic");
  ASSERT_TRUE(stream->Write(request));
  v1::FollowAgentsResponse response;
  for (int answers = 0; answers < 2;) {
    ASSERT_TRUE(stream->Read(&response));
    for (const v1::AgentState& state : response.states()) {
      answers += state.has_answer() ? 1 : 0;
    }
  }
  server_.SetTokens(TokenLine("guest", "read:arena"));
  do {
    ASSERT_TRUE(stream->Read(&response));
  } while (response.states().empty());
  EXPECT_EQ(response.states(0).agent(), 2U);
  EXPECT_EQ(response.states(0).end().code(), 7);
  request.Clear();
  put(2, "attic");
  ASSERT_TRUE(stream->Write(request));
  do {
    ASSERT_TRUE(stream->Read(&response));
  } while (response.states().empty());
  EXPECT_EQ(response.states(0).end().code(), 7);
  server_.SetTokens("");
  while (stream->Read(&response)) {
  }
  EXPECT_EQ(GuardedServer::Show(stream->Finish()), "16 BAD_TOKEN");
}

TEST_F(RevocationTest, StreamsOfUpdatesEnd) {
  const auto stream = server_.maps().StreamUpdates(&context_);
  v1::StreamUpdatesRequest request;
  *request.mutable_update() = waystar::BlockRequest("arena", {CellAt(1, 1)});
  ASSERT_TRUE(stream->Write(request));
  // It cannot update any map from there on.
  EXPECT_TRUE(ExpectEnd<v1::StreamUpdatesResponse>(*stream, TokenLine("guest", "read:*"), "7 NOT_PERMITTED")
                  .has_applied());
}

TEST_F(RevocationTest, StreamsThatMayGoOnKeepToWhatIsAllowedNow) {
  const auto stream = server_.maps().StreamUpdates(&context_);
  v1::StreamUpdatesRequest request;
  *request.mutable_update() = waystar::BlockRequest("arena", {CellAt(1, 1)});
  server_.SetTokens(absl::StrCat(TokenLine("guest", "update:elsewhere"), TokenLine("visitor", "read:*")));
  ASSERT_TRUE(WaitUntil([&] { return server_.Get("visitor", "arena") == "OK"; }, "the new tokens"));
  // Until the stream has been told as well.
  v1::StreamUpdatesResponse response;
  const Patience patience("a refused update");
  do {
    ASSERT_TRUE(stream->Write(request));
    ASSERT_TRUE(stream->Read(&response));
  } while (response.has_applied() && patience.Lasts());
  EXPECT_EQ(response.problem().code(), 7);
  stream->WritesDone();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

}  // namespace
}  // namespace waystar::rpc
