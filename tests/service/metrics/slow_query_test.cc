// The log of slow queries: what its lines hold, and how many there are.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/util/json_util.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "server/runtime/logging.h"
#include "server/service/admission/executor.h"
#include "server/service/auth/caller.h"
#include "server/service/metrics/call_interceptor.h"
#include "server/service/metrics/slow_query_log.h"
#include "tests/service/about_map.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"
#include "tests/testing/fake_clock.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Lines of such an event that `work` leaves in the log.
template <typename Work>
std::vector<std::string> LinesOf(Work work, absl::string_view event = "slow_query") {
  const std::string log = LogOf(work);
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(log, '\n')) {
    if (absl::StrContains(line, absl::StrCat("event=", event, " "))) {
      lines.emplace_back(line);
    }
  }
  return lines;
}

// The request in a line, as it is to be sent again.
v1::FindPathRequest RequestIn(const std::string& line) {
  const std::size_t begin = line.find("request=\"");
  std::string json;
  EXPECT_TRUE(begin != std::string::npos &&
              absl::CUnescape(line.substr(begin + 9, line.size() - begin - 10), &json))
      << line;
  v1::FindPathRequest request;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &request).ok()) << json;
  return request;
}

TEST(SlowQueryTest, LineHasAllThatIsNeededToAskAgain) {
  TestServer server({.slow_query = absl::Nanoseconds(1)});
  server.Create("m", {".....", ".###.", "....."});
  ASSERT_TRUE(server.client().UpdateMap(BlockRequest("m", {CellAt(0, 1)})).ok());
  v1::FindPathRequest request = PathRequest("m", CellAt(0, 0), CellAt(0, 2));
  request.set_algorithm(v1::ALGORITHM_ASTAR);
  request.set_path_form(v1::PATH_FORM_CORNERS);
  v1::FindPathResponse answer;
  const auto stub = v1::PathService::NewStub(server.NewChannel());
  const std::vector<std::string> lines = LinesOf([&] {
    BoundedContext context;
    context.AddMetadata("x-request-id", "order-66");
    EXPECT_TRUE(stub->FindPath(&context, request, &answer).ok());
  });
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0],
              AllOf(HasSubstr("level=warning event=slow_query "
                              "method=waystar.v1.PathService/FindPath map=m revision=2 "
                              "outcome=OUTCOME_FOUND queue_ms="),
                    ContainsRegex(" run_ms=[0-9.]+ search_ms=[0-9.]+ "),
                    HasSubstr(absl::StrCat(" expanded=", answer.info().statistics().expanded(), " ")),
                    HasSubstr(" peer=ipv4:127.0.0.1:"), HasSubstr(" request_id=order-66 ")));

  const auto again = server.client().FindPath(RequestIn(lines[0])).value();
  EXPECT_EQ(again.cost(), answer.cost());
  EXPECT_EQ(again.path().points_size(), answer.path().points_size());
  EXPECT_EQ(again.info().statistics().expanded(), answer.info().statistics().expanded());
}

TEST(SlowQueryTest, RefusalsAndOtherQueriesAreWrittenToo) {
  TestServer server({.slow_query = absl::Nanoseconds(1)});
  server.Create("m", {"..."});
  EXPECT_THAT(LinesOf([&] {
                static_cast<void>(server.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(3, 0))));
                auto ray = About<v1::CastRayRequest>("m");
                ray.mutable_from()->mutable_cell();
                ray.mutable_to()->mutable_cell()->set_x(1);
                static_cast<void>(server.client().CastRay(ray));
                const auto stream = server.client().StreamFindPath();
                v1::StreamFindPathRequest message;
                v1::StreamedQuery& query = *message.add_queries();
                *query.mutable_query() = PathRequest("m", CellAt(0, 0), CellAt(2, 0));
                EXPECT_TRUE(stream->Send(message));
                v1::StreamFindPathResponse answer;
                EXPECT_TRUE(stream->Receive(answer));
              }),
              ElementsAre(HasSubstr(" outcome=OUT_OF_RANGE/OFF_MAP "),
                          HasSubstr(" method=waystar.v1.PathService/CastRay map=m "),
                          HasSubstr(" outcome=OUTCOME_FOUND ")));
}

