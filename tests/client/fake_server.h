#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/server_credentials.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/connection.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/testing/certificates.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/picture_service.grpc.pb.h"
#include "waystar/v1/server_service.grpc.pb.h"

namespace waystar {

// A refusal as a Waystar server sends it. With `retry_delay` one that passes by itself.
grpc::Status Refusal(grpc::StatusCode code, const std::string& message, const std::string& reason,
                     const std::string& field = "", absl::Duration retry_delay = absl::ZeroDuration());

// The token that a call bears, as the server sees it: "none" without one.
std::string TokenOf(const grpc::ServerContext& context);

// Credentials of a server that proves by this authority that it is waystar.test.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    const Authority& authority, grpc_ssl_client_certificate_request_type wants_certificate);

// A server on a free port of this machine that answers as the test says. What is not scripted is
// UNIMPLEMENTED, but for watches of its health. The script must not change while calls run.
class FakeServer {
 public:
  template <typename Request, typename Response>
  using Handler = std::function<grpc::Status(grpc::ServerContext&, const Request&, Response&)>;

  explicit FakeServer(
      const std::shared_ptr<grpc::ServerCredentials>& credentials = grpc::InsecureServerCredentials());
  ~FakeServer();

  const std::string& target() const { return target_; }
  // Options of a client of this server, with the patience of tests for all calls.
  client::Options ClientOptions() const;

  // What it tells those who watch its health; at first that it is well.
  void SetServing(bool is_serving);

  Handler<v1::FindPathRequest, v1::FindPathResponse> find_path;
  Handler<v1::TraceSearchRequest, std::vector<v1::TraceSearchResponse>> trace_search;
  Handler<v1::RenderMapRequest, v1::RenderMapResponse> render_map;
  Handler<v1::ValidatePathsRequest, v1::ValidatePathsResponse> validate_paths;
  Handler<v1::FindPathsRequest, v1::FindPathsResponse> find_paths;
  Handler<v1::CheckReachabilityRequest, v1::CheckReachabilityResponse> check_reachability;
  Handler<v1::FindReachableRequest, v1::FindReachableResponse> find_reachable;
  Handler<v1::ComputeFlowFieldRequest, v1::ComputeFlowFieldResponse> compute_flow_field;
  Handler<v1::ComputeCostMatrixRequest, v1::ComputeCostMatrixResponse> compute_cost_matrix;
  Handler<v1::CastRayRequest, v1::CastRayResponse> cast_ray;
  Handler<v1::CheckMovesRequest, v1::CheckMovesResponse> check_moves;
  Handler<v1::ExplainPathRequest, v1::ExplainPathResponse> explain_path;
  Handler<v1::SamplePlacesRequest, v1::SamplePlacesResponse> sample_places;
  Handler<v1::ProbeSurfaceRequest, v1::ProbeSurfaceResponse> probe_surface;
  Handler<v1::CreateMapRequest, v1::CreateMapResponse> create_map;
  Handler<v1::GetMapRequest, v1::GetMapResponse> get_map;
  Handler<v1::ListMapsRequest, v1::ListMapsResponse> list_maps;
  Handler<v1::DeleteMapRequest, v1::DeleteMapResponse> delete_map;
  Handler<v1::UpdateMapRequest, v1::UpdateMapResponse> update_map;
  Handler<v1::ListObstaclesRequest, v1::ListObstaclesResponse> list_obstacles;
  Handler<v1::ListPortalsRequest, v1::ListPortalsResponse> list_portals;
  // Called for each message of the stream; an error ends it.
  Handler<v1::StreamUpdatesRequest, v1::StreamUpdatesResponse> stream_updates;
  Handler<v1::WatchMapRequest, std::vector<v1::WatchMapResponse>> watch_map;
  Handler<std::vector<v1::ImportMapRequest>, v1::ImportMapResponse> import_map;
  Handler<v1::ExportMapRequest, std::vector<v1::ExportMapResponse>> export_map;
  Handler<v1::GetServerInfoRequest, v1::GetServerInfoResponse> get_server_info;
  Handler<v1::SetLogLevelRequest, v1::SetLogLevelResponse> set_log_level;
  Handler<v1::GetMetricsRequest, v1::GetMetricsResponse> get_metrics;
  Handler<v1::ListServersRequest, v1::ListServersResponse> list_servers;
  Handler<grpc::health::v1::HealthCheckRequest, grpc::health::v1::HealthCheckResponse> check_health;

  // Scripts export_map: `rows` of text, and `info` with its width and height set to theirs; and render_map,
  // which draws them under a title, with column numbers, and no legend.
  void ServeMap(v1::MapInfo info, const std::vector<std::string>& rows);

 private:
  class Paths;
  class Pictures;
  class Maps;
  class ServerItself;
  class Health;

  std::unique_ptr<Paths> paths_;
  std::unique_ptr<Pictures> pictures_;
  std::unique_ptr<Maps> maps_;
  std::unique_ptr<ServerItself> server_itself_;
  std::unique_ptr<Health> health_;
  std::string target_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace waystar
