// How a server ends: what its clients see, and what a second signal does.

#include <sys/wait.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/e2e/server_process.h"
#include "tests/service/about_map.h"
#include "tests/testing/patience.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;

// A watch of the health of one service.
class HealthWatch {
 public:
  HealthWatch(const ServerProcess& server, const std::string& service)
      : stub_(grpc::health::v1::Health::NewStub(server.NewChannel())) {
    HealthCheckRequest request;
    request.set_service(service);
    reader_ = stub_->Watch(&context_, request);
  }

  HealthCheckResponse::ServingStatus Next() {
    HealthCheckResponse response;
    EXPECT_TRUE(reader_->Read(&response));
    return response.status();
  }

 private:
  std::unique_ptr<grpc::health::v1::Health::Stub> stub_;
  BoundedContext context_;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader_;
};

class StopTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags) {
    // A machine that is busy with other tests is no reason to refuse a call, or to end one.
    flags.insert(flags.end(), {"--max_queue_time=1m", "--queue_target=1m", "--transfer_timeout=1h",
                               "--transfer_stall_timeout=1h"});
    server_ = std::make_unique<ServerProcess>(std::move(flags));
    maps_ = v1::MapService::NewStub(server_->NewChannel());
    client_ = server_->NewClient();
    for (const char* service : {"", "waystar.v1.PathService", "waystar.v1.ServerService"}) {
      health_.push_back(std::make_unique<HealthWatch>(*server_, service));
    }
    for (const auto& watch : health_) {
      EXPECT_EQ(watch->Next(), HealthCheckResponse::SERVING);
    }
    Create("small", 4);
  }

  // Waits until the health service says so of all.
  void ExpectNotServing() {
    for (const auto& watch : health_) {
      EXPECT_EQ(watch->Next(), HealthCheckResponse::NOT_SERVING);
    }
  }

  void Create(const std::string& map, int side) { EXPECT_TRUE(client_->CreateMap(BlankMap(map, side)).ok()); }

  // Begins an export that cannot end before it is read: larger than what the transport holds.
  void BeginExport() {
    Create("large", 3000);
    v1::ExportMapRequest request;
    request.set_map("large");
    export_ = maps_->ExportMap(&exporting_, request);
    v1::ExportMapResponse header;
    EXPECT_TRUE(export_->Read(&header));
  }

  grpc::Status ReadExport() {
    v1::ExportMapResponse message;
    while (export_->Read(&message)) {
    }
    return export_->Finish();
  }

  absl::Status Find() { return client_->FindPath(PathAcross("small", 4)).status(); }

  void WaitUntilRefused() {
    absl::Status status;
    const auto is_refused = [&] {
      status = Find();
      return !status.ok();
    };
    EXPECT_TRUE(WaitUntil(is_refused, "the refusal of new calls"));
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  }

  void ExpectCleanEnd() {
    BeginExport();
    server_->Signal(SIGTERM);
    ExpectNotServing();
    WaitUntilRefused();
    const grpc::Status status = ReadExport();
    EXPECT_TRUE(status.ok()) << status.error_message();
    const int ended = server_->Wait();
    EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 0) << ended;
  }

  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<v1::MapService::Stub> maps_;
  std::unique_ptr<client::Client> client_;
  std::vector<std::unique_ptr<HealthWatch>> health_;
  BoundedContext exporting_;
  std::unique_ptr<grpc::ClientReader<v1::ExportMapResponse>> export_;
};

TEST_F(StopTest, AnswersWhatIsUnderWayAndRefusesTheRest) {
  Start({"--drain_timeout=1h"});
  ExpectCleanEnd();
}

TEST_F(StopTest, DoesSoAfterTheDelay) {
  Start({"--drain_timeout=1h", "--shutdown_delay=10ms", "--metrics_listen=127.0.0.1:0"});
  ExpectCleanEnd();
}

TEST_F(StopTest, SecondSignalEndsItAtOnce) {
  Start({"--drain_timeout=1h"});
  BeginExport();
  server_->Signal(SIGTERM);
  WaitUntilRefused();
  server_->Signal(SIGTERM);
  const int ended = server_->Wait();
  EXPECT_TRUE(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGTERM) << ended;
  EXPECT_FALSE(ReadExport().ok());
}

TEST_F(StopTest, ServesOnDuringTheDelayWhileHealthSaysNo) {
  Start({"--shutdown_delay=1h"});
  server_->Signal(SIGTERM);
  ExpectNotServing();
  const absl::Status status = Find();
  EXPECT_TRUE(status.ok()) << status;
  server_->Signal(SIGINT);
  const int ended = server_->Wait();
  EXPECT_TRUE(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGINT) << ended;
}

}  // namespace
}  // namespace waystar