TEST(SlowQueryTest, TracesAndPathsOfAgentsAreWrittenToo) {
  TestServer server({.slow_query = absl::Nanoseconds(1)});
  server.Create("m", {"..."});
  v1::TraceSearchRequest trace;
  *trace.mutable_query() = PathRequest("m", CellAt(0, 0), CellAt(2, 0));
  EXPECT_THAT(
      LinesOf([&] { EXPECT_TRUE(server.client().TraceSearch(trace, [](const v1::SearchEvent&) {}).ok()); }),
      ElementsAre(AllOf(HasSubstr(" method=waystar.v1.PictureService/TraceSearch map=m revision=1 "),
                        HasSubstr(" outcome=OUTCOME_FOUND "), HasSubstr(" peer=ipv4:127.0.0.1:"))));
  EXPECT_THAT(LinesOf([&] {
                FollowedPath followed(server, trace.query());
                EXPECT_TRUE(followed.Next().has_answer());
                EXPECT_TRUE(server.client().UpdateMap(BlockRequest("m", {CellAt(1, 0)})).ok());
                EXPECT_EQ(followed.Next().answer().outcome(), v1::OUTCOME_UNREACHABLE);
              }),
              ElementsAre(HasSubstr(" method=waystar.v1.PathService/FollowAgents map=m revision=1 "),
                          HasSubstr(" method=waystar.v1.PathService/FollowAgents map=m revision=2 ")));
}

TEST(SlowQueryTest, UpdatesHaveLinesOfTheirOwn) {
  TestServer server({.slow_query = absl::Nanoseconds(1)});
  server.Create("m", {"..."});
  EXPECT_THAT(LinesOf(
                  [&] {
                    EXPECT_TRUE(server.client().UpdateMap(BlockRequest("m", {CellAt(1, 0)})).ok());
                    EXPECT_FALSE(server.client().UpdateMap(BlockRequest("none", {CellAt(1, 0)})).ok());
                  },
                  "slow_update"),
              ElementsAre(AllOf(HasSubstr(" method=waystar.v1.MapService/UpdateMap map=m revision=2 "
                                          "outcome=OK queue_ms="),
                                HasSubstr(" edits=1 changed_cells=1 peer=ipv4:127.0.0.1:"),
                                HasSubstr("\\\"block\\\"")),
                          HasSubstr(" outcome=NOT_FOUND/MAP_NOT_FOUND ")));
}

TEST(SlowQueryTest, NoneAreSlowIfThatIsTurnedOff) {
  TestServer server({.slow_query = absl::ZeroDuration()});
  server.Create("m", {"..."});
  EXPECT_THAT(LinesOf([&] {
                EXPECT_TRUE(server.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(2, 0))).ok());
              }),
              IsEmpty());
}

class SlowQueryLogTest : public ::testing::Test {
 protected:
  void Write(const v1::FindPathRequest& request) {
    const rpc::CallContext context{.bench = bench_, .caller = caller_};
    log_.Write("Method", request, {}, std::chrono::milliseconds(7), context);
  }

  FakeClock clock_;
  rpc::SlowQueryLog log_{absl::Milliseconds(5), clock_};
  rpc::Workbench bench_{1 << 20};
  const rpc::Caller caller_ = rpc::Caller::Anyone();
};

TEST_F(SlowQueryLogTest, IsSlowFromTheThresholdOn) {
  EXPECT_TRUE(log_.IsSlow(std::chrono::milliseconds(5)));
  EXPECT_FALSE(log_.IsSlow(std::chrono::nanoseconds(4'999'999)));
  EXPECT_FALSE(rpc::SlowQueryLog(absl::ZeroDuration()).IsSlow(std::chrono::hours(1)));
}

