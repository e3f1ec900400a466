// RPCs that take a stream of messages, each message in a request of its own.

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "server/service/transport/http/call_maker.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/gateway/http_server.h"
#include "tests/service/test_server.h"
#include "tests/service/transport/http/http_call.h"
#include "tests/testing/patience.h"

namespace waystar::rpc {
namespace {

using ::testing::AnyOf;

HttpRequest MessageOf(const std::string& rpc, const std::string& stream, const std::string& number,
                      const std::string& json) {
  return WithHeader(WithHeader(Post(rpc, json), http::kStreamHeader, stream), http::kMessageHeader, number);
}

// A stream of one client: the request that reads its answers, and those that send its messages.
class Stream {
 public:
  Stream(int port, const std::string& rpc, const std::string& json = "")
      : port_(port), rpc_(rpc), reader_(std::make_unique<HttpCall>(port, Post(rpc, json))) {
    EXPECT_EQ(reader_->code(), 200);
    id_ = reader_->Header("waystar-stream");
  }

  const std::string& id() const { return id_; }
  HttpCall& reader() { return *reader_; }

  int Code(int number, const std::string& json) {
    return HttpCall(port_, MessageOf(rpc_, id_, absl::StrCat(number), json)).code();
  }
  // Sends a message that the server takes; empty JSON ends the messages.
  void Send(const std::string& json) {
    const int number = ++number_;
    EXPECT_TRUE(WaitUntil(
        [&] {
          const int code = Code(number, json);
          EXPECT_THAT(code, AnyOf(204, 429)) << json;
          return code != 429;
        },
        "a message to be taken"));
  }
  template <typename Response>
  Response Next() {
    return ResultIn<Response>(reader_->NextLine());
  }
  // Closes the connection on which the answers come.
  void Cut() { reader_ = nullptr; }

