#include "server/rpc/server.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "grpc/health/v1/health.pb.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "server/base/clock.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/net/descriptor_limit.h"
#include "server/net/listener.h"
#include "server/rpc/access/exposure.h"
#include "server/rpc/access/failed_tokens.h"
#include "server/rpc/access/tls_credentials.h"
#include "server/rpc/admission/deferred_task.h"
#include "server/rpc/connections.h"
#include "server/rpc/telemetry/call_interceptor.h"
#include "server/rpc/telemetry/library_log.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

absl::Status InFile(const absl::Status& status, const core::MapFile& file) {
  return {status.code(), absl::StrCat(file.path.string(), ": ", status.message())};
}

void LogLoaded(const core::MapSnapshot& map, const core::MapFile& file) {
  if (map.is_graph()) {
    runtime::Log(runtime::LogLevel::kInfo, "map_loaded",
                 {{"map", map.id},
                  {"file", file.path.string()},
                  {"nodes", map.graph().node_count()},
                  {"edges", map.graph().arc_count()}});
    return;
  }
  runtime::Log(runtime::LogLevel::kInfo, "map_loaded",
               {{"map", map.id},
                {"file", file.path.string()},
                {"width", map.grid().width()},
                {"height", map.grid().height()}});
}

// Lets calls come in together under overload, where the queue may stand for as long anyhow.
constexpr absl::Duration kMostPause = absl::Milliseconds(2);

// A server that stops goes on refusing calls for this long: clients that watch its health turn to others, and
// repeat what they sent meanwhile. Calls on a connection that is being closed are CANCELLED by the library,
// which nobody repeats.
constexpr absl::Duration kLastRefusals = absl::Milliseconds(250);

// The most that the message of a watch takes beside the answer in it.
constexpr std::size_t kWatchEnvelopeBytes = 32;

core::StoreOptions StoreOptionsOf(const runtime::Options& options, core::Defer defer) {
  core::StoreOptions store;
  store.max_maps = options.max_maps;
  if (options.max_maps_memory_mib > 0) {
    store.max_maps_bytes = options.max_maps_memory_mib << 20;
  }
  store.max_index_bytes = options.index_mib << 20;
  store.max_waiting_batches = options.max_waiting_updates;
  store.max_waiting_bytes = options.max_waiting_updates_mib << 20;
  store.defer = std::move(defer);
  store.max_history_commits = options.max_history_commits;
  store.max_history_bytes = options.max_history_mib << 20;
  store.request_ids.time = options.request_id_retention;
  store.request_ids.max_bytes = options.max_request_ids_mib << 20;
  store.max_old_snapshot_bytes = options.old_snapshot_mib << 20;
  return store;
}

TransferTimes TimesOf(const runtime::Options& options) {
  return {.timeout = options.transfer_timeout, .stall = options.transfer_stall_timeout};
}

net::ConnectionLimits LimitsOf(const runtime::ConnectionOptions& options) {
  const std::size_t all = net::MaxConnections(options.max_connections);
  return {.max_connections = all,
          .max_network_connections =
              options.max_address_connections > 0 ? options.max_address_connections : (all + 1) / 2};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const runtime::Options& options) {
  RouteLibraryLog();
  auto server = std::unique_ptr<Server>(new Server(options));
  if (!options.maps_dir.empty()) {
    WAYSTAR_RETURN_IF_ERROR(server->LoadMaps(options));
  }
  WAYSTAR_RETURN_IF_ERROR(server->Secure(options));
  WAYSTAR_RETURN_IF_ERROR(server->Listen(options));
  if (!options.metrics_listen.empty()) {
    WAYSTAR_RETURN_IF_ERROR(server->ServeMetrics(options.metrics_listen));
  }
  server->SetHealthy(true);
  return server;
}