TEST_F(SlowQueryLogTest, WritesTenLinesASecondAndSaysHowManyItLeftOut) {
  EXPECT_THAT(LinesOf([&] {
                for (int i = 0; i < 25; ++i) {
                  Write({});
                  clock_.Advance(absl::Milliseconds(10));
                }
              }),
              SizeIs(runtime::LineLimit::kLines));
  clock_.Advance(absl::Seconds(1));
  EXPECT_THAT(LinesOf([&] {
                Write({});
                Write({});
              }),
              ElementsAre(HasSubstr(" left_out=15 "), HasSubstr(" left_out=0 ")));
}

TEST_F(SlowQueryLogTest, CutsWhatIsTooLongAndSaysSo) {
  v1::FindPathRequest request = PathRequest("m", CellAt(0, 0), CellAt(1, 0));
  EXPECT_THAT(LinesOf([&] { Write(request); }), ElementsAre(HasSubstr(" request_cut=no ")));
  for (int i = 0; i < 1000; ++i) {
    *request.add_goals() = LocationAt(i, i);
  }
  const std::vector<std::string> cut = LinesOf([&] { Write(request); });
  ASSERT_THAT(cut, ElementsAre(HasSubstr(" request_cut=yes request=\"{")));
  // Quoting takes a second byte for each quotation mark.
  EXPECT_LT(cut[0].size(), 3 * rpc::SlowQueryLog::kMaxRequestBytes);
  for (int i = 0; i < 100'000; ++i) {
    *request.add_goals() = LocationAt(i, i);
  }
  EXPECT_THAT(LinesOf([&] { Write(request); }), ElementsAre(HasSubstr(" request_cut=yes request=\"\"")));
}

// What calls leave in the log, and what they get back for their request ids.

using Metadata = std::vector<std::pair<std::string, std::string>>;

constexpr char kTraceParent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

// Calls FindPath, and returns what the server sent back as the request's id; "" if nothing.
std::string IdSentBack(v1::PathService::Stub& stub, const Metadata& metadata) {
  BoundedContext context;
  for (const auto& [key, value] : metadata) {
    context.AddMetadata(key, value);
  }
  v1::FindPathResponse response;
  static_cast<void>(stub.FindPath(&context, PathRequest("m", CellAt(0, 0), CellAt(1, 0)), &response));
  const auto& sent = context.GetServerInitialMetadata();
  const auto found = sent.find("x-request-id");
  return found == sent.end() ? "" : std::string(found->second.data(), found->second.size());
}

// A service that fails as the test says.
class FailingServer {
 public:
  explicit FailingServer(grpc::Status status) : service_(std::move(status)) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
    interceptors.push_back(rpc::MakeCallInterceptors(nullptr));
    builder.experimental().SetInterceptorCreators(std::move(interceptors));
    server_ = builder.BuildAndStart();
    stub_ = v1::PathService::NewStub(
        grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  }

  // What is written to the log meanwhile.
  std::string LogOf(const Metadata& metadata) {
    return waystar::LogOf([&] { IdSentBack(*stub_, metadata); });
  }

 private:
  class Service final : public v1::PathService::CallbackService {
   public:
    explicit Service(grpc::Status status) : status_(std::move(status)) {}

    grpc::ServerUnaryReactor* FindPath(grpc::CallbackServerContext* context,
                                       const v1::FindPathRequest* /*request*/,
                                       v1::FindPathResponse* /*response*/) override {
      grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
      reactor->Finish(status_);
      return reactor;
    }

   private:
    const grpc::Status status_;
  };

  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::PathService::Stub> stub_;
};

