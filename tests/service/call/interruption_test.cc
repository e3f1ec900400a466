// Long searches: what happens when nobody waits for one any more, how many one client may have,
// and what becomes of a search on a state of the map that updates have long left behind. The search is
// Dijkstra across a blank map of the largest size, which takes many seconds. The client's own clock ends its
// wait whatever the server does, so it is the server's figures that say whether a search was stopped or ran
// on to its answer.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "grpcpp/client_context.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/picture_service.grpc.pb.h"
#include "waystar/v1/server_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {
namespace {

v1::FindPathRequest LongSearch() {
  v1::FindPathRequest request = PathRequest("vast", CellAt(0, 0), CellAt(8191, 8191));
  request.set_algorithm(v1::ALGORITHM_DIJKSTRA);
  request.set_path_form(v1::PATH_FORM_CORNERS);
  return request;
}

// Long searches under way over one connection.
class LongSearches {
 public:
  LongSearches(const TestServer& server, int count)
      : stub_(v1::PathService::NewStub(server.NewChannel())), calls_(static_cast<std::size_t>(count)) {
    for (Call& call : calls_) {
      call.reader = stub_->AsyncFindPath(&call.context, LongSearch(), &done_);
      call.reader->Finish(&call.response, &call.status, &call);
    }
  }

  // Returns how the next one ends.
  absl::Status Next() {
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(done_.Next(&tag, &ok));
    return client::FromGrpc(static_cast<Call*>(tag)->status);
  }

  // The same, if one has ended.
  std::optional<absl::Status> NextIfAny() {
    void* tag = nullptr;
    bool ok = false;
    if (done_.AsyncNext(&tag, &ok, std::chrono::system_clock::now()) != grpc::CompletionQueue::GOT_EVENT) {
      return std::nullopt;
    }
    return client::FromGrpc(static_cast<Call*>(tag)->status);
  }

  void CancelAll() {
    for (Call& call : calls_) {
      call.context.TryCancel();
    }
  }

 private:
  struct Call {
    BoundedContext context;
    v1::FindPathResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::FindPathResponse>> reader;
  };

  const std::unique_ptr<v1::PathService::Stub> stub_;
  grpc::CompletionQueue done_;
  std::vector<Call> calls_;
};

class InterruptionTest : public ::testing::Test {
 protected:
  InterruptionTest() {
    server_.CreateBlank("vast", 8192, 8192);
    // So that a short deadline does not pass while the connection is made.
    BoundedContext context;
    auto get = About<v1::GetMapRequest>("vast");
    v1::GetMapResponse got;
    EXPECT_TRUE(v1::MapService::NewStub(channel_)->GetMap(&context, get, &got).ok());
  }

  static void SetDeadline(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  }

  // Makes calls that end by their deadline until the server has heard of one: a slow machine may not even
  // send a call in its time.
  template <typename Call>
  void LetExpire(const std::string& method, Call call) {
    const auto is_heard_of = [&] {
      grpc::ClientContext context;
      SetDeadline(context);
      call(context);
      const CountedCalls counts = server_.CountsOf(method);
      return counts.requests > 0 || counts.open_calls > 0;
    };
    EXPECT_TRUE(WaitUntil(is_heard_of, "a call that comes to the server"));
  }

  // Waits until the server has ended that many calls of a method, and all others, and fails the test if it
  // answered one.
  void ExpectNoneAnswered(const std::string& method, double calls) {
    CountedCalls counts;
    const auto have_ended = [&] {
      counts = server_.CountsOf(method);
      return counts.requests >= calls && counts.open_calls == 0;
    };
    EXPECT_TRUE(WaitUntil(have_ended, "the end of each call on the server"));
    double failures = 0;
    for (const auto& [code, count] : counts.failures) {
      failures += count;
    }
    EXPECT_EQ(failures, counts.requests) << "a search ran on to its end";
  }

  // A short query, tried again while the queue is in the way.
  void ExpectAnswers() {
    absl::Status status;
    const auto is_taken = [&] {
      status = server_.client().FindPath(PathRequest("vast", CellAt(0, 0), CellAt(5, 5))).status();
      return status.code() != absl::StatusCode::kResourceExhausted;
    };
    EXPECT_TRUE(WaitUntil(is_taken, "a place in the queue"));
    EXPECT_TRUE(status.ok()) << status;
  }

