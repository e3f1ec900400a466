// A real server on a free port, and what tests ask of it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/errors.h"
#include "client/metrics.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/sync_stream.h"
#include "server/runtime/logging.h"
#include "server/runtime/options.h"
#include "server/service/server.h"
#include "server/storage/folder/folder.h"
#include "tests/service/about_map.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/server_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {

// For servers whose transfers wait while a test does something else.
runtime::Options WithPatientTransfers(runtime::Options options = {});

// What a server has counted of a method.
struct CountedCalls {
  // Calls that have ended; of methods that stream both ways, their queries or batches.
  double requests = 0;
  double open_calls = 0;
  // By code, such as "OutOfRange".
  std::map<std::string, double> failures;
};
CountedCalls CountsIn(const v1::GetMetricsResponse& metrics, const std::string& method);

class TestServer {
 public:
  // options.listen is replaced by a free port of the loopback interface, and options.queue_target by what no
  // call waits for, unless the test is about overload.
  explicit TestServer(runtime::Options options = {}, absl::Duration queue_target = absl::Hours(1),
                      const storage::OpenFolder& open_folder = storage::OpenPosixFolder);

  rpc::Server& server() { return *server_; }
  // Ends the server, and returns what rpc::Server::End does. REQUIRES: nothing is asked of it afterwards.
  absl::Status End() { return rpc::Server::End(std::move(server_)); }
  std::string target() const;
  // Never retries, so that a test sees each answer.
  client::Client& client() { return *client_; }
  // Over a connection of its own: a stream that nobody reads must not hold up another client.
  std::shared_ptr<grpc::Channel> NewChannel() const;
  // The same, and what the transport holds for a client that does not read is some 64 KiB on every machine.
  std::shared_ptr<grpc::Channel> NewNarrowChannel() const;

  // Creates a map from rows; fails the test if that does not work.
  void Create(const std::string& id, const std::vector<std::string>& rows, const v1::GridOptions& grid = {});
  // Creates a map of free cells; fails the test if that does not work.
  void CreateBlank(const std::string& id, int width, int height);
  // Returns the answer to a query; fails the test if there is none.
  v1::FindPathResponse Find(const v1::FindPathRequest& query);
  // Returns the metrics that GetMetrics returns; fails the test if there are none.
  v1::GetMetricsResponse Metrics();
  // Returns what the server has counted of a method, such as "waystar.v1.PathService/FindPath".
  CountedCalls CountsOf(const std::string& method);

 private:
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<client::Client> client_;
};

// A server whose maps outlive it in a folder of the test's own, which has "maps" and "data". There is none
// before the first Restart.
class RestartTest : public ::testing::Test {
 protected:
  RestartTest();
  ~RestartTest() override;

  void Restart();
  // Returns why another server with the options does not start.
  absl::Status StartError() const;

  std::filesystem::path folder_;
  runtime::Options options_;
  std::optional<TestServer> server_;
};

// An export that the server is known to have begun, and cannot end before it is read: larger than what the
// transport holds.
class LargeExport {
 public:
  // Creates the map "large" to export.
  explicit LargeExport(TestServer& server);

  grpc::Status ReadToTheEnd();

 private:
  std::unique_ptr<v1::MapService::Stub> stub_;
  BoundedContext context_;
  std::unique_ptr<grpc::ClientReader<v1::ExportMapResponse>> reader_;
};

// Calls a method by name with bytes that may be no message.
absl::StatusOr<grpc::ByteBuffer> CallRaw(grpc::Channel& channel, const std::string& method,
                                         const std::string& bytes);

// Returns the health of a service, such as "waystar.storage"; of the whole server for "".
::grpc::health::v1::HealthCheckResponse::ServingStatus HealthOf(const std::shared_ptr<grpc::Channel>& channel,
                                                                const std::string& service);

// Returns what is told of a map, and its latest version; fails the test if there is no such map.
v1::MapInfo InfoOf(TestServer& server, const std::string& map);
v1::Version VersionOf(TestServer& server, const std::string& map);

v1::Cell CellAt(int x, int y);
v1::Location LocationAt(int x, int y);
v1::Rectangle RectangleAt(int x, int y, int width, int height);
v1::FindPathRequest PathRequest(const std::string& map, v1::Cell start, v1::Cell goal);
// One edit that blocks or unblocks cells.
v1::UpdateMapRequest BlockRequest(const std::string& map, const std::vector<v1::Cell>& cells);

// "(0, 0) (1, 0)".
std::string Show(const google::protobuf::RepeatedPtrField<v1::Cell>& points);

// What a client sees of an error: code, reason and field.
MATCHER_P3(IsRefused, code, reason, field, "") {
  const absl::Status& status = arg.status();
  *result_listener << status.ToString() << " reason " << client::ReasonOf(status) << " field "
                   << client::FieldOf(status);
  return status.code() == code && client::ReasonOf(status) == reason && client::FieldOf(status) == field;
}

// Returns what was written to standard error while `work` ran.
template <typename Work>
std::string LogOf(Work work) {
  // Lines are written some time after Log has returned.
  runtime::FlushLog();
  ::testing::internal::CaptureStderr();
  work();
  runtime::FlushLog();
  return ::testing::internal::GetCapturedStderr();
}

}  // namespace waystar
