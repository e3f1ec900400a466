#include "tests/client/fake_server.h"

#include <condition_variable>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace waystar::testing {
namespace {

template <typename Handler, typename Request, typename Response>
grpc::Status Answer(const Handler& handler, grpc::ServerContext& context, const Request& request,
                    Response& response) {
  return handler ? handler(context, request, response)
                 : grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "not scripted");
}

}  // namespace

grpc::Status Refusal(grpc::StatusCode code, const std::string& message, const std::string& reason,
                     const std::string& field, absl::Duration retry_delay) {
  google::rpc::ErrorInfo info;
  info.set_domain("waystar");
  info.set_reason(reason);
  if (!field.empty()) {
    (*info.mutable_metadata())["field"] = field;
  }
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(message);
  static_cast<void>(status.add_details()->PackFrom(info));
  if (retry_delay > absl::ZeroDuration()) {
    google::rpc::RetryInfo retry;
    absl::Duration nanos;
    retry.mutable_retry_delay()->set_seconds(absl::IDivDuration(retry_delay, absl::Seconds(1), &nanos));
    retry.mutable_retry_delay()->set_nanos(static_cast<int>(absl::ToInt64Nanoseconds(nanos)));
    static_cast<void>(status.add_details()->PackFrom(retry));
  }
  return {code, message, status.SerializeAsString()};
}

class FakeServer::Paths : public v1::PathService::Service {
 public:
  explicit Paths(FakeServer& script) : script_(script) {}

  grpc::Status FindPath(grpc::ServerContext* context, const v1::FindPathRequest* request,
                        v1::FindPathResponse* response) override {
    return Answer(script_.find_path, *context, *request, *response);
  }

  grpc::Status TraceSearch(grpc::ServerContext* context, const v1::TraceSearchRequest* request,
                           grpc::ServerWriter<v1::TraceSearchResponse>* writer) override {
    std::vector<v1::TraceSearchResponse> messages;
    const grpc::Status status = Answer(script_.trace_search, *context, *request, messages);
    for (const auto& message : messages) {
      writer->Write(message);
    }
    return status;
  }

  grpc::Status ValidatePath(grpc::ServerContext* context, const v1::ValidatePathRequest* request,
                            v1::ValidatePathResponse* response) override {
    return Answer(script_.validate_path, *context, *request, *response);
  }

  grpc::Status FindPaths(grpc::ServerContext* context, const v1::FindPathsRequest* request,
                         v1::FindPathsResponse* response) override {
    return Answer(script_.find_paths, *context, *request, *response);
  }

  grpc::Status CheckReachability(grpc::ServerContext* context, const v1::CheckReachabilityRequest* request,
                                 v1::CheckReachabilityResponse* response) override {
    return Answer(script_.check_reachability, *context, *request, *response);
  }

  grpc::Status FindReachable(grpc::ServerContext* context, const v1::FindReachableRequest* request,
                             v1::FindReachableResponse* response) override {
    return Answer(script_.find_reachable, *context, *request, *response);
  }

  grpc::Status ComputeFlowField(grpc::ServerContext* context, const v1::ComputeFlowFieldRequest* request,
                                v1::ComputeFlowFieldResponse* response) override {
    return Answer(script_.compute_flow_field, *context, *request, *response);
  }

  grpc::Status ComputeCostMatrix(grpc::ServerContext* context, const v1::ComputeCostMatrixRequest* request,
                                 v1::ComputeCostMatrixResponse* response) override {
    return Answer(script_.compute_cost_matrix, *context, *request, *response);
  }

  grpc::Status CastRay(grpc::ServerContext* context, const v1::CastRayRequest* request,
                       v1::CastRayResponse* response) override {
    return Answer(script_.cast_ray, *context, *request, *response);
  }

  grpc::Status SampleCells(grpc::ServerContext* context, const v1::SampleCellsRequest* request,
                           v1::SampleCellsResponse* response) override {
    return Answer(script_.sample_cells, *context, *request, *response);
  }