  TestServer server_{{.workers = 1, .max_queued = 1, .max_queue_time = absl::Hours(1)}};
  const std::shared_ptr<grpc::Channel> channel_ = server_.NewChannel();
  std::unique_ptr<v1::PathService::Stub> stub_ = v1::PathService::NewStub(channel_);
};

TEST_F(InterruptionTest, DeadlineEndsTheSearch) {
  LetExpire("waystar.v1.PathService/FindPath", [&](grpc::ClientContext& context) {
    v1::FindPathResponse response;
    EXPECT_EQ(stub_->FindPath(&context, LongSearch(), &response).error_code(),
              grpc::StatusCode::DEADLINE_EXCEEDED);
  });
  ExpectNoneAnswered("waystar.v1.PathService/FindPath", 1);
  ExpectAnswers();
}

TEST_F(InterruptionTest, DeadlineEndsTheSearchOfATrace) {
  LetExpire("waystar.v1.PictureService/TraceSearch", [&](grpc::ClientContext& context) {
    v1::TraceSearchRequest request;
    *request.mutable_query() = LongSearch();
    const auto reader = v1::PictureService::NewStub(channel_)->TraceSearch(&context, request);
    v1::TraceSearchResponse message;
    EXPECT_FALSE(reader->Read(&message));
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  });
  ExpectNoneAnswered("waystar.v1.PictureService/TraceSearch", 1);
  ExpectAnswers();
}

TEST_F(InterruptionTest, OverloadIsRefusedAndCancellingFreesTheWorker) {
  constexpr int kCalls = 8;
  LongSearches searches(server_, kCalls);
  // At most one runs and one waits; the others are refused at once.
  for (int refused = 0; refused < kCalls - 2; ++refused) {
    const absl::Status status = searches.Next();
    ASSERT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_EQ(client::ReasonOf(status), "QUEUE_FULL");
  }
  searches.CancelAll();
  // The one that may wait may also have come while the first had not left the queue yet, and been refused.
  const std::set<absl::StatusCode> codes = {searches.Next().code(), searches.Next().code()};
  EXPECT_TRUE(codes.contains(absl::StatusCode::kCancelled));
  EXPECT_TRUE(codes.size() == 1 || codes.contains(absl::StatusCode::kResourceExhausted));
  ExpectNoneAnswered("waystar.v1.PathService/FindPath", kCalls);
  ExpectAnswers();
}

TEST(ClientCallsTest, OneTooManyOfOneClientIsRefusedAndOfAnotherIsNot) {
  TestServer server({.workers = 1, .max_queue_time = absl::Hours(1), .max_client_calls = 2});
  server.CreateBlank("vast", 8192, 8192);
  LongSearches one(server, 5);
  for (int i = 0; i < 3; ++i) {
    const absl::Status refused = one.Next();
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
    EXPECT_EQ(client::ReasonOf(refused), "CLIENT_BUSY");
    EXPECT_GT(client::RetryDelayOf(refused), absl::ZeroDuration());
  }
  LongSearches other(server, 3);
  EXPECT_EQ(client::ReasonOf(other.Next()), "CLIENT_BUSY");
  for (LongSearches* searches : {&one, &other}) {
    searches->CancelAll();
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(searches->Next().code(), absl::StatusCode::kCancelled);
    }
  }
}

// A search under way on the first revision of a map that has another since.
class OldSearch {
 public:
  explicit OldSearch(TestServer& server) : server_(server) {
    server.CreateBlank("vast", 8192, 8192);
    // An old revision of a blank map alone holds next to nothing.
    BlockNextRow();
    search_.emplace(server, 1);
    // Until it has begun.
    for (seen_ = InfoOf(server, "vast"); seen_.old_snapshots().count() == 0 && !HasEnded();
         seen_ = InfoOf(server, "vast")) {
      BlockNextRow();
    }
  }

  ~OldSearch() {
    search_->CancelAll();
    if (!end_) {
      static_cast<void>(search_->Next());
    }
  }

  // What the map told of itself while the search was under way on an earlier revision. It may wait for a
  // worker again since, with none.
  const v1::MapInfo& seen() const { return seen_; }

  // A gap is left at the right, so that a search that begins late has a long way to go as well.
  void BlockNextRow() {
    auto request = About<v1::UpdateMapRequest>("vast");
    v1::Rectangle& row = *request.add_edits()->mutable_block()->add_rectangles();
    row.set_y(row_);
    row.set_width(8191);
    row.set_height(1);
    EXPECT_TRUE(server_.client().UpdateMap(request).ok());
    row_ = 4000 + (row_ + 1) % 4000;
  }

  bool HasEnded() {
    if (!end_) {
      end_ = search_->NextIfAny();
    }
    return end_.has_value();
  }
  // REQUIRES: HasEnded.
  const absl::Status& end() const { return *end_; }

 private:
  TestServer& server_;
  int row_ = 4000;
  std::optional<LongSearches> search_;
  v1::MapInfo seen_;
  std::optional<absl::Status> end_;
};

TEST(OldSnapshotsTest, MapTellsOfThemWhileTheyAreRead) {
  TestServer server({.workers = 2});
  OldSearch search(server);
  ASSERT_FALSE(search.HasEnded());
  const v1::MapInfo& info = search.seen();
  EXPECT_EQ(info.old_snapshots().count(), 1);
  EXPECT_GE(info.old_snapshots().oldest_revision(), 1U);
  EXPECT_LT(info.old_snapshots().oldest_revision(), info.version().revision());
  EXPECT_GT(info.old_snapshots().memory_bytes(), 0);
}

TEST(OldSnapshotsTest, SearchEndsWhenItsSnapshotTakesTooMuch) {
  TestServer server({.workers = 2, .old_snapshot_mib = 1});
  OldSearch search(server);
  while (!search.HasEnded()) {
    search.BlockNextRow();
  }
  EXPECT_EQ(search.end().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(client::ReasonOf(search.end()), "SNAPSHOT_EVICTED");
}

}  // namespace
}  // namespace waystar
