#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "client/connection.h"
#include "client/errors.h"
#include "client/options.h"
#include "client/retry.h"
#include "client/streams.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/server_service.grpc.pb.h"

namespace waystar::client {

// A map as a file.
struct ExportedMap {
  v1::ExportMapHeader header;
  std::string bytes;
};

// Progress of a transfer: is called with how many bytes of the file have gone and how many there are. It may
// be null.
using TransferProgress = std::function<void(int64_t done, int64_t size)>;

// Client of a Waystar server, or of several with the same maps. It connects when it first needs to, and again
// whenever the connection breaks.
//
// Each call blocks until it is answered, fails, or has taken its timeout (DEADLINE_EXCEEDED). A call that the
// server refuses returns the code and the message of the server; ReasonOf() and FieldOf() tell its reason and
// field. A server that cannot be reached is UNAVAILABLE.
//
// Calls that only read are retried when the server is not available (UNAVAILABLE) and, except for TraceSearch
// and ExportMap, when it is too busy for a moment (RESOURCE_EXHAUSTED with a delay): at most three times for
// either cause, within the timeout, and not while most calls fail. So is UpdateObstacles with a request_id.
// Any other call that changes a map and ends with UNAVAILABLE or DEADLINE_EXCEEDED may or may not have been
// carried out.
//
// Streams must not outlive the client. The RPCs and their errors are described in waystar/v1/*.proto.
//
// Thread safety: all calls may be made from any thread at the same time.
class Client {
 public:
  explicit Client(const Options& options = {});

  // INVALID_ARGUMENT if the options make no sense or name files that cannot be read. All calls fail with it
  // then.
  const absl::Status& status() const { return connection_.status(); }

  absl::StatusOr<v1::FindPathResponse> FindPath(const v1::FindPathRequest& request) const;

  // Calls `on_event` with each event, in order, while the answer arrives.
  // Errors: DATA_LOSS if the server ends the trace without a result.
  absl::StatusOr<v1::TraceSearchResult> TraceSearch(
      const v1::TraceSearchRequest& request, absl::FunctionRef<void(const v1::SearchEvent&)> on_event) const;

  absl::StatusOr<v1::ValidatePathResponse> ValidatePath(const v1::ValidatePathRequest& request) const;
  std::unique_ptr<PathWatch> WatchPath(const v1::WatchPathRequest& request) const;

  // These ask about many starts or goals at once, and about cells.
  absl::StatusOr<v1::FindPathsResponse> FindPaths(const v1::FindPathsRequest& request) const;
  absl::StatusOr<v1::ComputeCostMatrixResponse> ComputeCostMatrix(
      const v1::ComputeCostMatrixRequest& request) const;
  absl::StatusOr<v1::FindReachableResponse> FindReachable(const v1::FindReachableRequest& request) const;
  absl::StatusOr<v1::ComputeFlowFieldResponse> ComputeFlowField(
      const v1::ComputeFlowFieldRequest& request) const;
  absl::StatusOr<v1::CheckReachabilityResponse> CheckReachability(
      const v1::CheckReachabilityRequest& request) const;
  absl::StatusOr<v1::CastRayResponse> CastRay(const v1::CastRayRequest& request) const;
  absl::StatusOr<v1::SampleCellsResponse> SampleCells(const v1::SampleCellsRequest& request) const;

  absl::StatusOr<v1::CreateMapResponse> CreateMap(const v1::CreateMapRequest& request) const;
  absl::StatusOr<v1::GetMapResponse> GetMap(const v1::GetMapRequest& request) const;
  // Returns one page.
  absl::StatusOr<v1::ListMapsResponse> ListMaps(const v1::ListMapsRequest& request) const;
  absl::StatusOr<v1::DeleteMapResponse> DeleteMap(const v1::DeleteMapRequest& request) const;
  absl::StatusOr<v1::UpdateObstaclesResponse> UpdateObstacles(
      const v1::UpdateObstaclesRequest& request) const;

  std::unique_ptr<UpdateStream> StreamObstacleUpdates() const;
  std::unique_ptr<PathStream> StreamFindPath() const;
  // Returns one page.
  absl::StatusOr<v1::ListObstaclesResponse> ListObstacles(const v1::ListObstaclesRequest& request) const;
  // Returns one page.
  absl::StatusOr<v1::ListPortalsResponse> ListPortals(const v1::ListPortalsRequest& request) const;
  // Returns one page.
  absl::StatusOr<v1::ListNodesResponse> ListNodes(const v1::ListNodesRequest& request) const;
  absl::StatusOr<v1::RenderMapResponse> RenderMap(const v1::RenderMapRequest& request) const;
  std::unique_ptr<MapWatch> WatchMap(const v1::WatchMapRequest& request) const;

  // Sends `bytes` in chunks. header.size is set to their number.
  absl::StatusOr<v1::ImportMapResponse> ImportMap(v1::ImportMapHeader header, std::string_view bytes) const;
  // Sends what is left of `file`, and keeps one chunk of it in memory at a time. REQUIRES: `file` can seek.
  // Errors: DATA_LOSS if the file cannot be read to the end.
  absl::StatusOr<v1::ImportMapResponse> ImportMap(v1::ImportMapHeader header, std::istream& file,
                                                  const TransferProgress& tell = nullptr) const;

  // Errors: DATA_LOSS if the server sends another number of bytes than it promised.
  absl::StatusOr<ExportedMap> ExportMap(const v1::ExportMapRequest& request,
                                        const TransferProgress& tell = nullptr) const;

  // These describe the server, and set which lines it logs.
  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo(const v1::GetServerInfoRequest& request = {}) const;
  absl::StatusOr<v1::SetLogLevelResponse> SetLogLevel(const v1::SetLogLevelRequest& request) const;
  // Tells what the server has done since it started and what it is doing now.
  absl::StatusOr<v1::GetServerStatisticsResponse> GetServerStatistics(
      const v1::GetServerStatisticsRequest& request = {}) const;

  // Tells how the server says it is, by the standard health protocol.
  absl::StatusOr<grpc::health::v1::HealthCheckResponse> CheckHealth(
      const grpc::health::v1::HealthCheckRequest& request) const;

 private:
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(const std::unique_ptr<Stub>& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request, Repeatable repeatable) const;

  const Options options_;
  const Connection connection_;
  mutable RetryBudget retry_budget_;
  std::unique_ptr<v1::PathService::StubInterface> paths_;
  std::unique_ptr<v1::MapService::StubInterface> maps_;
  std::unique_ptr<v1::ServerService::StubInterface> server_;
  std::unique_ptr<grpc::health::v1::Health::StubInterface> health_;
};

}  // namespace waystar::client