Server::Server(const runtime::Options& options)
    : search_metrics_(options.metrics_listen.empty() ? nullptr : std::make_unique<SearchMetrics>()),
      slow_queries_(options.slow_query),
      path_watches_(store_, executor_,
                    static_cast<std::size_t>(options.max_message_bytes) - kWatchEnvelopeBytes,
                    {.metrics = search_metrics_.get(), .slow_queries = &slow_queries_}),
      store_(StoreOptionsOf(options,
                            [this](std::function<void()> task) {
                              DeferredTask::Submit(executor_, std::move(task));
                              return true;
                            })),
      obstacle_expirer_(store_, Clock::Steady()),
      index_builder_(store_, {.quiet_time = options.static_index_quiet_time,
                              .max_static_bytes = options.static_index_mib << 20}),
      client_calls_(options.max_client_calls),
      call_memory_(options.max_call_memory_mib << 20, options.max_connection_memory_mib << 20),
      arrival_pause_(absl::ToChronoNanoseconds(std::min(options.queue_target, kMostPause))),
      transfer_slots_(options.max_transfers, ErrorReason::kTransfersBusy, "imports, exports and traces run"),
      watch_slots_(options.max_watches, ErrorReason::kTooManyWatches, "watches are open"),
      context_{.gate = gate_,
               .access = access_,
               .statistics = call_statistics_,
               .client_calls = client_calls_,
               .memory = call_memory_,
               .arrival_pause = arrival_pause_,
               .executor = executor_,
               .transfers = transfer_slots_,
               .watches = watch_slots_},
      store_metrics_(store_, transfer_slots_, watch_slots_),
      map_service_(context_, store_, map_watches_,
                   {.transfer = {.max_import_bytes = options.max_import_bytes,
                                 .max_map_side = options.max_map_side,
                                 .times = TimesOf(options)},
                    .max_message_bytes = static_cast<std::size_t>(options.max_message_bytes),
                    .stream_window = options.stream_window,
                    .update_metrics = &update_metrics_,
                    .slow_updates = &slow_queries_}),
      path_service_(context_, store_, path_watches_,
                    {.max_response_bytes = static_cast<std::size_t>(options.max_message_bytes),
                     .trace_times = TimesOf(options),
                     .stream_window = options.stream_window},
                    {.metrics = search_metrics_.get(),
                     .slow_queries = options.slow_query > absl::ZeroDuration() ? &slow_queries_ : nullptr}),
      server_statistics_(store_, context_),
      server_service_(context_, store_, server_statistics_, options),
      executor_({.workers = options.workers,
                 .max_queued = options.max_queued,
                 .max_queue_time = options.max_queue_time,
                 .queue_target = options.queue_target,
                 .scratch_bytes = options.scratch_mib << 20,
                 .arrival_pause = &arrival_pause_}),
      token_file_watcher_(access_, gate_),
      call_metrics_(call_statistics_),
      queue_metrics_(executor_, client_calls_) {
  store_.AddListener(&map_watches_);
  store_.AddListener(&path_watches_);
  store_.AddListener(&index_builder_);
  store_.AddListener(&update_metrics_);
}

Server::~Server() {
  Stop(absl::ZeroDuration());
  // Its thread may hand work to the executor, and what the executor still works at may call it.
  obstacle_expirer_.Stop();
}

absl::Status Server::LoadMaps(const runtime::Options& options) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::MapFile> files, core::ListMapFiles(options.maps_dir));
  for (const core::MapFile& file : files) {
    const absl::Status status = LoadFile(file, options.max_map_side);
    // That there is no room for a map is not the file's fault.
    if (!status.ok() && (!options.skip_damaged_maps || absl::IsResourceExhausted(status))) {
      return status;
    }
    if (!status.ok()) {
      runtime::Log(runtime::LogLevel::kError, "map_skipped", {{"error", status.message()}});
    }
  }
  return absl::OkStatus();
}

absl::Status Server::LoadFile(const core::MapFile& file, int max_side) {
  absl::StatusOr<std::vector<core::LoadedMap>> maps = core::LoadMapFile(file, max_side);
  if (!maps.ok()) {
    return InFile(maps.status(), file);
  }
  for (core::LoadedMap& map : *maps) {
    const auto created =
        std::visit([&](auto& kind) { return store_.Create(map.id, std::move(kind), absl::Now()); }, map.map);
    if (!created.ok()) {
      return InFile(created.status(), file);
    }
    LogLoaded(**created, file);
  }
  return absl::OkStatus();
}