 private:
  const int port_;
  const std::string rpc_;
  std::unique_ptr<HttpCall> reader_;
  std::string id_;
  int number_ = 0;
};

std::string Put(int agent) {
  return absl::StrCat(R"({"changes": [{"agent": )", agent, R"(, "number": 1, "put": )", kFind, "}]}");
}

TEST(HttpStreamTest, AgentsWalk) {
  HttpServer server;
  Stream agents(server.port(), "PathService/FollowAgents", Put(7));
  const auto first = agents.Next<v1::FollowAgentsResponse>();
  ASSERT_EQ(first.states_size(), 1);
  EXPECT_EQ(first.states(0).answer().path().points_size(), 6);
  agents.Send(R"({"changes": [{"agent": 7, "number": 2, "goal": {"cell": {"x": 1}}}]})");
  std::optional<v1::AgentState> second;
  while (!second.has_value()) {
    const auto message = agents.Next<v1::FollowAgentsResponse>();
    ASSERT_FALSE(::testing::Test::HasFailure());
    if (message.states_size() > 0) {
      second = message.states(0);
    }
  }
  EXPECT_EQ(second->number(), 2);
  EXPECT_EQ(second->answer().path().points_size(), 2);
}

TEST(HttpStreamTest, FilesComeInParts) {
  HttpServer server;
  Stream import(server.port(), "MapService/ImportMap",
                R"({"header": {"map": "sent", "format": "MAP_FORMAT_TEXT", "size": 11}})");
  // "map\n...\n..." in two parts.
  import.Send(R"({"chunk": "bWFwCi4u"})");
  import.Send(R"({"chunk": "LgouLi4="})");
  import.Send("");
  EXPECT_EQ(import.Next<v1::ImportMapResponse>().info().grid().height(), 2);
  EXPECT_EQ(ErrorIn(import.reader().NextLine()).code(), 0);
}

TEST(HttpStreamTest, UpdatesAreAnsweredInOrder) {
  HttpServer server;
  Stream updates(server.port(), "MapService/StreamUpdates");
  for (int i = 0; i < 3; ++i) {
    updates.Send(
        absl::StrCat(R"({"update": {"map": "arena", "edits": [{"block": {"cells": [{"x": )", i, "}]}}]}}"));
    EXPECT_EQ(updates.Next<v1::StreamUpdatesResponse>().applied().version().revision(), 2 + i);
  }
}

// The methods that take a stream of messages.
std::vector<std::string> StreamingRpcs() {
  std::vector<std::string> rpcs;
  for (const char* const name : {"MapService", "PathService", "PictureService", "ServerService"}) {
    const auto* const service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(
        absl::StrCat("waystar.v1.", name));
    for (int i = 0; i < service->method_count(); ++i) {
      if (service->method(i)->client_streaming()) {
        rpcs.push_back(absl::StrCat(name, "/", service->method(i)->name()));
      }
    }
  }
  return rpcs;
}

TEST(HttpStreamTest, EveryMethodEndsAfterTheLastMessage) {
  HttpServer server;
  for (const std::string& rpc : StreamingRpcs()) {
    Stream stream(server.port(), rpc);
    EXPECT_EQ(stream.Code(1, ""), 204) << rpc;
    std::string last;
    while (const std::optional<std::string> line = stream.reader().NextLine()) {
      last = *line;
    }
    EXPECT_THAT(last, ::testing::StartsWith(R"({"error":)")) << rpc;
    EXPECT_TRUE(WaitUntil([&] { return stream.Code(2, "{}") == 404; }, "the end of the stream")) << rpc;
  }
}

TEST(HttpStreamTest, EveryMethodEndsWhenItsReaderIsGone) {
  HttpServer server;
  for (const std::string& rpc : StreamingRpcs()) {
    Stream stream(server.port(), rpc);
    stream.Cut();
    // The end of the messages would end the stream too, so none is sent.
    EXPECT_TRUE(WaitUntil([&] { return stream.Code(2, "") == 404; }, "a stream to end")) << rpc;
  }
}

TEST(HttpStreamTest, MessagesAreSentOnceAndInOrder) {
  HttpServer server;
  Stream updates(server.port(), "MapService/StreamUpdates");
  const std::string update = R"({"update": {"map": "arena", "edits": [{"block": {"cells": [{}]}}]}})";
  EXPECT_EQ(updates.Code(2, update), 400);
  updates.Send(update);
  EXPECT_EQ(updates.Code(1, update), 204) << "a request that is sent again";
  EXPECT_EQ(updates.Code(2, R"({"map": 1.5e)"), 400) << "bad JSON takes no number";
  EXPECT_EQ(updates.Next<v1::StreamUpdatesResponse>().applied().version().revision(), 2);
  EXPECT_TRUE(WaitUntil([&] { return updates.Code(2, update) == 204; }, "the message before to be sent"));
  EXPECT_EQ(updates.Next<v1::StreamUpdatesResponse>().applied().version().revision(), 3);
}

TEST(HttpStreamTest, WaitsForAServerThatReadsNoMore) {
  // With a larger window, a slow machine answers until the connection has stalled for too long.
  HttpServer server({.stream_window = 2});
  Stream queries(server.port(), "PathService/StreamFindPath");
  const auto batch_of = [](int size) {
    return absl::StrCat(
        R"({"queries": [)",
        absl::StrJoin(std::vector<std::string>(size, absl::StrCat(R"({"query": )", kFind, "}")), ","), "]}");
  };
  const std::string batch = batch_of(500);
  const std::string probe = batch_of(1);
  int number = 1;
  // Nobody reads the answers, so the server stops reading messages. One refusal may mean that it is about to.
  // Refusals are of small messages: reading large ones takes so long that the connection may stall meanwhile.
  for (int refusals = 0; refusals < 50;) {
    ASSERT_LT(number, 10'000);
    const int code = queries.Code(number, refusals == 0 ? batch : probe);
    ASSERT_THAT(code, AnyOf(204, 429));
    refusals = code == 204 ? 0 : refusals + 1;
    number += code == 204 ? 1 : 0;
  }
  std::thread reader([&] {
    while (queries.reader().NextLine().has_value()) {
    }
  });
  const auto is_taken = [&](const std::string& message) {
    return WaitUntil([&] { return queries.Code(number, message) == 204; }, "messages to be read again");
  };
  EXPECT_TRUE(is_taken(batch));
  ++number;
  EXPECT_TRUE(is_taken("")) << "the end of the messages";
  reader.join();
}

TEST(HttpStreamTest, AreOfOneClientAndOneMethod) {
  GuardedServer guarded(TokenLine("ann", "read:*") + TokenLine("bob", "read:*"), HttpServer::OverHttp({}));
  const int port = guarded.server().server().http_port();
  const auto as = [](const char* token, const HttpRequest& request) {
    return WithHeader(request, "Authorization", absl::StrCat("Bearer ", token));
  };
  HttpCall reader(port, as("ann", Post("PathService/FollowAgents", "")));
  const std::string id = reader.Header("waystar-stream");
  EXPECT_EQ(id.size(), 32);
  const auto code = [&](const char* token, const std::string& rpc, const std::string& stream,
                        const std::string& number) {
    return HttpCall(port, as(token, MessageOf(rpc, stream, number, "{}"))).code();
  };
  EXPECT_EQ(code("ann", "PathService/FollowAgents", id, "1"), 204);
  EXPECT_EQ(code("bob", "PathService/FollowAgents", id, "2"), 404);
  EXPECT_EQ(code("nobody", "PathService/FollowAgents", id, "2"), 401);
  EXPECT_EQ(code("ann", "PathService/StreamFindPath", id, "2"), 404);
  EXPECT_EQ(code("ann", "PathService/FollowAgents", std::string(32, '0'), "2"), 404);
  EXPECT_EQ(code("ann", "PathService/FindPath", id, "2"), 400);
  for (const char* const number : {"", "0", "-1", "x", "18446744073709551616"}) {
    EXPECT_EQ(code("ann", "PathService/FollowAgents", id, number), 400) << number;
  }
}

}  // namespace
}  // namespace waystar::rpc
