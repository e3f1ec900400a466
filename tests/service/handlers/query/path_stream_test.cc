// StreamFindPath and TraceSearch, by real clients over real sockets.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/connection.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "grpcpp/channel.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/generator.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_codes.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/picture_service.grpc.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {
namespace {

// A stream over a connection of its own.
class Queries {
 public:
  explicit Queries(const TestServer& server) : Queries(server.NewChannel(), kPatience) {}
  Queries(const std::shared_ptr<grpc::Channel>& channel, absl::Duration timeout)
      : stub_(v1::PathService::NewStub(channel)), stream_(connection_, stub_.get(), timeout) {}

  client::PathStream* operator->() { return &stream_; }

  // A message of one query.
  bool Ask(std::uint64_t id, const v1::FindPathRequest& query) {
    v1::StreamFindPathRequest message;
    v1::StreamedQuery& asked = *message.add_queries();
    asked.set_id(id);
    *asked.mutable_query() = query;
    return stream_.Send(message);
  }

  // All answers until the stream ends, by id; an id that comes twice fails the test.
  std::map<std::uint64_t, v1::StreamedAnswer> ReceiveAll() {
    std::map<std::uint64_t, v1::StreamedAnswer> answers;
    v1::StreamFindPathResponse message;
    while (stream_.Receive(message)) {
      EXPECT_GT(message.answers_size(), 0);
      for (const v1::StreamedAnswer& answer : message.answers()) {
        EXPECT_TRUE(answers.emplace(answer.id(), answer).second) << answer.id();
      }
    }
    return answers;
  }

