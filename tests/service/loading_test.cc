// A server that is still reading its maps.

#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "server/service/server.h"
#include "server/storage/folder/folder.h"
#include "tests/service/bounded_context.h"
#include "tests/service/test_server.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/patience.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/server_service.grpc.pb.h"

namespace waystar {
namespace {

using ::grpc::health::v1::HealthCheckResponse;
using ::waystar::testing::BorrowedFolder;
using ::waystar::testing::BoundedContext;
using ::waystar::testing::CellAt;
using ::waystar::testing::CrashingFolder;
using ::waystar::testing::Event;
using ::waystar::testing::HealthOf;
using ::waystar::testing::OpenBorrowed;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;

// A folder that cannot be read before it is told.
class SlowFolder final : public BorrowedFolder {
 public:
  SlowFolder(storage::Folder& folder, Event& may_read, Event& reads)
      : BorrowedFolder(folder), may_read_(may_read), reads_(reads) {}

  absl::StatusOr<std::string> Read(absl::string_view name) const override {
    reads_.Happen();
    may_read_.Wait();
    return BorrowedFolder::Read(name);
  }

 private:
  Event& may_read_;
  Event& reads_;
};

class LoadingTest : public ::testing::Test {
 protected:
  LoadingTest() {
    options_.data_dir = "in memory";
    TestServer(options_, absl::Hours(1), OpenBorrowed(folder_)).Create("arena", {"..."});
    options_.workers = 1;
    // An address that is known before the server tells its port.
    options_.listen = absl::StrCat("unix:", ::testing::TempDir(), "/loading-", ::getpid());
    start_ = std::thread([this] {
      auto server = rpc::Server::Start(
          options_, [this](const std::string&) -> absl::StatusOr<std::unique_ptr<storage::Folder>> {
            return std::make_unique<SlowFolder>(folder_, may_read_, reads_);
          });
      EXPECT_TRUE(server.ok()) << server.status();
      if (server.ok()) {
        server_ = *std::move(server);
      }
      is_started_.Happen();
    });
    EXPECT_TRUE(reads_.Wait());
    channel_ = grpc::CreateChannel(options_.listen, grpc::InsecureChannelCredentials());
  }
  ~LoadingTest() override {
    may_read_.Happen();
    start_.join();
  }

  void LetItRead() {
    may_read_.Happen();
    EXPECT_TRUE(is_started_.Wait());
  }

  grpc::Status FindPath() {
    v1::FindPathResponse response;
    BoundedContext context;
    return v1::PathService::NewStub(channel_)->FindPath(
        &context, PathRequest("arena", CellAt(0, 0), CellAt(2, 0)), &response);
  }

  v1::GetMetricsResponse Metrics() {
    v1::GetMetricsResponse response;
    BoundedContext context;
    const grpc::Status status = v1::ServerService::NewStub(channel_)->GetMetrics(&context, {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  CrashingFolder folder_;
  runtime::Options options_;
  Event may_read_{"leave to read the maps"};
  Event reads_{"the server to read its maps"};
  Event is_started_{"the start of the server"};
  std::unique_ptr<rpc::Server> server_;
  std::thread start_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(LoadingTest, CallsAboutMapsAreRefusedUntilAllAreThere) {
  const grpc::Status refused = FindPath();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(client::ReasonOf(client::FromGrpc(refused)), "MAPS_LOADING");
  LetItRead();
  const grpc::Status found = FindPath();
  EXPECT_TRUE(found.ok()) << found.error_message();
}

TEST_F(LoadingTest, HealthTellsWhenTheyAre) {
  EXPECT_EQ(HealthOf(channel_, ""), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(HealthOf(channel_, "waystar.v1.PathService"), HealthCheckResponse::NOT_SERVING);
  LetItRead();
  EXPECT_EQ(HealthOf(channel_, ""), HealthCheckResponse::SERVING);
  EXPECT_EQ(HealthOf(channel_, "waystar.v1.PathService"), HealthCheckResponse::SERVING);
}

TEST_F(LoadingTest, MetricsAreThereMeanwhile) {
  const v1::GetMetricsResponse before = Metrics();
  EXPECT_EQ(client::SumOf(before, "waystar_loading"), 1);
  ASSERT_EQ(before.conditions_size(), 1);
  EXPECT_EQ(before.conditions(0).metric(), "waystar_loading");
  EXPECT_THAT(before.conditions(0).text(), ::testing::HasSubstr("0 of "));
  LetItRead();
  const v1::GetMetricsResponse after = Metrics();
  EXPECT_EQ(client::SumOf(after, "waystar_loading"), 0);
  EXPECT_EQ(after.conditions_size(), 0);
  EXPECT_EQ(client::SumOf(after, "waystar_maps"), 1);
}

}  // namespace
}  // namespace waystar