  grpc::Status ProbeSurface(grpc::ServerContext* context, const v1::ProbeSurfaceRequest* request,
                            v1::ProbeSurfaceResponse* response) override {
    return Answer(script_.probe_surface, *context, *request, *response);
  }

  grpc::Status WatchPath(grpc::ServerContext* context, const v1::WatchPathRequest* request,
                         grpc::ServerWriter<v1::WatchPathResponse>* writer) override {
    std::vector<v1::WatchPathResponse> messages;
    const grpc::Status status = Answer(script_.watch_path, *context, *request, messages);
    for (const auto& message : messages) {
      writer->Write(message);
    }
    return status;
  }

 private:
  FakeServer& script_;
};

class FakeServer::Maps : public v1::MapService::Service {
 public:
  explicit Maps(FakeServer& script) : script_(script) {}

  grpc::Status CreateMap(grpc::ServerContext* context, const v1::CreateMapRequest* request,
                         v1::CreateMapResponse* response) override {
    return Answer(script_.create_map, *context, *request, *response);
  }

  grpc::Status GetMap(grpc::ServerContext* context, const v1::GetMapRequest* request,
                      v1::GetMapResponse* response) override {
    return Answer(script_.get_map, *context, *request, *response);
  }

  grpc::Status ListMaps(grpc::ServerContext* context, const v1::ListMapsRequest* request,
                        v1::ListMapsResponse* response) override {
    return Answer(script_.list_maps, *context, *request, *response);
  }

  grpc::Status DeleteMap(grpc::ServerContext* context, const v1::DeleteMapRequest* request,
                         v1::DeleteMapResponse* response) override {
    return Answer(script_.delete_map, *context, *request, *response);
  }

  grpc::Status UpdateObstacles(grpc::ServerContext* context, const v1::UpdateObstaclesRequest* request,
                               v1::UpdateObstaclesResponse* response) override {
    return Answer(script_.update_obstacles, *context, *request, *response);
  }

  grpc::Status ListObstacles(grpc::ServerContext* context, const v1::ListObstaclesRequest* request,
                             v1::ListObstaclesResponse* response) override {
    return Answer(script_.list_obstacles, *context, *request, *response);
  }
  grpc::Status ListPortals(grpc::ServerContext* context, const v1::ListPortalsRequest* request,
                           v1::ListPortalsResponse* response) override {
    return Answer(script_.list_portals, *context, *request, *response);
  }

  grpc::Status StreamObstacleUpdates(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::StreamObstacleUpdatesResponse, v1::StreamObstacleUpdatesRequest>* stream)
      override {
    v1::StreamObstacleUpdatesRequest request;
    grpc::Status status;
    while (status.ok() && stream->Read(&request)) {
      v1::StreamObstacleUpdatesResponse response;
      status = Answer(script_.stream_obstacle_updates, *context, request, response);
      if (status.ok()) {
        stream->Write(response);
      }
    }
    return status;
  }

  grpc::Status WatchMap(grpc::ServerContext* context, const v1::WatchMapRequest* request,
                        grpc::ServerWriter<v1::WatchMapResponse>* writer) override {
    std::vector<v1::WatchMapResponse> events;
    const grpc::Status status = Answer(script_.watch_map, *context, *request, events);
    for (const auto& event : events) {
      writer->Write(event);
    }
    return status;
  }

  grpc::Status ImportMap(grpc::ServerContext* context, grpc::ServerReader<v1::ImportMapRequest>* reader,
                         v1::ImportMapResponse* response) override {
    std::vector<v1::ImportMapRequest> parts;
    v1::ImportMapRequest part;
    while (reader->Read(&part)) {
      parts.push_back(part);
    }
    return Answer(script_.import_map, *context, parts, *response);
  }

  grpc::Status ExportMap(grpc::ServerContext* context, const v1::ExportMapRequest* request,
                         grpc::ServerWriter<v1::ExportMapResponse>* writer) override {
    std::vector<v1::ExportMapResponse> parts;
    const grpc::Status status = Answer(script_.export_map, *context, *request, parts);
    for (const auto& part : parts) {
      writer->Write(part);
    }
    return status;
  }

