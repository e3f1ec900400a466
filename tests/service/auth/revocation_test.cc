// Tokens that change while the server runs.

#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/service/admission/call_gate.h"
#include "server/service/auth/access_control.h"
#include "server/service/token_file_watcher.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/bounded_context.h"
#include "tests/service/captured_log.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::GuardedServer;
using ::waystar::testing::IsOk;
using ::waystar::testing::LogOf;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Patience;
using ::waystar::testing::ShowToken;
using ::waystar::testing::TestFile;
using ::waystar::testing::TokenLine;
using ::waystar::testing::WaitUntil;

TEST(TokenFileWatcherTest, KeepsTheTokensThatThereWereWhileTheFileIsBad) {
  const TestFile file("tokens");
  file.Write(TokenLine("old", "read:*"));
  AccessControl access;
  CallGate gate;
  TokenFileWatcher keeper(access, gate);
  ASSERT_THAT(keeper.Start(file.path()), IsOk());
  EXPECT_TRUE(access.FindToken("old").ok());
  EXPECT_FALSE(access.FindToken("new").ok());
  file.Write(absl::StrCat(TokenLine("new", "read:*"), "nonsense\n"));
  keeper.Look();
  EXPECT_TRUE(access.FindToken("old").ok());
  EXPECT_FALSE(access.FindToken("new").ok());
  std::filesystem::remove(file.path());
  keeper.Look();
  EXPECT_TRUE(access.FindToken("old").ok());
  file.Write(TokenLine("new", "read:*"));
  keeper.Look();
  EXPECT_FALSE(access.FindToken("old").ok());
  EXPECT_TRUE(access.FindToken("new").ok());
}

TEST(TokenFileWatcherTest, LetsNobodyInOnceTheLastTokenIsGone) {
  const TestFile file("tokens");
  file.Write(TokenLine("old", "read:*"));
  AccessControl access;
  CallGate gate;
  TokenFileWatcher keeper(access, gate);
  ASSERT_THAT(keeper.Start(file.path()), IsOk());
  file.Write("# nobody\n");
  keeper.Look();
  keeper.Look();
  EXPECT_FALSE(access.FindToken("old").ok());
  file.Write(TokenLine("new", "read:*"));
  keeper.Look();
  EXPECT_TRUE(access.FindToken("new").ok());
}

TEST(TokenFileWatcherTest, LetsNobodyInWithAFileThatIsEmptyFromTheStart) {
  const TestFile file("tokens");
  file.Write("");
  AccessControl access;
  CallGate gate;
  TokenFileWatcher keeper(access, gate);
  const std::string log = LogOf([&] { ASSERT_THAT(keeper.Start(file.path()), IsOk()); });
  EXPECT_THAT(log, HasSubstr("level=warning event=tokens_let_nobody_in"));
  EXPECT_FALSE(access.FindToken("").ok());
  EXPECT_FALSE(access.FindToken("old").ok());
}

TEST(TokenFileWatcherTest, DoesNotStartWithABadFile) {
  const TestFile file("tokens");
  const auto error = [&] {
    const auto server = Server::Start({.listen = "127.0.0.1:0", .workers = 1, .tokens_file = file.path()});
    return std::string(server.status().message());
  };
  EXPECT_THAT(error(), AllOf(HasSubstr(file.path()), HasSubstr("No such file")));
  file.Write("# a comment\nnonsense\n");
  EXPECT_THAT(error(), AllOf(HasSubstr(file.path()), HasSubstr("line 2: ")));
}

class RevocationTest : public ::testing::Test {
 protected:
  RevocationTest() {
    server_.Create("arena", {"....", "...."});
    ShowToken(context_, "guest");
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
  v1::WatchMapRequest request;
  request.set_map("arena");
  const auto watch = server_.maps().WatchMap(&context_, request);
  v1::WatchMapResponse event;
  ASSERT_TRUE(watch->Read(&event));
  server_.SetTokens("");
  EXPECT_FALSE(watch->Read(&event));
  EXPECT_EQ(GuardedServer::Show(watch->Finish()), "16 BAD_TOKEN");
}

TEST_F(RevocationTest, WatchesOfPathsEnd) {
  v1::WatchPathRequest request;
  *request.mutable_query() = PathRequest("arena", CellAt(0, 0), CellAt(3, 1));
  const auto watch = server_.paths().WatchPath(&context_, request);
  v1::WatchPathResponse answer;
  ASSERT_TRUE(watch->Read(&answer));
  server_.SetTokens(TokenLine("guest", "admin:elsewhere"));
  EXPECT_FALSE(watch->Read(&answer));
  EXPECT_EQ(GuardedServer::Show(watch->Finish()), "7 NOT_PERMITTED");
}

TEST_F(RevocationTest, StreamsOfQueriesEnd) {
  const auto stream = server_.paths().StreamFindPath(&context_);
  v1::StreamFindPathRequest request;
  *request.add_queries()->mutable_query() = PathRequest("arena", CellAt(0, 0), CellAt(3, 1));
  ASSERT_TRUE(stream->Write(request));
  v1::StreamFindPathResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(response.answers(0).has_answer());
  server_.SetTokens("");
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(GuardedServer::Show(stream->Finish()), "16 BAD_TOKEN");
}

TEST_F(RevocationTest, StreamsOfUpdatesEnd) {
  const auto stream = server_.maps().StreamObstacleUpdates(&context_);
  v1::StreamObstacleUpdatesRequest request;
  *request.mutable_update() = ::waystar::testing::BlockRequest("arena", {CellAt(1, 1)});
  ASSERT_TRUE(stream->Write(request));
  v1::StreamObstacleUpdatesResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(response.has_applied());
  // It could not update any map from here on.
  server_.SetTokens(TokenLine("guest", "read:*"));
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(GuardedServer::Show(stream->Finish()), "7 NOT_PERMITTED");
}

TEST_F(RevocationTest, StreamsThatMayGoOnKeepToWhatIsAllowedNow) {
  const auto stream = server_.maps().StreamObstacleUpdates(&context_);
  v1::StreamObstacleUpdatesRequest request;
  *request.mutable_update() = ::waystar::testing::BlockRequest("arena", {CellAt(1, 1)});
  server_.SetTokens(absl::StrCat(TokenLine("guest", "update:elsewhere"), TokenLine("visitor", "read:*")));
  ASSERT_TRUE(WaitUntil([&] { return server_.Get("visitor", "arena") == "OK"; }, "the new tokens"));
  // Until the stream has been told as well.
  v1::StreamObstacleUpdatesResponse response;
  const Patience patience("a refused update");
  do {
    ASSERT_TRUE(stream->Write(request));
    ASSERT_TRUE(stream->Read(&response));
  } while (response.has_applied() && patience.Lasts());
  EXPECT_EQ(response.refused().code(), 7);
  stream->WritesDone();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

}  // namespace
}  // namespace waystar::rpc
