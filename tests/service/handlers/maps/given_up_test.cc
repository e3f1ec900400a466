// What handlers of RPCs about maps do for callers who are gone, or whose deadline has passed: they end soon,
// with the error, and change nothing.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/service/handlers/maps/change_queue.h"
#include "server/service/handlers/maps/map_creation.h"
#include "server/service/handlers/maps/render_map.h"
#include "server/service/handlers/maps/transfer_calls.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

constexpr int kRows = 300;

class GivenUpTest : public HandlerTest {
 protected:
  static v1::CreateMapRequest OfRows() {
    auto request = About<v1::CreateMapRequest>("rows");
    for (int y = 0; y < kRows; ++y) {
      std::string row(kRows, '.');
      row[static_cast<std::size_t>(y)] = '#';
      request.add_rows(row);
    }
    return request;
  }

  static v1::CreateMapRequest Blank() {
    return Parsed<v1::CreateMapRequest>("map: 'blank' blank { width: 300 height: 300 fill: '#' }");
  }

  static v1::CreateMapRequest OfData() {
    const v1::CreateMapRequest rows = OfRows();
    auto request = About<v1::CreateMapRequest>("data");
    for (const std::string& row : rows.rows()) {
      absl::StrAppend(request.mutable_data(), row, "\n");
    }
    return request;
  }

  static v1::CreateMapRequest OfNodes() {
    auto request = About<v1::CreateMapRequest>("nodes");
    request.mutable_graph()->mutable_auto_connect()->set_max_distance(2);
    for (int i = 0; i < kRows; ++i) {
      v1::WaypointNode& node = *request.mutable_graph()->add_nodes();
      node.set_id(absl::StrCat("n", i));
      node.mutable_position()->set_x(i);
    }
    return request;
  }

  static std::vector<v1::CreateMapRequest> AllCreations() { return {OfRows(), Blank(), OfData(), OfNodes()}; }

  // Calls the handler, and waits for its answer.
  absl::Status CreateWithin(const core::Budget& budget, const v1::CreateMapRequest& request) {
    std::promise<absl::Status> answer;
    v1::CreateMapResponse response;
    rpc::AnswerCreateMap({.store = store_,
                          .changes = changes_,
                          .budget = budget,
                          .done = [&](const absl::Status& status) { answer.set_value(status); }},
                         core::kMaxMapSide, request, response, bench_);
    return answer.get_future().get();
  }

  absl::Status DeleteWithin(const core::Budget& budget, const std::string& map) {
    std::promise<absl::Status> answer;
    auto request = About<v1::DeleteMapRequest>(map);
    v1::DeleteMapResponse response;
    rpc::AnswerDeleteMap({.store = store_,
                          .changes = changes_,
                          .budget = budget,
                          .done = [&](const absl::Status& status) { answer.set_value(status); }},
                         request, response);
    return answer.get_future().get();
  }

  std::vector<core::PinnedSnapshot> Maps() const {
    return store_.List("", std::numeric_limits<std::size_t>::max());
  }

  const std::atomic<bool> set_ = true;
  const core::Budget gone_{.cancelled = &set_};
  const core::Budget late_{.deadline = std::chrono::steady_clock::time_point::min()};
  rpc::ChangeQueue changes_;
};

TEST_F(GivenUpTest, NoMapIsMade) {
  for (const v1::CreateMapRequest& request : AllCreations()) {
    SCOPED_TRACE(request.map());
    EXPECT_THAT(CreateWithin(gone_, request),
                IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
    EXPECT_THAT(CreateWithin(late_, request),
                IsError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, ""));
    EXPECT_THAT(Maps(), IsEmpty());
    EXPECT_THAT(CreateWithin({}, request), IsOk()) << "the id is still free";
    EXPECT_THAT(DeleteWithin({}, request.map()), IsOk());
  }
}

