// What a client over HTTP may not do, and what becomes of it.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/rpc/http/http_server.h"
#include "tests/testing/patience.h"

namespace waystar::rpc {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::ErrorInfoIn;
using ::waystar::testing::FromJson;
using ::waystar::testing::HttpCall;
using ::waystar::testing::HttpRequest;
using ::waystar::testing::HttpServer;
using ::waystar::testing::kArena;
using ::waystar::testing::kFind;
using ::waystar::testing::Post;
using ::waystar::testing::ReasonIn;
using ::waystar::testing::WaitUntil;
using ::waystar::testing::WithHeader;

TEST(HttpLimitsTest, BodiesAreBoundedBeforeTheyAreRead) {
  HttpServer server({.max_message_bytes = 4096});
  HttpRequest announced = WithHeader(Post("PathService/FindPath", "{}"), "Content-Length", "100000000000");
  HttpCall call(server.port(), announced);
  EXPECT_EQ(call.code(), 413);
  EXPECT_EQ(ReasonIn(FromJson<google::rpc::Status>(call.Body())), "REQUEST_TOO_LARGE");
  HttpCall fits(server.port(), Post("PathService/FindPath", kFind + std::string(4097 - sizeof(kFind), ' ')));
  EXPECT_EQ(fits.code(), 200);
  HttpCall too_long(server.port(),
                    Post("PathService/FindPath", kFind + std::string(4098 - sizeof(kFind), ' ')));
  EXPECT_EQ(too_long.code(), 413);
}

TEST(HttpLimitsTest, NestingIsBounded) {
  HttpServer server;
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    absl::StrAppend(&deep, R"({"start":)");
  }
  EXPECT_EQ(HttpCall(server.port(), Post("PathService/FindPath", deep)).code(), 400);
  EXPECT_EQ(HttpCall(server.port(), Post("PathService/FindPath", kFind)).code(), 200);
}

TEST(HttpLimitsTest, CallsEndAtTheirTime) {
  HttpServer server;
  // On a busy machine the answer may be there before the library's timer is.
  const auto is_late = [&] {
    HttpCall call(server.port(), WithHeader(Post("PathService/FindPath", kFind), "Waystar-Timeout", "1ns"));
    if (call.code() == 200) {
      return false;
    }
    EXPECT_EQ(call.code(), 504);
    EXPECT_EQ(FromJson<google::rpc::Status>(call.Body()).code(), 4);
    return true;
  };
  EXPECT_TRUE(WaitUntil(is_late, "a call that ends at its time"));
  const auto begins_and_ends = [&] {
    HttpCall watch(server.port(),
                   WithHeader(Post("MapService/WatchMap", kArena), "Waystar-Timeout", "100ms"));
    if (watch.code() == 504) {
      return false;
    }
    EXPECT_THAT(watch.Body(), HasSubstr(R"({"error":{"code":4,)"));
    return true;
  };
  EXPECT_TRUE(WaitUntil(begins_and_ends, "a watch that begins before its time is over"));
  EXPECT_EQ(HttpCall(server.port(), WithHeader(Post("PathService/FindPath", kFind), "Waystar-Timeout", "2m"))
                .code(),
            200);
}

TEST(HttpLimitsTest, HeadersMakeSense) {
  HttpServer server;
  for (const char* const time : {"soon", "-1s", "0", "inf", "25h", "1"}) {
    const auto status =
        server.Refusal(WithHeader(Post("PathService/FindPath", kFind), "Waystar-Timeout", time));
    EXPECT_EQ(ReasonIn(status), "BAD_HEADER") << time;
    EXPECT_EQ(ErrorInfoIn(status).metadata().at("field"), "Waystar-Timeout");
  }
  for (const char* const name : {"Authorization", "X-Request-Id", "Traceparent"}) {
    for (const char* const value : {"Bearer \xff", "Bearer \x01", "Bearer \t"}) {
      const HttpRequest request =
          WithHeader(Post("PathService/FindPath", kFind), name, absl::StrCat("a", value, "b"));
      EXPECT_THAT(HttpCall(server.port(), request).code(), 400) << name;
    }
  }
  EXPECT_EQ(HttpCall(server.port(), Post("PathService/FindPath", kFind)).code(), 200);
}

TEST(HttpLimitsTest, StreamsLeaveRoomForQuestions) {
  HttpServer server({.http_calls = 8});
  std::vector<std::unique_ptr<HttpCall>> watches;
  do {
    ASSERT_LT(watches.size(), 10);
    watches.push_back(std::make_unique<HttpCall>(server.port(), Post("MapService/WatchMap", kArena)));
  } while (watches.back()->code() == 200);
  EXPECT_EQ(watches.back()->code(), 429);
  EXPECT_EQ(watches.size(), 4) << "of five streams one address has three";
  // The one that is refused gives its place back after its answer.
  const auto is_answered = [&] {
    return HttpCall(server.port(), Post("PathService/FindPath", kFind)).code() == 200;
  };
  EXPECT_TRUE(WaitUntil(is_answered, "an answer beside the streams"));
}

TEST(HttpLimitsTest, NonsenseEndsNothing) {
  HttpServer server;
  for (const char* const method :
       {"GET", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "NONSENSE", "\x16\x03\x01"}) {
    HttpCall(server.port(), {.method = method, .path = "/waystar.v1.PathService/FindPath"}).Body();
  }
  EXPECT_EQ(HttpCall(server.port(), Post("PathService/FindPath", kFind)).code(), 200);
}

TEST(HttpLimitsTest, WhereItCannotListenTheServerDoesNotStart) {
  const auto nowhere = rpc::Server::Start({.listen = "127.0.0.1:0", .workers = 1, .http_listen = "nowhere"});
  EXPECT_TRUE(absl::IsInvalidArgument(nowhere.status())) << nowhere.status();
  HttpServer server;
  const auto second = rpc::Server::Start(
      {.listen = "127.0.0.1:0", .workers = 1, .http_listen = absl::StrCat("127.0.0.1:", server.port())});
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
}

}  // namespace
}  // namespace waystar::rpc
