// What callers see of a server that is asked for more than it can do.

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {
namespace {

using ::testing::IsSubsetOf;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Patience;
using ::waystar::testing::TestServer;

constexpr int kCallers = 24;
constexpr int kOfEach = 50;

// Takes a worker some milliseconds.
v1::FindPathRequest Search() {
  v1::FindPathRequest request = PathRequest("open", CellAt(100, 100), CellAt(140, 140));
  request.set_algorithm(v1::ALGORITHM_DIJKSTRA);
  request.set_path_form(v1::PATH_FORM_CORNERS);
  return request;
}

class OverloadTest : public ::testing::Test {
 protected:
  OverloadTest() { server_.CreateBlank("open", 256, 256); }

  // Asks without a pause, as all callers do, until there are enough answers and refusals.
  void Call() {
    const auto stub = v1::PathService::NewStub(server_.NewChannel());
    const Patience patience("enough answers and refusals");
    while ((answers_ < kOfEach || refusals_ < kOfEach) && patience.Lasts()) {
      BoundedContext context;
      v1::FindPathResponse response;
      const grpc::Status status = stub->FindPath(&context, Search(), &response);
      if (!status.ok()) {
        ++refusals_;
        MutexLock lock(mutex_);
        reasons_.insert(client::ReasonOf(client::FromGrpc(status)));
      } else if (refusals_ > 0) {
        ++answers_;
      }
    }
  }

  TestServer server_{{.workers = 1}, absl::Milliseconds(1)};
  std::atomic<int> answers_ = 0;
  std::atomic<int> refusals_ = 0;
  Mutex mutex_;
  std::set<std::string> reasons_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(OverloadTest, GoesOnAnsweringWhileItRefuses) {
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] { Call(); });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_GE(answers_, kOfEach);
  EXPECT_GE(refusals_, kOfEach);
  MutexLock lock(mutex_);
  EXPECT_THAT(reasons_, IsSubsetOf({"QUEUE_FULL", "QUEUE_TIMEOUT"}));
}

}  // namespace
}  // namespace waystar