TEST(CallLogTest, FaultsOfTheServerAreWrittenDown) {
  FailingServer server({grpc::StatusCode::INTERNAL, "it broke\nlevel=info"});
  const std::string log = server.LogOf({{"x-request-id", "order-66"}, {"traceparent", kTraceParent}});
  EXPECT_THAT(log, HasSubstr("level=error event=call_failed method=waystar.v1.PathService/FindPath code=13 "
                             "error=\"it broke\\nlevel=info\" peer="));
  EXPECT_THAT(log, HasSubstr("request_id=order-66\n"));
}

TEST(CallLogTest, FaultsOfCallsOverHttpAreWrittenDownAsWell) {
  const rpc::DirectMethod failing = rpc::WithFaultsLogged(
      *google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
          "waystar.v1.PathService.FindPath"),
      [](const rpc::HttpHead& /*head*/, const grpc::ByteBuffer& /*request*/, const rpc::DirectDone& done) {
        done({grpc::StatusCode::INTERNAL, "it broke"}, {});
        return nullptr;
      });
  grpc::Status ended;
  const auto call = [&](const rpc::HttpHead& head) {
    failing(head, {},
            [&](const grpc::Status& status, const grpc::ByteBuffer& /*answer*/) { ended = status; });
  };
  EXPECT_THAT(LogOf([&] {
                call({.peer = "http:192.0.2.1", .metadata = {{"x-request-id", "order-66"}}});
              }),
              HasSubstr("level=error event=call_failed method=waystar.v1.PathService/FindPath code=13 "
                        "error=\"it broke\" peer=http:192.0.2.1 request_id=order-66\n"));
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_THAT(LogOf([&] { call({.peer = "http:192.0.2.1"}); }), IsEmpty());
}

TEST(CallLogTest, NamesTheTraceOrMakesUpAnId) {
  FailingServer server({grpc::StatusCode::UNKNOWN, ""});
  EXPECT_THAT(server.LogOf({{"traceparent", kTraceParent}}),
              HasSubstr("request_id=0af7651916cd43dd8448eb211c80319c\n"));
  // Only then is the call looked at, unless it is counted.
  EXPECT_THAT(server.LogOf({}), IsEmpty());
  const std::string made_up = "request_id=local-[0-9a-f]+\n";
  // Too long, of other characters, no trace, and no id at all.
  EXPECT_THAT(server.LogOf({{"x-request-id", std::string(129, 'a')}}), ContainsRegex(made_up));
  EXPECT_THAT(server.LogOf({{"x-request-id", "a b"}}), ContainsRegex(made_up));
  EXPECT_THAT(server.LogOf({{"traceparent", "00-00000000000000000000000000000000-b7ad6b7169203331-01"}}),
              ContainsRegex(made_up));
  EXPECT_THAT(server.LogOf({{"traceparent", "00-0af7651916cd43dd8448eb211c80319"}}), ContainsRegex(made_up));
}

TEST(CallLogTest, RefusalsAreNotWrittenDown) {
  FailingServer server({grpc::StatusCode::RESOURCE_EXHAUSTED, "too much"});
  EXPECT_THAT(server.LogOf({}), IsEmpty());
}

TEST(RequestIdTest, IsSentBackToWhoGaveOne) {
  TestServer server;
  server.Create("m", {".."});
  const auto stub = v1::PathService::NewStub(server.NewChannel());
  EXPECT_EQ(IdSentBack(*stub, {{"x-request-id", "order-66"}}), "order-66");
  EXPECT_EQ(IdSentBack(*stub, {{"x-request-id", std::string(128, 'a')}}), std::string(128, 'a'));
  EXPECT_EQ(IdSentBack(*stub, {}), "");
  EXPECT_EQ(IdSentBack(*stub, {{"traceparent", kTraceParent}}), "");
  EXPECT_EQ(IdSentBack(*stub, {{"x-request-id", "a b"}}), "");
  EXPECT_EQ(IdSentBack(*stub, {{"x-request-id", std::string(129, 'a')}}), "");
}

}  // namespace
}  // namespace waystar
