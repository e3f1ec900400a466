// The log of slow queries: what its lines hold, and how many there are.

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "server/runtime/logging.h"
#include "server/service/admission/executor.h"
#include "server/service/auth/caller.h"
#include "server/service/metrics/slow_query_log.h"
#include "tests/service/bounded_context.h"
#include "tests/service/captured_log.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"
#include "tests/testing/fake_clock.h"

namespace waystar {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::FakeClock;
using ::waystar::testing::LocationAt;
using ::waystar::testing::LogOf;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::WatchOfPath;

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

  const auto again = server.client().FindPath(RequestIn(lines[0]));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->cost(), answer.cost());
  EXPECT_EQ(again->path().points_size(), answer.path().points_size());
  EXPECT_EQ(again->info().statistics().expanded(), answer.info().statistics().expanded());
}

TEST(SlowQueryTest, RefusalsAndOtherQueriesAreWrittenToo) {
  TestServer server({.slow_query = absl::Nanoseconds(1)});
  server.Create("m", {"..."});
  EXPECT_THAT(LinesOf([&] {
                static_cast<void>(server.client().FindPath(PathRequest("m", CellAt(0, 0), CellAt(3, 0))));
                v1::CastRayRequest ray;
                ray.set_map("m");
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

TEST(SlowQueryTest, TracesAndWatchedPathsAreWrittenToo) {
  TestServer server({.slow_query = absl::Nanoseconds(1)});
  server.Create("m", {"..."});
  v1::TraceSearchRequest trace;
  *trace.mutable_query() = PathRequest("m", CellAt(0, 0), CellAt(2, 0));
  EXPECT_THAT(
      LinesOf([&] { EXPECT_TRUE(server.client().TraceSearch(trace, [](const v1::SearchEvent&) {}).ok()); }),
      ElementsAre(AllOf(HasSubstr(" method=waystar.v1.PictureService/TraceSearch map=m revision=1 "),
                        HasSubstr(" outcome=OUTCOME_FOUND "), HasSubstr(" peer=ipv4:127.0.0.1:"))));
  EXPECT_THAT(LinesOf([&] {
                WatchOfPath watch(server, trace.query());
                EXPECT_TRUE(watch.Next().has_answer());
                EXPECT_TRUE(server.client().UpdateMap(BlockRequest("m", {CellAt(1, 0)})).ok());
                EXPECT_EQ(watch.Next().answer().outcome(), v1::OUTCOME_UNREACHABLE);
              }),
              ElementsAre(HasSubstr(" method=waystar.v1.PathService/WatchPath map=m revision=1 "),
                          HasSubstr(" method=waystar.v1.PathService/WatchPath map=m revision=2 ")));
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

}  // namespace
}  // namespace waystar