TEST_F(GivenUpTest, CreationEndsSoonAfterTheLookThatStopsIt) {
  for (const v1::CreateMapRequest& request : AllCreations()) {
    SCOPED_TRACE(request.map());
    const StopAfter never;
    ASSERT_THAT(rpc::MakeMap(store_, core::kMaxMapSide, request, &never), IsOk());
    EXPECT_THAT(never.looks(), Ge(kRows)) << "it looks for each row or node";
    for (int allowed = 0; allowed < never.looks(); allowed += 1 + allowed / 7) {
      const StopAfter stop(allowed);
      EXPECT_THAT(rpc::MakeMap(store_, core::kMaxMapSide, request, &stop),
                  IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
      EXPECT_THAT(stop.looks(), Le(allowed + 10)) << "a few more, on the way back";
    }
  }
}

TEST_F(GivenUpTest, ChangesThatWaitForOthersAreNotMade) {
  ASSERT_THAT(CreateWithin({}, OfRows()), IsOk());
  std::atomic<bool> cancelled = false;
  std::promise<void> release;
  // Nothing else is changed meanwhile.
  changes_.Submit(
      [&] {
        release.get_future().get();
        return absl::OkStatus();
      },
      [](const absl::Status&) {});
  std::promise<absl::Status> answer;
  v1::CreateMapResponse response;
  const v1::CreateMapRequest request = Blank();
  rpc::AnswerCreateMap({.store = store_,
                        .changes = changes_,
                        .budget = {.cancelled = &cancelled},
                        .done = [&](const absl::Status& status) { answer.set_value(status); }},
                       core::kMaxMapSide, request, response, bench_);
  cancelled = true;
  release.set_value();
  EXPECT_THAT(answer.get_future().get(), IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
  EXPECT_THAT(Maps(), SizeIs(1));
  EXPECT_THAT(DeleteWithin(late_, "rows"),
              IsError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, ""));
  EXPECT_THAT(Maps(), SizeIs(1));
}

// Every format, of a grid; and the image of a graph.
TEST_F(GivenUpTest, ExportEndsSoonAfterTheLookThatStopsIt) {
  using core::MapFormat;
  ASSERT_THAT(CreateWithin({}, OfRows()), IsOk());
  ASSERT_THAT(CreateWithin({}, OfNodes()), IsOk());
  const core::PinnedSnapshot rows = store_.Pin("rows").value();
  const core::PinnedSnapshot nodes = store_.Pin("nodes").value();
  for (const auto& [snapshot, format] :
       {std::pair(rows, MapFormat::kText), std::pair(rows, MapFormat::kMovingAi),
        std::pair(rows, MapFormat::kWaystar), std::pair(nodes, MapFormat::kWaystar)}) {
    SCOPED_TRACE(absl::StrCat(snapshot->id, " as format ", static_cast<int>(format)));
    const StopAfter never;
    ASSERT_THAT(rpc::WriteMapFile(*snapshot, format, &never), IsOk());
    EXPECT_THAT(never.looks(), Ge(kRows));
    for (const int allowed : {0, 1, 10, kRows / 2, never.looks() - 1}) {
      const StopAfter stop(allowed);
      EXPECT_THAT(rpc::WriteMapFile(*snapshot, format, &stop),
                  IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
      EXPECT_THAT(stop.looks(), Le(allowed + 6));
    }
  }
}

// A search that a budget is asked about at each look, and which ends the work at one of them.
class LookCounter final : public core::Rival {
 public:
  explicit LookCounter(int allowed = std::numeric_limits<int>::max()) : allowed_(allowed) {}

  bool GoOn(std::uint64_t /*expanded*/) override { return ++looks_ > allowed_; }
  int looks() const { return looks_; }

 private:
  const int allowed_;
  int looks_ = 0;
};

// The whole of a map that is larger than its picture; a part of it, whose cells are areas; and a graph.
class GivenUpPictureTest : public GivenUpTest {
 protected:
  void SetUp() override {
    ASSERT_THAT(CreateWithin({}, OfRows()), IsOk());
    ASSERT_THAT(CreateWithin({}, OfNodes()), IsOk());
  }

  static std::vector<v1::RenderMapRequest> AllPictures() {
    std::vector<v1::RenderMapRequest> requests;
    for (const v1::PictureFormat format :
         {v1::PICTURE_FORMAT_PNG, v1::PICTURE_FORMAT_SVG, v1::PICTURE_FORMAT_TEXT}) {
      for (const char* picture :
           {"map: 'rows' max_width: 64 max_height: 64",
            "map: 'rows' max_width: 64 max_height: 64 with_search: true "
            "query { start { cell { x: 1 } } goals { cell { x: 299 y: 298 } } }",
            "map: 'rows' max_width: 1024 max_height: 1024 region { width: 100 height: 100 }",
            "map: 'nodes' max_width: 64 max_height: 64"}) {
        requests.push_back(Parsed<v1::RenderMapRequest>(picture));
        requests.back().set_format(format);
      }
    }
    return requests;
  }

  absl::Status Render(const v1::RenderMapRequest& request, const core::Budget& budget) {
    v1::RenderMapResponse response;
    rpc::CallContext context{.bench = bench_, .caller = caller_, .budget = budget};
    return rpc::AnswerRenderMap(store_, kMaxBytes, request, response, context);
  }
};

TEST_F(GivenUpPictureTest, NothingIsDrawn) {
  for (const v1::RenderMapRequest& request : AllPictures()) {
    EXPECT_THAT(Render(request, gone_), IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
    EXPECT_THAT(Render(request, late_),
                IsError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, ""));
  }
}

TEST_F(GivenUpPictureTest, DrawingEndsSoonAfterTheLookThatStopsIt) {
  for (const v1::RenderMapRequest& request : AllPictures()) {
    SCOPED_TRACE(request.ShortDebugString());
    LookCounter never;
    ASSERT_THAT(Render(request, {.rival = &never}), IsOk());
    // A picture in text of a graph has few marks, and no row of cells.
    EXPECT_THAT(never.looks(), Ge(request.map() == "rows" ? kRows / 4 : 4));
    for (int allowed = 0; allowed < never.looks(); allowed += 1 + allowed / 7) {
      LookCounter stop(allowed);
      EXPECT_THAT(Render(request, {.rival = &stop}),
                  IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
      EXPECT_THAT(stop.looks(), Le(allowed + 8));
    }
  }
}

// A queue whose first change waits until it is let go.
class ChangeQueueTest : public ::testing::Test {
 protected:
  ChangeQueueTest() {
    queue_.emplace();
    queue_->Submit(
        [this] {
          begins_.Happen();
          goes_on_.Wait();
          return absl::OkStatus();
        },
        [](const absl::Status&) {});
    EXPECT_TRUE(begins_.Wait());
  }
  ~ChangeQueueTest() override { goes_on_.Happen(); }

  Event begins_{"the first change"};
  Event goes_on_{"the end of the first change"};
  std::optional<ChangeQueue> queue_;
};

TEST_F(ChangeQueueTest, OneThatIsTooManyIsRefusedAndOneThatIsOwedIsNot) {
  int done = 0;
  const auto count = [&done](const absl::Status& status) {
    EXPECT_THAT(status, IsOk());
    ++done;
  };
  for (std::size_t i = 0; i < ChangeQueue::kMaxWaiting; ++i) {
    queue_->Submit([] { return absl::OkStatus(); }, count);
  }
  absl::Status refusal;
  queue_->Submit([] { return absl::OkStatus(); },
                 [&refusal](const absl::Status& status) { refusal = status; });
  EXPECT_EQ(refusal.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorReasonOf(refusal), "UPDATES_BUSY");
  EXPECT_GT(RetryDelayOf(refusal), absl::ZeroDuration());
  queue_->SubmitOwed([] { return absl::OkStatus(); }, count);
  goes_on_.Happen();
  queue_.reset();
  EXPECT_EQ(done, static_cast<int>(ChangeQueue::kMaxWaiting) + 1);
}

TEST_F(ChangeQueueTest, ChangesThatWaitAreMadeInTheirOrderBeforeTheEnd) {
  std::vector<std::string> answers;
  const auto note = [&answers](const absl::Status& status) { answers.emplace_back(status.message()); };
  queue_->Submit([] { return absl::UnavailableError("first"); }, note);
  queue_->Submit([] { return absl::UnavailableError("second"); }, note);
  goes_on_.Happen();
  queue_.reset();
  EXPECT_THAT(answers, ElementsAre("first", "second"));
}

}  // namespace
}  // namespace waystar::rpc
