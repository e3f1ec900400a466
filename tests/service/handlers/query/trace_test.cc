// TraceSearch over a real socket.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_codes.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/picture_service.grpc.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::About;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::Parsed;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::WaitUntil;
using ::waystar::testing::WithPatientTransfers;

// A* unless the query says otherwise, so that there is something to trace.
v1::TraceSearchRequest TraceRequest(const v1::FindPathRequest& query) {
  v1::TraceSearchRequest request;
  *request.mutable_query() = query;
  if (query.algorithm() == v1::ALGORITHM_UNSPECIFIED) {
    request.mutable_query()->set_algorithm(v1::ALGORITHM_ASTAR);
  }
  return request;
}

v1::CreateMapRequest Blank(const std::string& map, int width, int height) {
  auto request = About<v1::CreateMapRequest>(map);
  request.mutable_blank()->set_width(width);
  request.mutable_blank()->set_height(height);
  return request;
}

absl::StatusOr<v1::TraceSearchResult> Trace(TestServer& server, const v1::TraceSearchRequest& request,
                                            std::vector<v1::SearchEvent>* events = nullptr) {
  return server.client().TraceSearch(request, [events](const v1::SearchEvent& event) {
    if (events != nullptr) {
      events->push_back(event);
    }
  });
}

TEST(TraceTest, TellsEventsAndThenWhatFindPathAnswers) {
  TestServer server;
  server.Create("room", {"....", ".##.", "...."});
  v1::FindPathRequest query = PathRequest("room", CellAt(0, 1), CellAt(3, 1));
  query.set_algorithm(v1::ALGORITHM_ASTAR);
  std::vector<v1::SearchEvent> events;
  const auto result = Trace(server, TraceRequest(query), &events).value();
  v1::FindPathResponse answer = result.answer();
  EXPECT_FALSE(result.truncated());
  ASSERT_EQ(events.size(), answer.info().statistics().expanded() + answer.info().statistics().generated());
  EXPECT_EQ(events[0].kind(), v1::SearchEvent::KIND_GENERATED);
  EXPECT_FALSE(events[0].has_parent());
  EXPECT_EQ(events[1].kind(), v1::SearchEvent::KIND_EXPANDED);
  EXPECT_EQ(events[2].kind(), v1::SearchEvent::KIND_GENERATED);
  EXPECT_EQ(events[2].g(), 1.0);
  EXPECT_EQ(events[2].parent().y(), 1);

  auto found = server.client().FindPath(query).value();
  for (v1::SearchStatistics* statistics :
       {answer.mutable_info()->mutable_statistics(), found.mutable_info()->mutable_statistics()}) {
    EXPECT_GT(statistics->queue_time().nanos(), 0);
    EXPECT_GT(statistics->search_time().nanos(), 0);
    statistics->clear_queue_time();
    statistics->clear_search_time();
  }
  EXPECT_EQ(answer.DebugString(), found.DebugString());

  v1::TraceSearchRequest few = TraceRequest(query);
  few.set_max_events(3);
  events.clear();
  const auto truncated = Trace(server, few, &events).value();
  EXPECT_EQ(events.size(), 3U);
  EXPECT_TRUE(truncated.truncated());
  EXPECT_EQ(truncated.answer().outcome(), v1::OUTCOME_FOUND);
}

