// What a client over HTTP may not do, and what becomes of it.

#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/service/gateway/http_gateway.h"
#include "tests/service/gateway/http_server.h"
#include "tests/service/transport/net/tcp_client.h"
#include "tests/testing/patience.h"

namespace waystar::rpc {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST(HttpLimitsTest, MessagesAreBoundedAsOverGrpc) {
  HttpServer server({.max_message_bytes = 4096});
  std::string vertices = R"({"x":1,"y":1})";
  while (vertices.size() < 3500) {
    absl::StrAppend(&vertices, R"(,{"x":1,"y":1})");
  }
  const std::string json =
      absl::StrCat(R"({"map":"arena","edits":[{"block":{"polygons":[{"vertices":[)", vertices, "]}]}}]}");
  const google::rpc::Status status = server.Refusal(Post("MapService/UpdateMap", json));
  EXPECT_EQ(status.code(), 8) << status.message();
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
    EXPECT_EQ(FieldIn(status), "Waystar-Timeout");
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

// What a connection answers to bytes that are no call.
std::string AnswerTo(HttpServer& server, const std::string& bytes) {
  TcpClient client(server.port());
  client.Send(bytes);
  return client.ReadToTheEnd();
}

// Raw requests that another parser must refuse as well.
TEST(HttpLimitsTest, RefusesWhatCouldBeReadInTwoWays) {
  HttpServer server;
  const std::string head =
      "POST /waystar.v1.PathService/FindPath HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
  const std::string empty = "Content-Length: 2\r\n\r\n{}";
  for (const char* const name : {"Origin", "origin", "Waystar-Timeout", "Authorization"}) {
    const std::string answer =
        AnswerTo(server, absl::StrCat(head, name, ": 1s\r\n", name, ": 2s\r\n", empty));
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("BAD_HEADER"))) << name;
  }
  const std::string key = absl::StrCat(R"({")", std::string(1'000'000, 'k'), R"(": 1})");
  const std::string answer =
      AnswerTo(server, absl::StrCat(head, "Content-Length: ", key.size(), "\r\n\r\n", key));
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("BAD_VALUE")));
  EXPECT_LT(answer.size(), 4'096);
}

TEST(HttpLimitsTest, SaysWhatItTakesInPlaceOfGrpcWeb) {
  HttpServer server;
  for (const char* const type :
       {"application/grpc-web+proto", "application/grpc-web-text", "Application/gRPC"}) {
    const auto status = server.Refusal(WithHeader(Post("PathService/FindPath", kFind), "Content-Type", type));
    EXPECT_EQ(ReasonIn(status), "BAD_HEADER") << type;
    EXPECT_EQ(FieldIn(status), "Content-Type");
    EXPECT_THAT(status.message(), HasSubstr("application/json"));
  }
}