absl::Status Server::Secure(const runtime::Options& options) {
  if (!options.tokens_file.empty()) {
    WAYSTAR_RETURN_IF_ERROR(token_file_watcher_.Start(options.tokens_file));
  }
  if (options.tls_cert.empty()) {
    credentials_ = grpc::InsecureServerCredentials();
  } else {
    WAYSTAR_ASSIGN_OR_RETURN(credentials_, MakeTlsCredentials({.cert = options.tls_cert,
                                                               .key = options.tls_key,
                                                               .client_ca = options.tls_client_ca}));
  }
  const std::string library_version = grpc::Version();
  const Listening listening{.address = options.listen,
                            .has_tls = !options.tls_cert.empty(),
                            .wants_tokens = !options.tokens_file.empty(),
                            .wants_certificates = !options.tls_client_ca.empty(),
                            .library_version = library_version};
  for (const std::string& door : OpenDoors(listening)) {
    runtime::Log(runtime::LogLevel::kWarning, "open_to_the_network", {{"warning", door}});
  }
  return absl::OkStatus();
}

absl::Status Server::Listen(const runtime::Options& options) {
  absl::StatusOr<net::Listener> listener =
      net::Listener::Open(options.listen, options.connections.keepalive_timeout);
  if (!listener.ok()) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", options.listen, ": ", listener.status().message()));
  }
  // Distributions build Abseil so that each lock of the RPC library looks for deadlocks.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  grpc::EnableDefaultHealthCheckService(true);
  // The RPC library serves health without its descriptor; linked in, reflection can describe it to grpcurl.
  google::protobuf::LinkMessageReflection<grpc::health::v1::HealthCheckRequest>();
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  rpc_entrance_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials_);
  builder.SetMaxReceiveMessageSize(options.max_message_bytes);
  LimitConnections(options.connections, builder);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(MakeCallInterceptors(options.metrics_listen.empty() ? nullptr : &call_statistics_));
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  builder.RegisterService(&map_service_);
  builder.RegisterService(&path_service_);
  builder.RegisterService(&server_service_);
  gate_.Open();
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    return absl::InternalError("the RPC library does not start");
  }
  door_ = std::make_unique<net::Door>(
      *std::move(listener), LimitsOf(options.connections),
      [this](int socket, net::Descriptor connection) { EnterRpc(socket, std::move(connection)); });
  server_statistics_.SetDoor(*door_);
  access_.SetCloser([this](absl::string_view peer) { TurnOut(peer); });
  return absl::OkStatus();
}

void Server::TurnOut(absl::string_view peer) {
  int port = 0;
  if (absl::SimpleAtoi(peer.substr(peer.rfind(':') + 1), &port)) {
    door_->TurnOut(NetworkOf(peer), static_cast<std::uint16_t>(port));
  }
}

void Server::EnterRpc(int listener, net::Descriptor connection) {
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters entering;
  entering.listener_fd = listener;
  entering.fd = connection.Release();
  rpc_entrance_->HandleNewConnection(&entering);
}

absl::Status Server::ServeMetrics(const std::string& listen) {
  if (!IsLocalAddress(listen)) {
    runtime::Log(runtime::LogLevel::kWarning, "open_to_the_network",
                 {{"warning", absl::StrCat("Whoever reaches ", listen,
                                           " can read the metrics, with the names of the largest maps. An "
                                           "address that only Prometheus reaches closes this.")}});
  }
  WAYSTAR_ASSIGN_OR_RETURN(
      metrics_server_,
      net::MetricsServer::Start(listen, {&process_metrics_, door_.get(), &access_, &call_metrics_,
                                         &call_memory_, search_metrics_.get(), &slow_queries_,
                                         &update_metrics_, &queue_metrics_, &store_metrics_}));
  return absl::OkStatus();
}

void Server::SetHealthy(bool healthy) {
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  health->SetServingStatus(healthy);
  health->SetServingStatus(v1::MapService::service_full_name(), healthy);
  health->SetServingStatus(v1::PathService::service_full_name(), healthy);
  health->SetServingStatus(v1::ServerService::service_full_name(), healthy);
}

void Server::Stop(absl::Duration drain_timeout, absl::Duration patience) {
  if (server_ == nullptr) {
    return;
  }
  door_->Close();
  SetHealthy(false);
  const auto now = std::chrono::steady_clock::now();
  gate_.Close(now + absl::ToChronoNanoseconds(patience), now + absl::ToChronoNanoseconds(drain_timeout));
  absl::SleepFor(std::min(drain_timeout, kLastRefusals));
  // What is left is over its time, or a watch of the health service, which would never end by itself.
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_.reset();
}

}  // namespace waystar::rpc
