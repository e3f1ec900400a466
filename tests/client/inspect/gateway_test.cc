// The page's calls, by a browser without a page.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/client/fake_server.h"
#include "tests/client/inspect/inspected_server.h"
#include "tests/http/from_json.h"
#include "tests/http/http_call.h"
#include "tests/testing/patience.h"

namespace waystar::inspect {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using waystar::testing::BlockRequest;
using waystar::testing::Call;
using waystar::testing::CellAt;
using waystar::testing::ErrorIn;
using waystar::testing::FakeServer;
using waystar::testing::FromJson;
using waystar::testing::HttpCall;
using waystar::testing::HttpRequest;
using waystar::testing::InspectedServer;
using waystar::testing::ReasonIn;
using waystar::testing::ResultIn;
using waystar::testing::StartInspector;
using waystar::testing::WaitUntil;

constexpr char kFind[] = R"({"map": "arena", "start": {"cell": {}}, "goals": [{"cell": {"x": 3, "y": 2}}]})";
constexpr char kWatch[] = R"({"map": "arena"})";
constexpr char kBlock[] = R"({"map": "arena", "edits": [{"block": {"cells": [{"x": 3, "y": 1}]}}]})";

TEST(GatewayTest, AnswersACall) {
  InspectedServer inspected;
  HttpCall call(inspected.port(), Call("PathService/FindPath", kFind));
  EXPECT_EQ(call.code(), 200);
  EXPECT_EQ(call.Header("content-type"), "application/json");
  const auto answer = FromJson<v1::FindPathResponse>(call.Body());
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.points_size(), 6);
}

TEST(GatewayTest, TellsWhyACallFailed) {
  InspectedServer inspected;
  HttpCall call(inspected.port(), Call("MapService/GetMap", R"({"map": "nowhere"})"));
  EXPECT_EQ(call.code(), 404);
  const auto status = FromJson<google::rpc::Status>(call.Body());
  EXPECT_EQ(status.code(), 5);
  EXPECT_EQ(ReasonIn(status), "MAP_NOT_FOUND");
}

TEST(GatewayTest, TellsThatTheServerIsGone) {
  auto inspector = StartInspector({.target = "127.0.0.1:1", .retry = false});
  HttpCall call(inspector->port(), Call("MapService/ListMaps", "{}"));
  EXPECT_EQ(call.code(), 503);
  EXPECT_EQ(FromJson<google::rpc::Status>(call.Body()).code(), 14);
}

TEST(GatewayTest, ChangesMaps) {
  InspectedServer inspected;
  HttpCall call(inspected.port(), Call("MapService/UpdateObstacles", kBlock));
  EXPECT_EQ(call.code(), 200);
  EXPECT_EQ(FromJson<v1::UpdateObstaclesResponse>(call.Body()).version().revision(), 2);
}

TEST(GatewayTest, OnlyLooksIfAskedTo) {
  InspectedServer inspected({.is_read_only = true});
  HttpCall update(inspected.port(), Call("MapService/UpdateObstacles", kBlock));
  EXPECT_EQ(update.code(), 403);
  EXPECT_THAT(update.Body(), HasSubstr("--read-only"));
  HttpCall find(inspected.port(), Call("PathService/FindPath", kFind));
  EXPECT_EQ(find.code(), 200);
  EXPECT_EQ(FromJson<v1::FindPathResponse>(find.Body()).version().revision(), 1);
}

TEST(GatewayTest, MakesOnlyThePagesCalls) {
  InspectedServer inspected;
  for (const char* const rpc : {"MapService/DeleteMap", "MapService/CreateMap", "ServerService/SetLogLevel",
                                "MapService/Nothing", "MapService/ListMaps/", ""}) {
    HttpCall call(inspected.port(), Call(rpc, R"({"map": "arena"})"));
    EXPECT_EQ(call.code(), 404) << rpc;
  }
  EXPECT_TRUE(inspected.server().client().GetMap(FromJson<v1::GetMapRequest>(kWatch)).ok());
}

TEST(GatewayTest, RefusesWhatIsNoCallOfThePage) {
  InspectedServer inspected;
  HttpRequest get = Call("MapService/ListMaps", "");
  get.method = "GET";
  EXPECT_EQ(HttpCall(inspected.port(), get).code(), 405);
  HttpRequest unmarked = Call("MapService/ListMaps", "{}");
  unmarked.headers.erase("X-Waystar-Inspect");
  EXPECT_EQ(HttpCall(inspected.port(), unmarked).code(), 403);
}

TEST(GatewayTest, RefusesWhatIsNoRequest) {
  InspectedServer inspected;
  for (const char* const body : {"", "{", "[]", R"({"map": 3})", R"({"nothing": 1})", "\xff"}) {
    HttpCall call(inspected.port(), Call("PathService/FindPath", body));
    EXPECT_EQ(call.code(), 400) << body;
    EXPECT_EQ(FromJson<google::rpc::Status>(call.Body()).code(), 3) << body;
  }
}

TEST(GatewayTest, RefusesLongRequests) {
  InspectedServer inspected;
  HttpRequest announced = Call("PathService/FindPath", "{}");
  announced.headers["Content-Length"] = "100000000000";
  EXPECT_EQ(HttpCall(inspected.port(), announced).code(), 413);
  HttpCall fits(inspected.port(),
                Call("PathService/FindPath", kFind + std::string((1 << 20) - sizeof(kFind), ' ')));
  EXPECT_EQ(fits.code(), 200);
}