 private:
  FakeServer& script_;
};

class FakeServer::Health : public grpc::health::v1::Health::Service {
 public:
  explicit Health(FakeServer& script) : script_(script) {}

  grpc::Status Check(grpc::ServerContext* context, const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override {
    return Answer(script_.check_health, *context, *request, *response);
  }

  // Until Stop.
  grpc::Status Watch(grpc::ServerContext* /*context*/,
                     const grpc::health::v1::HealthCheckRequest* /*request*/,
                     grpc::ServerWriter<grpc::health::v1::HealthCheckResponse>* writer) override {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!is_stopped_) {
      const bool told = is_serving_;
      grpc::health::v1::HealthCheckResponse response;
      response.set_status(told ? grpc::health::v1::HealthCheckResponse::SERVING
                               : grpc::health::v1::HealthCheckResponse::NOT_SERVING);
      lock.unlock();
      writer->Write(response);
      lock.lock();
      changed_.wait(lock, [&] { return is_stopped_ || is_serving_ != told; });
    }
    return grpc::Status::OK;
  }

  void SetServing(bool is_serving) {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_serving_ = is_serving;
    changed_.notify_all();
  }

  void Stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }

 private:
  FakeServer& script_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_serving_ = true;
  bool is_stopped_ = false;
};

class FakeServer::ServerItself : public v1::ServerService::Service {
 public:
  explicit ServerItself(FakeServer& script) : script_(script) {}

  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest* request,
                             v1::GetServerInfoResponse* response) override {
    return Answer(script_.get_server_info, *context, *request, *response);
  }

  grpc::Status SetLogLevel(grpc::ServerContext* context, const v1::SetLogLevelRequest* request,
                           v1::SetLogLevelResponse* response) override {
    return Answer(script_.set_log_level, *context, *request, *response);
  }

  grpc::Status GetServerStatistics(grpc::ServerContext* context,
                                   const v1::GetServerStatisticsRequest* request,
                                   v1::GetServerStatisticsResponse* response) override {
    return Answer(script_.get_server_statistics, *context, *request, *response);
  }

  grpc::Status ListServers(grpc::ServerContext* context, const v1::ListServersRequest* request,
                           v1::ListServersResponse* response) override {
    return Answer(script_.list_servers, *context, *request, *response);
  }

 private:
  FakeServer& script_;
};

FakeServer::FakeServer(const std::shared_ptr<grpc::ServerCredentials>& credentials)
    : paths_(std::make_unique<Paths>(*this)),
      maps_(std::make_unique<Maps>(*this)),
      server_itself_(std::make_unique<ServerItself>(*this)),
      health_(std::make_unique<Health>(*this)) {
  int port = 0;
  grpc::ServerBuilder builder;
  // Its port is its own: a server of another test that comes back to a port must not share it.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort("127.0.0.1:0", credentials, &port);
  builder.RegisterService(paths_.get());
  builder.RegisterService(maps_.get());
  builder.RegisterService(server_itself_.get());
  builder.RegisterService(health_.get());
  server_ = builder.BuildAndStart();
  target_ = absl::StrCat("127.0.0.1:", port);
}

FakeServer::~FakeServer() {
  health_->Stop();
  server_->Shutdown();
}

void FakeServer::SetServing(bool is_serving) { health_->SetServing(is_serving); }

void FakeServer::ServeMap(v1::MapInfo info, const std::vector<std::string>& rows) {
  info.mutable_grid()->set_width(static_cast<int>(rows.at(0).size()));
  info.mutable_grid()->set_height(static_cast<int>(rows.size()));
  const std::string text = absl::StrCat("connectivity 8\nmap\n", absl::StrJoin(rows, "\n"), "\n");
  export_map = [info, text](auto&, const auto&, std::vector<v1::ExportMapResponse>& parts) {
    parts.resize(2);
    *parts[0].mutable_header()->mutable_info() = info;
    parts[0].mutable_header()->set_size(static_cast<int64_t>(text.size()));
    parts[1].set_chunk(text);
    return grpc::Status::OK;
  };
}

}  // namespace waystar::testing
