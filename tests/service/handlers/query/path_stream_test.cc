// StreamFindPath, by real clients over real sockets.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "client/connection.h"
#include "client/errors.h"
#include "client/options.h"
#include "client/streams.h"
#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "grpcpp/channel.h"
#include "tests/service/test_server.h"
#include "tests/testing/generator.h"
#include "tests/testing/patience.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::kPatience;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;

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
  // What calls bear: nothing.
  const client::Connection connection_{client::Options{}};
  std::unique_ptr<v1::PathService::Stub> stub_;
  client::PathStream stream_;
};

std::string ProblemReason(const google::rpc::Status& status) {
  google::rpc::ErrorInfo info;
  for (const auto& detail : status.details()) {
    if (detail.UnpackTo(&info)) {
      return info.reason();
    }
  }
  return "";
}

void CreateYard(TestServer& server) {
  server.Create("yard", {"......",  //
                         ".####.",  //
                         "......"});
}

TEST(PathStreamTest, EachQueryIsAnsweredAsByFindPath) {
  TestServer server({.workers = 2, .max_queue_time = absl::Minutes(1)});
  CreateYard(server);
  testing::Generator generator(1);
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

}  // namespace
}  // namespace waystar