TEST(TraceTest, ComesInSmallMessagesWithTheResultInTheLast) {
  TestServer server;
  ASSERT_TRUE(server.client().CreateMap(Blank("wide", 100, 100)).ok());
  v1::TraceSearchRequest request = TraceRequest(PathRequest("wide", CellAt(0, 0), CellAt(99, 99)));
  request.mutable_query()->set_algorithm(v1::ALGORITHM_DIJKSTRA);
  const auto stub = v1::PictureService::NewStub(server.NewChannel());
  BoundedContext context;
  const auto reader = stub->TraceSearch(&context, request);
  v1::TraceSearchResponse message;
  int events = 0;
  while (reader->Read(&message) && !message.has_result()) {
    EXPECT_THAT(message.events_size(), ::testing::AllOf(::testing::Ge(1), ::testing::Le(1000)));
    EXPECT_LT(message.ByteSizeLong(), 64U << 10);
    events += message.events_size();
  }
  EXPECT_EQ(message.events_size(), 0);
  EXPECT_EQ(message.result().answer().outcome(), v1::OUTCOME_FOUND);
  EXPECT_GT(events, 19'000);
  EXPECT_FALSE(reader->Read(&message));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST(TraceTest, RefusesBadRequestsNamingTheField) {
  TestServer server;
  server.Create("room", {"....", ".##.", "...."});
  const auto refused = [&](const std::string& query, const std::string& rest = "") {
    return Trace(server, Parsed<v1::TraceSearchRequest>("query { " + query + " } " + rest));
  };
  const std::string good =
      "map: 'room' start { cell {} } goals { cell { x: 3 y: 2 } } algorithm: ALGORITHM_ASTAR ";
  EXPECT_THAT(Trace(server, v1::TraceSearchRequest()), IsRefused(kInvalid, "MISSING_FIELD", "query"));
  EXPECT_THAT(refused(good, "max_events: -1"), IsRefused(kInvalid, "BAD_VALUE", "max_events"));
  EXPECT_THAT(refused("map: 'room' start { cell {} }"), IsRefused(kInvalid, "MISSING_FIELD", "query.goals"));
  EXPECT_THAT(refused("map: 'nowhere' start { cell {} } goals { cell {} }"),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "query.map"));
  EXPECT_THAT(refused("map: 'room' start { cell { x: 1 y: 1 } } goals { cell {} }"),
              IsRefused(absl::StatusCode::kFailedPrecondition, "START_BLOCKED", "query.start"));
  EXPECT_THAT(refused(good + "goals { cell {} }"), IsRefused(kInvalid, "BAD_VALUE", "query.goals"));
}

TEST(TraceTest, PathOverTheMessageLimitIsRefusedBeforeTheFirstEvent) {
  TestServer server({.max_message_bytes = 4096});
  ASSERT_TRUE(server.client().CreateMap(Blank("long", 2000, 1)).ok());
  v1::TraceSearchRequest request = TraceRequest(PathRequest("long", CellAt(0, 0), CellAt(1999, 0)));
  std::vector<v1::SearchEvent> events;
  EXPECT_THAT(Trace(server, request, &events),
              IsRefused(absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE", "query.path_form"));
  EXPECT_TRUE(events.empty());
  request.mutable_query()->set_path_form(v1::PATH_FORM_CORNERS);
  EXPECT_TRUE(Trace(server, request).ok());
}

// A trace that cannot end before it is read: larger than what the transport holds.
class LargeTrace {
 public:
  explicit LargeTrace(TestServer& server) : stub_(v1::PictureService::NewStub(server.NewChannel())) {
    EXPECT_TRUE(server.client().CreateMap(Blank("large", 1000, 1000)).ok());
    v1::TraceSearchRequest request = TraceRequest(PathRequest("large", CellAt(0, 0), CellAt(999, 999)));
    request.mutable_query()->set_algorithm(v1::ALGORITHM_DIJKSTRA);
    request.set_max_events(1'000'000);
    reader_ = stub_->TraceSearch(&context_, request);
    v1::TraceSearchResponse first;
    EXPECT_TRUE(reader_->Read(&first));
    EXPECT_EQ(first.events_size(), 1000);
  }

  grpc::Status Cancel() {
    context_.TryCancel();
    return ReadToTheEnd();
  }

  grpc::Status ReadToTheEnd() {
    v1::TraceSearchResponse message;
    while (reader_->Read(&message)) {
    }
    return reader_->Finish();
  }

 private:
  std::unique_ptr<v1::PictureService::Stub> stub_;
  BoundedContext context_;
  std::unique_ptr<grpc::ClientReader<v1::TraceSearchResponse>> reader_;
};

// Waits until the server has let go of every trace, whatever its client has been told.
void WaitForFreeTrace(TestServer& server) {
  const v1::TraceSearchRequest probe = TraceRequest(PathRequest("probe", CellAt(0, 0), CellAt(0, 0)));
  EXPECT_TRUE(WaitUntil([&] { return client::ReasonOf(Trace(server, probe).status()) != "TRANSFERS_BUSY"; },
                        "a free transfer"));
}

TEST(TraceStreamTest, ClientMayGiveUpInTheMiddle) {
  TestServer server(WithPatientTransfers({.workers = 1, .max_transfers = 1}));
  LargeTrace trace(server);
  const v1::FindPathRequest query = PathRequest("large", CellAt(0, 0), CellAt(1, 1));
  EXPECT_TRUE(server.client().FindPath(query).ok()) << "a trace that is not read holds up the worker";
  EXPECT_EQ(client::ReasonOf(Trace(server, TraceRequest(query)).status()), "TRANSFERS_BUSY");
  EXPECT_EQ(trace.Cancel().error_code(), grpc::StatusCode::CANCELLED);
  WaitForFreeTrace(server);
  EXPECT_TRUE(Trace(server, TraceRequest(query)).ok());
}

TEST(TraceStreamTest, ClientThatStopsReadingIsCutShort) {
  TestServer server(
      {.max_transfers = 1, .transfer_timeout = absl::Hours(1), .transfer_stall_timeout = absl::Seconds(2)});
  LargeTrace trace(server);
  WaitForFreeTrace(server);
  EXPECT_EQ(trace.ReadToTheEnd().error_code(), grpc::StatusCode::CANCELLED);
}

// So that cancelling meets waiting, searching and sending.
TEST(TraceStreamTest, ClientsMayGiveUpAtAnyTime) {
  TestServer server;
  ASSERT_TRUE(server.client().CreateMap(Blank("wide", 60, 60)).ok());
  const auto stub = v1::PictureService::NewStub(server.NewChannel());
  const v1::TraceSearchRequest request = TraceRequest(PathRequest("wide", CellAt(0, 0), CellAt(59, 30)));
  for (int i = 0; i < 200; ++i) {
    BoundedContext context;
    const auto reader = stub->TraceSearch(&context, request);
    std::thread canceller([&] { context.TryCancel(); });
    v1::TraceSearchResponse message;
    while (reader->Read(&message)) {
    }
    canceller.join();
    const grpc::Status status = reader->Finish();
    EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::CANCELLED ||
                status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED)
        << status.error_message();
  }
}

}  // namespace
}  // namespace waystar