TEST(HttpLimitsTest, WhatTheServerItselfRefusesHasAReason) {
  HttpServer server;
  const std::string path = "POST /waystar.v1.PathService/FindPath ";
  const struct {
    std::string request;
    int code;
    std::string field;
  } cases[] = {
      {path + "HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n", 417, "Expect"},
      {path + "HTTP/1.1\r\nHost: a\r\nLong: " + std::string(20'000, 'x'), 431, ""},
      {path + "HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "Transfer-Encoding"},
      {path + "HTTP/2.0\r\nHost: a\r\n\r\n", 505, ""},
  };
  for (const auto& wanted : cases) {
    const std::string answer = AnswerTo(server, wanted.request);
    EXPECT_THAT(answer, StartsWith(absl::StrCat("HTTP/1.1 ", wanted.code, " ")));
    EXPECT_THAT(answer, HasSubstr("Content-Type: application/json\r\n"));
    const auto status = FromJson<google::rpc::Status>(answer.substr(answer.find("\r\n\r\n") + 4));
    EXPECT_EQ(status.code(), 3);
    EXPECT_EQ(ReasonIn(status), "BAD_HEADER");
    EXPECT_EQ(FieldIn(status), wanted.field) << wanted.code;
  }
  EXPECT_THAT(AnswerTo(server, "what is this?\r\n\r\n"), EndsWith("400 Bad Request\n"));
}

TEST(HttpLimitsTest, EachRefusalOfTheServerHasItsReason) {
  for (const auto& [code, reason] : std::vector<std::pair<int, std::string>>{{408, "TRANSFER_TIMEOUT"},
                                                                             {413, "REQUEST_TOO_LARGE"},
                                                                             {417, "BAD_HEADER"},
                                                                             {431, "BAD_HEADER"},
                                                                             {501, "BAD_HEADER"},
                                                                             {503, "ANSWERS_UNREAD"},
                                                                             {505, "BAD_HEADER"}}) {
    EXPECT_EQ(ErrorReasonOf(HttpRefusal(code, 1000)), reason) << code;
  }
  EXPECT_THAT(HttpRefusal(413, 1000).message(), HasSubstr("1000 bytes"));
  EXPECT_GT(RetryDelayOf(HttpRefusal(503, 1000)), absl::ZeroDuration());
  EXPECT_TRUE(HttpRefusal(400, 1000).ok());
}

TEST(HttpLimitsTest, WhereItCannotListenTheServerDoesNotStart) {
  const auto nowhere = rpc::Server::Start({.listen = "127.0.0.1:0", .workers = 1, .http_listen = "nowhere"});
  EXPECT_TRUE(absl::IsInvalidArgument(nowhere.status())) << nowhere.status();
  HttpServer server;
  const auto second = rpc::Server::Start(
      {.listen = "127.0.0.1:0", .workers = 1, .http_listen = absl::StrCat("127.0.0.1:", server.port())});
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
}

TEST(HttpPlacesTest, LeaveRoomForOtherAddresses) {
  const auto places = std::make_shared<HttpPlaces>(8, 1000);
  std::list<HttpPlaces::Place> taken;
  int count = 0;
  while (taken.emplace_back(places).Take("192.0.2.1").ok()) {
    ++count;
  }
  EXPECT_EQ(count, 6);
  EXPECT_TRUE(HttpPlaces::Place(places).Take("192.0.2.2").ok());
  taken.clear();
  EXPECT_TRUE(HttpPlaces::Place(places).Take("192.0.2.1").ok());
}

TEST(HttpPlacesTest, LeaveRoomForThoseThatAreNoStreams) {
  const auto places = std::make_shared<HttpPlaces>(8, 1000);
  std::list<HttpPlaces::Place> taken;
  int streams = 0;
  for (int i = 0; i < 8; ++i) {
    streams += taken.emplace_back(places).Take(absl::StrCat("192.0.2.", i), /*is_stream=*/true).ok() ? 1 : 0;
  }
  EXPECT_EQ(streams, 5);
  EXPECT_FALSE(HttpPlaces::Place(places).Take("192.0.2.9").ok()) << "the others have places as well";
  taken.clear();
  HttpPlaces::Place place(places);
  EXPECT_TRUE(place.Take("192.0.2.1", /*is_stream=*/true).ok());
}

TEST(HttpPlacesTest, LeaveStreamsForOtherAddresses) {
  const auto places = std::make_shared<HttpPlaces>(80, 1000);
  std::list<HttpPlaces::Place> taken;
  int streams = 0;
  while (taken.emplace_back(places).Take("192.0.2.1", /*is_stream=*/true).ok()) {
    ++streams;
  }
  EXPECT_EQ(streams, 37);
  HttpPlaces::Place other(places);
  EXPECT_TRUE(other.Take("192.0.2.2", /*is_stream=*/true).ok());
}

TEST(HttpPlacesTest, HoldAnswersUpToALimitAndAnyThatIsAlone) {
  const auto places = std::make_shared<HttpPlaces>(8, 1000);
  {
    HttpPlaces::Place large(places);
    HttpPlaces::Place other(places);
    EXPECT_TRUE(large.HoldAnswer(5000));
    EXPECT_FALSE(other.HoldAnswer(1));
  }
  HttpPlaces::Place first(places);
  HttpPlaces::Place second(places);
  ASSERT_TRUE(first.Take("192.0.2.1").ok());
  ASSERT_TRUE(second.Take("192.0.2.2").ok());
  EXPECT_TRUE(first.HoldAnswer(400));
  EXPECT_TRUE(second.HoldAnswer(600));
  EXPECT_FALSE(HttpPlaces::Place(places).HoldAnswer(1));
  // What has left makes room.
  EXPECT_TRUE(second.HoldAnswer(500));
  EXPECT_TRUE(HttpPlaces::Place(places).HoldAnswer(100));
}

TEST(HttpPlacesTest, LeaveMemoryForOtherAddresses) {
  const auto places = std::make_shared<HttpPlaces>(80, 1000);
  std::list<HttpPlaces::Place> taken;
  int answers = 0;
  do {
    ASSERT_TRUE(taken.emplace_back(places).Take("192.0.2.1").ok());
  } while (taken.back().HoldAnswer(50) && ++answers < 100);
  EXPECT_EQ(answers, 15);
  HttpPlaces::Place other(places);
  ASSERT_TRUE(other.Take("192.0.2.2").ok());
  EXPECT_TRUE(other.HoldAnswer(200));
  taken.clear();
  EXPECT_TRUE(other.HoldAnswer(1000));
}

}  // namespace
}  // namespace waystar::rpc
