#include "tests/client/fake_server.h"

#include <condition_variable>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/testing/patience.h"

namespace waystar {
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

std::string TokenOf(const grpc::ServerContext& context) {
  const auto token = context.client_metadata().find("authorization");
  return token == context.client_metadata().end() ? "none"
                                                  : std::string(token->second.data(), token->second.size());
}

std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    const Authority& authority, grpc_ssl_client_certificate_request_type wants_certificate) {
  const Identity own = authority.Issue("waystar.test");
  grpc::SslServerCredentialsOptions options(wants_certificate);
  options.pem_root_certs = authority.cert();
  options.pem_key_cert_pairs.push_back({own.key, own.cert});
  return grpc::SslServerCredentials(options);
}

// Define a method that answers with a message, or with a stream of messages, as its handler does.
#define ANSWER(Method, handler)                                                         \
  grpc::Status Method(grpc::ServerContext* context, const v1::Method##Request* request, \
                      v1::Method##Response* response) override {                        \
    return Answer(script_.handler, *context, *request, *response);                      \
  }
#define STREAM(Method, handler)                                                         \
  grpc::Status Method(grpc::ServerContext* context, const v1::Method##Request* request, \
                      grpc::ServerWriter<v1::Method##Response>* writer) override {      \
    std::vector<v1::Method##Response> messages;                                         \
    const grpc::Status status = Answer(script_.handler, *context, *request, messages);  \
    for (const auto& message : messages) {                                              \
      writer->Write(message);                                                           \
    }                                                                                   \
    return status;                                                                      \
  }

class FakeServer::Paths : public v1::PathService::Service {
 public:
  explicit Paths(FakeServer& script) : script_(script) {}

  ANSWER(FindPath, find_path)
  ANSWER(ValidatePaths, validate_paths)
  ANSWER(FindPaths, find_paths)
  ANSWER(CheckReachability, check_reachability)
  ANSWER(FindReachable, find_reachable)
  ANSWER(ComputeFlowField, compute_flow_field)
  ANSWER(ComputeCostMatrix, compute_cost_matrix)
  ANSWER(CastRay, cast_ray)
  ANSWER(CheckMoves, check_moves)
  ANSWER(ExplainPath, explain_path)
  ANSWER(SamplePlaces, sample_places)
  ANSWER(ProbeSurface, probe_surface)
 private:
  FakeServer& script_;
};

class FakeServer::Pictures : public v1::PictureService::Service {
 public:
  explicit Pictures(FakeServer& script) : script_(script) {}

  STREAM(TraceSearch, trace_search)
  ANSWER(RenderMap, render_map)

 private:
  FakeServer& script_;
};

class FakeServer::Maps : public v1::MapService::Service {
 public:
  explicit Maps(FakeServer& script) : script_(script) {}

  ANSWER(CreateMap, create_map)
  ANSWER(GetMap, get_map)
  ANSWER(ListMaps, list_maps)
  ANSWER(DeleteMap, delete_map)
  ANSWER(UpdateMap, update_map)
  ANSWER(ListObstacles, list_obstacles)
  ANSWER(ListPortals, list_portals)
  grpc::Status StreamUpdates(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::StreamUpdatesResponse, v1::StreamUpdatesRequest>* stream) override {
    v1::StreamUpdatesRequest request;
    grpc::Status status;
    while (status.ok() && stream->Read(&request)) {
      v1::StreamUpdatesResponse response;
      status = Answer(script_.stream_updates, *context, request, response);
      if (status.ok()) {
        stream->Write(response);
      }
    }
    return status;
  }

  STREAM(WatchMap, watch_map)
  grpc::Status ImportMap(grpc::ServerContext* context, grpc::ServerReader<v1::ImportMapRequest>* reader,
                         v1::ImportMapResponse* response) override {
    std::vector<v1::ImportMapRequest> parts;
    v1::ImportMapRequest part;
    while (reader->Read(&part)) {
      parts.push_back(part);
    }
    return Answer(script_.import_map, *context, parts, *response);
  }

  STREAM(ExportMap, export_map)
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

  ANSWER(GetServerInfo, get_server_info)
  ANSWER(SetLogLevel, set_log_level)
  ANSWER(GetMetrics, get_metrics)
  ANSWER(ListServers, list_servers)
 private:
  FakeServer& script_;
};

FakeServer::FakeServer(const std::shared_ptr<grpc::ServerCredentials>& credentials)
    : paths_(std::make_unique<Paths>(*this)),
      pictures_(std::make_unique<Pictures>(*this)),
      maps_(std::make_unique<Maps>(*this)),
      server_itself_(std::make_unique<ServerItself>(*this)),
      health_(std::make_unique<Health>(*this)) {
  int port = 0;
  grpc::ServerBuilder builder;
  // Its port is its own: a server of another test that comes back to a port must not share it.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort("127.0.0.1:0", credentials, &port);
  builder.RegisterService(paths_.get());
  builder.RegisterService(pictures_.get());
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

client::Options FakeServer::ClientOptions() const {
  return {
      .target = target_, .timeout = kPatience, .transfer_timeout = kPatience, .stream_timeout = kPatience};
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
  render_map = [this, info, rows](auto& context, const v1::RenderMapRequest& request,
                                  v1::RenderMapResponse& response) {
    *response.mutable_version() = info.version();
    const bool has_answer = request.has_query() && find_path != nullptr;
    if (has_answer) {
      const grpc::Status status = find_path(context, request.query(), *response.mutable_answer());
      if (!status.ok()) {
        return status;
      }
    }
    const int title = has_answer ? 2 : 1;
    response.set_image(
        absl::StrCat(has_answer ? "path\n" : "", "title\n  0\n0 ", absl::StrJoin(rows, "\n  "), "\n"));
    v1::PicturePlacement& placement = *response.mutable_placement();
    placement.set_width(info.grid().width() + 2);
    placement.set_height(info.grid().height() + title + 1);
    placement.mutable_region()->set_width(info.grid().width());
    placement.mutable_region()->set_height(info.grid().height());
    placement.mutable_zero()->set_x(2.5);
    placement.mutable_zero()->set_y(title + 1.5);
    placement.mutable_x_step()->set_x(1);
    placement.mutable_y_step()->set_y(1);
    return grpc::Status::OK;
  };
}

}  // namespace waystar
