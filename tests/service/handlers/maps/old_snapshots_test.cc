// What becomes of a search on a state of the map that updates have long left behind. The search is Dijkstra
// across a blank map of the largest size, which takes many seconds.

#include <memory>
#include <optional>

#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {
namespace {

using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Patience;
using ::waystar::testing::TestServer;

v1::UpdateMapRequest BlockRow(int y) {
  v1::UpdateMapRequest request;
  request.set_map("vast");
  v1::Rectangle& row = *request.add_edits()->mutable_block()->add_rectangles();
  row.set_y(y);
  // A gap is left at the right, so that a search that begins late has a long way to go as well.
  row.set_width(8191);
  row.set_height(1);
  return request;
}

// A search under way on the first revision of a map that has another since.
class OldSearch {
 public:
  explicit OldSearch(TestServer& server)
      : server_(server), stub_(v1::PathService::NewStub(server.NewChannel())) {
    v1::CreateMapRequest create;
    create.set_map("vast");
    create.mutable_blank()->set_width(8192);
    create.mutable_blank()->set_height(8192);
    EXPECT_TRUE(server_.client().CreateMap(create).ok());
    v1::FindPathRequest request = PathRequest("vast", CellAt(0, 0), CellAt(8191, 8191));
    request.set_algorithm(v1::ALGORITHM_DIJKSTRA);
    request.set_path_form(v1::PATH_FORM_CORNERS);
    stub_->async()->FindPath(&context_, &request_.emplace(request), &response_,
                             [this](const grpc::Status& status) {
                               MutexLock lock(mutex_);
                               status_ = status;
                               is_over_.NotifyAll();
                             });
    // Until it has begun.
    for (seen_ = Info(); seen_.old_snapshots().count() == 0 && !IsOver(); seen_ = Info()) {
      BlockNextRow();
    }
  }

  // What the map told of itself while the search was under way on an earlier revision. It may wait for a
  // worker again by now, with none.
  const v1::MapInfo& seen() const { return seen_; }

  void BlockNextRow() {
    EXPECT_TRUE(server_.client().UpdateMap(BlockRow(row_)).ok());
    row_ = 4000 + (row_ + 1) % 4000;
  }

  ~OldSearch() {
    context_.TryCancel();
    Wait();
  }

  v1::MapInfo Info() { return InfoOf(server_, "vast"); }

  bool IsOver() {
    MutexLock lock(mutex_);
    return status_.has_value();
  }

  grpc::Status Wait() {
    const Patience patience("the end of the search");
    MutexLock lock(mutex_);
    while (!status_ && patience.Wait(is_over_, mutex_)) {
    }
    return status_.value_or(grpc::Status(grpc::StatusCode::UNKNOWN, "it does not end"));
  }

 private:
  TestServer& server_;
  int row_ = 4000;
  std::unique_ptr<v1::PathService::Stub> stub_;
  BoundedContext context_;
  std::optional<v1::FindPathRequest> request_;
  v1::FindPathResponse response_;
  v1::MapInfo seen_;
  Mutex mutex_;
  CondVar is_over_;
  std::optional<grpc::Status> status_ ABSL_GUARDED_BY(mutex_);
};

TEST(OldSnapshotsTest, MapTellsOfThemWhileTheyAreRead) {
  TestServer server({.workers = 2});
  OldSearch search(server);
  ASSERT_FALSE(search.IsOver());
  const v1::MapInfo& info = search.seen();
  EXPECT_EQ(info.old_snapshots().count(), 1);
  EXPECT_GE(info.old_snapshots().oldest_revision(), 1U);
  EXPECT_LT(info.old_snapshots().oldest_revision(), info.version().revision());
  EXPECT_GT(info.old_snapshots().memory_bytes(), 0);
}

TEST(OldSnapshotsTest, SearchEndsWhenItsSnapshotTakesTooMuch) {
  TestServer server({.workers = 2, .old_snapshot_mib = 1});
  OldSearch search(server);
  while (!search.IsOver()) {
    search.BlockNextRow();
  }
  const grpc::Status status = search.Wait();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(status.error_details(), ::testing::HasSubstr("SNAPSHOT_EVICTED"));
}

}  // namespace
}  // namespace waystar