 private:
  // Adds nothing to calls.
  const client::Connection connection_{client::Options{}};
  std::unique_ptr<v1::PathService::Stub> stub_;
  client::PathStream stream_;
};

std::string ProblemReason(const google::rpc::Status& status) {
  return client::ReasonOf(client::FromMessage(status));
}

void CreateYard(TestServer& server) {
  server.Create("yard", {"......",  //
                         ".####.",  //
                         "......"});
}

TEST(PathStreamTest, EachQueryIsAnsweredAsByFindPath) {
  TestServer server({.workers = 2, .max_queue_time = absl::Minutes(1)});
  CreateYard(server);
  Generator generator(1);
  constexpr int kMessages = 60;
  std::map<std::uint64_t, v1::FindPathRequest> asked;
  std::vector<v1::StreamFindPathRequest> messages(kMessages);
  for (v1::StreamFindPathRequest& message : messages) {
    for (int i = generator.Between(0, 9); i > 0; --i) {
      v1::StreamedQuery& query = *message.add_queries();
      query.set_id(asked.size() * 7 + 3);
      *query.mutable_query() = PathRequest("yard", CellAt(generator.Between(0, 5), generator.Between(0, 2)),
                                           CellAt(generator.Between(0, 5), generator.Between(0, 2)));
      asked.emplace(query.id(), query.query());
    }
  }
  Queries queries(server);
  std::thread sender([&] {
    for (const v1::StreamFindPathRequest& message : messages) {
      EXPECT_TRUE(queries->Send(message));
    }
    queries->EndSending();
  });
  const auto answers = queries.ReceiveAll();
  sender.join();
  EXPECT_TRUE(queries->Finish().ok());
  ASSERT_EQ(answers.size(), asked.size());
  for (const auto& [id, query] : asked) {
    const auto alone = server.client().FindPath(query);
    const v1::StreamedAnswer& answer = answers.at(id);
    ASSERT_EQ(answer.has_answer(), alone.ok());
    if (alone.ok()) {
      EXPECT_EQ(Show(answer.answer().path().points()), Show(alone->path().points()));
      EXPECT_EQ(answer.answer().cost(), alone->cost());
    } else {
      EXPECT_EQ(ProblemReason(answer.problem()), client::ReasonOf(alone.status()));
    }
  }
}

// Reading stops and goes on at each message.
TEST(PathStreamTest, WindowOfOneWillDo) {
  TestServer server({.workers = 1, .stream_window = 1});
  CreateYard(server);
  Queries queries(server);
  std::thread sender([&] {
    for (std::uint64_t id = 0; id < 100; ++id) {
      EXPECT_TRUE(queries.Ask(id, PathRequest("yard", CellAt(0, 0), CellAt(5, 2))));
    }
    queries->EndSending();
  });
  EXPECT_EQ(queries.ReceiveAll().size(), 100U);
  sender.join();
  EXPECT_TRUE(queries->Finish().ok());
}

TEST(PathStreamTest, ProblemsAreThoseOfSingleQueries) {
  TestServer server({.workers = 1, .max_queue_time = absl::Minutes(1)});
  CreateYard(server);
  Queries queries(server);
  queries.Ask(1, PathRequest("nowhere", CellAt(0, 0), CellAt(1, 0)));
  queries.Ask(2, PathRequest("yard", CellAt(1, 1), CellAt(1, 0)));
  queries.Ask(3, PathRequest("yard", CellAt(0, 0), CellAt(1, 0)));
  v1::StreamFindPathRequest without_query;
  without_query.add_queries()->set_id(4);
  queries->Send(without_query);
  queries->Send({});
  queries->EndSending();
  const auto answers = queries.ReceiveAll();
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(ProblemReason(answers.at(1).problem()), "MAP_NOT_FOUND");
  EXPECT_EQ(ProblemReason(answers.at(2).problem()), "START_BLOCKED");
  EXPECT_EQ(answers.at(3).answer().cost(), 1.0);
  EXPECT_EQ(ProblemReason(answers.at(4).problem()), "MISSING_FIELD");
  EXPECT_TRUE(queries->Finish().ok());
}

TEST(PathStreamTest, TooManyQueriesInAMessageEndTheStream) {
  TestServer server({.workers = 1, .max_queue_time = absl::Minutes(1)});
  CreateYard(server);
  Queries queries(server);
  v1::StreamFindPathRequest message;
  for (int i = 0; i <= 1000; ++i) {
    message.add_queries()->set_id(static_cast<std::uint64_t>(i));
  }
  queries->Send(message);
  EXPECT_TRUE(queries.ReceiveAll().empty());
  const absl::Status status = queries->Finish();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(client::ReasonOf(status), "TOO_MANY_ITEMS");
}

// It cannot make the server hold answers without end; others are served meanwhile.
TEST(PathStreamTest, ClientThatNeverReadsIsNotReadFrom) {
  constexpr int kAttempts = 1'000'000;
  TestServer server({.workers = 2, .max_queue_time = absl::Minutes(1), .stream_window = 16});
  CreateYard(server);
  Queries queries(server.NewNarrowChannel(), absl::Seconds(3));
  // Until the deadline: it blocks when nobody reads what it writes.
  std::uint64_t sent = 0;
  while (sent < kAttempts && queries.Ask(sent, PathRequest("yard", CellAt(0, 0), CellAt(5, 2)))) {
    ++sent;
  }
  EXPECT_LT(sent, kAttempts);
  EXPECT_TRUE(server.client().FindPath(PathRequest("yard", CellAt(0, 0), CellAt(5, 2))).ok());
}

// So that cancelling meets reading, searching and writing.
TEST(PathStreamTest, ClientsMayGiveUpAtAnyTime) {
  TestServer server({.workers = 2, .max_queue_time = absl::Minutes(1), .stream_window = 3});
  CreateYard(server);
  for (int i = 0; i < 200; ++i) {
    Queries queries(server);
    for (std::uint64_t id = 0; id < 5; ++id) {
      queries.Ask(id, PathRequest("yard", CellAt(0, 0), CellAt(5, 2)));
    }
    std::thread canceller([&] { queries->Cancel(); });
    if (i % 2 == 0) {
      queries->EndSending();
    }
    EXPECT_LE(queries.ReceiveAll().size(), 5U);
    canceller.join();
    const absl::Status status = queries->Finish();
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kCancelled) << status;
  }
  EXPECT_TRUE(server.client().FindPath(PathRequest("yard", CellAt(0, 0), CellAt(5, 2))).ok());
}

TEST(PathStreamTest, AServerThatStopsAnswersWhatItRead) {
  TestServer server({.workers = 2, .max_queue_time = absl::Minutes(1)});
  CreateYard(server);
  Queries queries(server);
  queries.Ask(1, PathRequest("yard", CellAt(0, 0), CellAt(5, 2)));
  v1::StreamFindPathResponse first;
  ASSERT_TRUE(queries->Receive(first));
  EXPECT_EQ(first.answers(0).id(), 1U);
  std::thread stopper([&] { server.server().Stop(kPatience); });
  EXPECT_TRUE(queries.ReceiveAll().empty());
  const absl::Status status = queries->Finish();
  EXPECT_EQ(client::ReasonOf(status), "DRAINING") << status;
  stopper.join();
}

// A* unless the query says otherwise, so that there is something to trace.
v1::TraceSearchRequest TraceRequest(const v1::FindPathRequest& query) {
  v1::TraceSearchRequest request;
  *request.mutable_query() = query;
  if (query.algorithm() == v1::ALGORITHM_UNSPECIFIED) {
    request.mutable_query()->set_algorithm(v1::ALGORITHM_ASTAR);
  }
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
  server.CreateBlank("wide", 100, 100);
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
  server.CreateBlank("long", 2000, 1);
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
    server.CreateBlank("large", 1000, 1000);
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

// So that cancelling meets waiting, searching and sending.
TEST(TraceStreamTest, ClientsMayGiveUpAtAnyTime) {
  TestServer server;
  server.CreateBlank("wide", 60, 60);
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