TEST(GatewayTest, SendsTheTokenOfItsOwn) {
  FakeServer server;
  std::string authorization;
  server.find_path = [&](grpc::ServerContext& context, const v1::FindPathRequest&, v1::FindPathResponse&) {
    const auto header = context.client_metadata().find("authorization");
    authorization = std::string(header->second.data(), header->second.size());
    return grpc::Status::OK;
  };
  auto inspector = StartInspector({.target = server.target(), .token = "secret"});
  EXPECT_EQ(HttpCall(inspector->port(), Call("PathService/FindPath", kFind)).code(), 200);
  EXPECT_EQ(authorization, "Bearer secret");
}

TEST(GatewayStreamTest, EndsWithHowItWent) {
  InspectedServer inspected;
  HttpCall call(inspected.port(), Call("MapService/ExportMap", kWatch));
  EXPECT_EQ(call.code(), 200);
  EXPECT_EQ(call.Header("content-type"), "application/x-ndjson");
  EXPECT_EQ(ResultIn<v1::ExportMapResponse>(call.NextLine()).header().info().grid().width(), 4);
  EXPECT_THAT(ResultIn<v1::ExportMapResponse>(call.NextLine()).chunk(), HasSubstr("....\n.##.\n....\n"));
  EXPECT_EQ(ErrorIn(call.NextLine()).code(), 0);
  EXPECT_EQ(call.NextLine(), std::nullopt);

  HttpCall refused(inspected.port(), Call("MapService/ExportMap", R"({"map": "nowhere"})"));
  EXPECT_EQ(refused.code(), 404);
  EXPECT_EQ(ReasonIn(FromJson<google::rpc::Status>(refused.Body())), "MAP_NOT_FOUND");
}

TEST(GatewayStreamTest, TellsOfEachMessageAtOnce) {
  InspectedServer inspected;
  HttpCall map(inspected.port(), Call("MapService/WatchMap", kWatch));
  EXPECT_EQ(ResultIn<v1::WatchMapResponse>(map.NextLine()).watching().version().revision(), 1);
  HttpCall path(inspected.port(), Call("PathService/WatchPath", absl::StrCat("{\"query\":", kFind, "}")));
  EXPECT_EQ(ResultIn<v1::WatchPathResponse>(path.NextLine()).answer().outcome(), v1::OUTCOME_FOUND);
  const auto cut = BlockRequest("arena", {CellAt(2, 0), CellAt(2, 2)});
  ASSERT_TRUE(inspected.server().client().UpdateObstacles(cut).ok());
  EXPECT_EQ(ResultIn<v1::WatchMapResponse>(map.NextLine()).commit().version().revision(), 2);
  EXPECT_EQ(ResultIn<v1::WatchPathResponse>(path.NextLine()).answer().outcome(), v1::OUTCOME_UNREACHABLE);
}

// The server gives the only place to another watch once the first has ended.
TEST(GatewayStreamTest, EndsTheCallWhenTheBrowserIsGone) {
  runtime::Options options;
  options.max_watches = 1;
  InspectedServer inspected({}, options);
  {
    HttpCall first(inspected.port(), Call("MapService/WatchMap", kWatch));
    EXPECT_THAT(first.NextLine().value_or(""), StartsWith("{\"result\""));
    HttpCall second(inspected.port(), Call("MapService/WatchMap", kWatch));
    EXPECT_EQ(second.code(), 429);
    EXPECT_EQ(ReasonIn(FromJson<google::rpc::Status>(second.Body())), "TOO_MANY_WATCHES");
  }
  int code = 429;
  const auto has_ended = [&] {
    code = HttpCall(inspected.port(), Call("MapService/WatchMap", kWatch)).code();
    return code != 429;
  };
  EXPECT_TRUE(WaitUntil(has_ended, "the end of the call of a browser that is gone"));
  EXPECT_EQ(code, 200);
}

TEST(GatewayStreamTest, EndsWhenTheInspectorStops) {
  InspectedServer inspected;
  HttpCall call(inspected.port(), Call("MapService/WatchMap", kWatch));
  EXPECT_THAT(call.NextLine().value_or(""), StartsWith("{\"result\""));
  inspected.StopInspector();
  EXPECT_EQ(call.NextLine(), std::nullopt);
}

TEST(GatewayStreamTest, LeavesThreadsToAnswerQuestions) {
  InspectedServer inspected;
  std::vector<std::unique_ptr<HttpCall>> watches;
  bool is_refused = false;
  while (!is_refused) {
    ASSERT_LT(watches.size(), 100);
    watches.push_back(std::make_unique<HttpCall>(inspected.port(), Call("MapService/WatchMap", kWatch)));
    is_refused = watches.back()->code() == 429;
  }
  // The one that is refused gives its thread back after its answer.
  const auto is_answered = [&] {
    return HttpCall(inspected.port(), Call("PathService/FindPath", kFind)).code() == 200;
  };
  EXPECT_TRUE(WaitUntil(is_answered, "an answer beside the streams"));
}

}  // namespace
}  // namespace waystar::inspect
