#include "server/service/server_parts.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "google/protobuf/message.h"
#include "grpc/compression.h"
#include "grpc/grpc.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/resource_quota.h"
#include "server/base/error.h"
#include "server/runtime/logging.h"
#include "server/service/auth/exposure.h"
#include "server/service/auth/failed_tokens.h"
#include "server/service/metrics/library_log.h"
#include "server/service/transport/net/listener.h"

namespace waystar::rpc {
namespace {

// A stopping server continues to reject calls for this long, so that clients that watch its health move to
// others and resend their calls. The library ends calls on a closing connection with CANCELLED, which nobody
// retries.
constexpr absl::Duration kLastRefusals = absl::Milliseconds(250);
// Time for HTTP clients to read the answers of ended calls.
constexpr absl::Duration kLastAnswers = absl::Seconds(2);

// Health service name that reports whether changes can be made durable.
constexpr char kStorageHealth[] = "waystar.storage";

// Places for calls without a valid token, which anyone can open.
// An address may have at least as many pending requests as a connection may have calls.
constexpr std::size_t kAwaitedOfStrangers = 2048;
constexpr int kHealthWatches = 1024;
// Each waiter holds the messages of its call, and every commit scans all of them.
constexpr std::size_t kVersionWaits = 1024;
constexpr int kReflections = 64;

// Fraction of the memory limit above which streams with unfinished messages are ended.
constexpr double kMostMemory = 0.5;

// Upper bound on the bytes of a watch message apart from its answer.
constexpr std::size_t kWatchEnvelopeBytes = 128;

// Returns the time in the library's format, where the largest number means forever.
int MillisecondsOf(absl::Duration duration) {
  return duration == absl::ZeroDuration() ? std::numeric_limits<int>::max()
                                          : static_cast<int>(absl::ToInt64Milliseconds(duration));
}

// Sets the limits of connections. Compressed messages are never inflated: a call with compressed messages
// fails with UNIMPLEMENTED, whatever its service, as gRPC's specification of compression requires.
void LimitConnections(const runtime::Options& options, grpc::ServerBuilder& builder) {
  const auto set = [&builder](const char* name, int value) { builder.AddChannelArgument(name, value); };
  set(GRPC_ARG_MAX_CONNECTION_AGE_MS, MillisecondsOf(options.max_connection_age));
  set(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, MillisecondsOf(options.max_connection_age_grace));
  set(GRPC_ARG_MAX_CONNECTION_IDLE_MS, MillisecondsOf(options.max_connection_idle));
  set(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, MillisecondsOf(options.handshake_timeout));
  set(GRPC_ARG_KEEPALIVE_TIME_MS, MillisecondsOf(options.keepalive_time));
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, MillisecondsOf(options.keepalive_timeout));
  // Applies in both directions: a watch of an unchanged map is a connection without data.
  set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, MillisecondsOf(options.min_client_keepalive));
  set(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_concurrent_streams);
  // A kilobyte may inflate to a megabyte, before its size is checked and its sender is identified.
  set(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  if (options.rpc_memory_mib > 0) {
    grpc::ResourceQuota quota("waystar");
    quota.Resize(options.rpc_memory_mib << 20);
    builder.SetResourceQuota(quota);
  }
}

core::StoreOptions StoreOptionsOf(const runtime::Options& options, const Clock& clock, core::Defer defer) {
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
  store.clock = &clock;
  store.max_old_snapshot_bytes = options.old_snapshot_mib << 20;
  return store;
}

TransferTimes TimesOf(const runtime::Options& options) {
  return {.timeout = options.transfer_timeout, .stall = options.transfer_stall_timeout};
}

net::ConnectionLimits LimitsOf(const runtime::Options& options) {
  const std::size_t all = net::MaxConnections(options.max_connections);
  return {.max_connections = all,
          .max_network_connections =
              options.max_address_connections > 0 ? options.max_address_connections : (all + 1) / 2};
}

Listening ListeningOf(const runtime::Options& options) {
  return {.address = options.listen,
          .has_tls = !options.tls_cert.empty(),
          .wants_tokens = !options.tokens_file.empty(),
          .wants_certificates = !options.tls_client_ca.empty()};
}

void WarnOfOpenDoors(const runtime::Options& options) {
  std::vector<std::string> doors = OpenDoors(ListeningOf(options));
  if (!options.metrics_listen.empty() && !IsLocalAddress(options.metrics_listen)) {
    doors.push_back(absl::StrCat("Whoever reaches ", options.metrics_listen,
                                 " can read the metrics, with the names of the largest maps. An address that "
                                 "only Prometheus reaches closes this."));
  }
  if (!options.http_listen.empty()) {
    Listening http = ListeningOf(options);
    http.address = options.http_listen;
    http.has_tls = options.http_tls;
    for (std::string& door : OpenDoors(http, /*is_http=*/true)) {
      doors.push_back(std::move(door));
    }
  }
  for (const std::string& door : doors) {
    runtime::Log(runtime::LogLevel::kWarning, "open_to_the_network", {{"warning", door}});
  }
}

// Fraction of the call memory for requests that have not arrived; a single request always fits.
AwaitedRequests::Limits AwaitedLimits(const runtime::Options& options, int max_requests, int part_of_memory) {
  const auto max_request_bytes = static_cast<std::uint64_t>(options.max_message_bytes);
  return {.max_requests = static_cast<std::size_t>(max_requests),
          .patience = absl::ToChronoNanoseconds(options.request_timeout),
          .max_bytes = std::max(
              (std::uint64_t{options.max_call_memory_mib} << 20) / static_cast<std::uint64_t>(part_of_memory),
              max_request_bytes),
          .max_request_bytes = max_request_bytes};
}

QueryObserver ObserverOf(const runtime::Options& options, SearchMetrics* metrics,
                         SlowQueryLog& slow_queries) {
  return {.metrics = metrics,
          .slow_queries = options.slow_query > absl::ZeroDuration() ? &slow_queries : nullptr};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const runtime::Options& options,
                                                      const storage::OpenFolder& open_folder) {
  auto server = std::make_unique<ServerParts>(options);
  WAYSTAR_RETURN_IF_ERROR(server->Start(options, open_folder));
  return server;
}

absl::Status Server::End(std::unique_ptr<Server> server) {
  const std::shared_ptr<const absl::Status> status = server->EndStatus();
  server.reset();
  return *status;
}

ServerParts::ServerParts(const runtime::Options& options)
    : search_metrics_(options.metrics_listen.empty() ? nullptr : std::make_unique<SearchMetrics>()),
      slow_queries_(options.slow_query),
      path_watches_(store_, executor_,
                    static_cast<std::size_t>(options.max_message_bytes) - kWatchEnvelopeBytes,
                    {.metrics = search_metrics_.get(), .slow_queries = &slow_queries_}),
      version_waits_(store_, kVersionWaits),
      fleet_news_(!options.cluster.empty()),
      store_(StoreOptionsOf(options, clock_,
                            [this](const core::DeferredWork& work, std::function<void()> task) {
                              return Defer(work, std::move(task));
                            })),
      obstacle_expirer_(store_, clock_),
      index_builder_(store_, {.quiet_time = options.static_index_quiet_time,
                              .max_static_bytes = options.static_index_mib << 20}),
      client_calls_(options.max_client_calls),
      awaited_requests_("requests", AwaitedLimits(options, options.max_awaited_requests, 2)),
      call_memory_(options.max_call_memory_mib << 20, options.max_connection_memory_mib << 20),
      transfer_slots_(options.max_transfers, ErrorReason::kTransfersBusy, "imports, exports and traces run"),
      watch_slots_(options.max_watches, ErrorReason::kTooManyWatches, "watches are open"),
      stream_slots_(options.max_streams, ErrorReason::kClientBusy, "streams are open"),
      agent_slots_(options.max_agents, ErrorReason::kTooManyAgents, "agents are followed"),
      awaited_of_strangers_("strangers", AwaitedLimits(options, kAwaitedOfStrangers, 4)),
      health_watch_slots_(kHealthWatches, ErrorReason::kTooManyWatches, "watches of health are open"),
      reflection_slots_(kReflections, ErrorReason::kClientBusy, "calls of reflection are open"),
      context_(ContextOf(gate_, {access_, awaited_requests_, watch_slots_, stream_slots_})),
      server_calls_(ContextOf(server_gate_, {access_, awaited_requests_, watch_slots_, stream_slots_})),
      probes_(ContextOf(server_gate_,
                        {open_access_, awaited_of_strangers_, health_watch_slots_, reflection_slots_})),
      store_metrics_(store_, transfer_slots_, watch_slots_, stream_slots_, agent_slots_),
      map_service_(context_, store_, changes_, map_watches_,
                   {.transfer = {.max_import_bytes = options.max_import_bytes,
                                 .max_map_side = options.max_map_side,
                                 .times = TimesOf(options)},
                    .max_message_bytes = static_cast<std::size_t>(options.max_message_bytes),
                    .stream_window = options.stream_window,
                    .update_metrics = &update_metrics_,
                    .slow_updates = &slow_queries_}),
      path_service_(context_, store_, path_watches_,
                    {.max_response_bytes = static_cast<std::size_t>(options.max_message_bytes),
                     .stream_window = options.stream_window},
                    ObserverOf(options, search_metrics_.get(), slow_queries_)),
      picture_service_(context_, store_,
                       {.max_response_bytes = static_cast<std::size_t>(options.max_message_bytes),
                        .times = TimesOf(options)},
                       ObserverOf(options, search_metrics_.get(), slow_queries_)),
      server_service_(server_calls_, store_, metrics_, fleet_statistics_, options),
      health_service_(probes_),
      reflection_service_(probes_),
      executor_({.workers = options.workers,
                 .max_queued = options.max_queued,
                 .max_queue_time = options.max_queue_time,
                 .queue_target = options.queue_target,
                 .scratch_bytes = (options.scratch_mib > 0 ? options.scratch_mib : runtime::kMostScratchMib)
                                  << 20}),
      token_file_watcher_(access_, gate_),
      call_metrics_(call_statistics_),
      queue_metrics_(executor_, client_calls_) {
  store_.AddListener(&map_watches_);
  store_.AddListener(&path_watches_);
  store_.AddListener(&version_waits_);
  store_.AddListener(&index_builder_);
  store_.AddListener(&update_metrics_);
  metrics_.Add({&process_metrics_, &access_, &awaited_requests_, &awaited_of_strangers_, &call_metrics_,
                &call_memory_, &slow_queries_, &update_metrics_, &queue_metrics_, &store_metrics_,
                &storage_statistics_, &fleet_statistics_, &residence_statistics_, &loading_});
  if (search_metrics_ != nullptr) {
    metrics_.Add({search_metrics_.get()});
  }
}

absl::Status ServerParts::Start(const runtime::Options& options, const storage::OpenFolder& open_folder) {
  RouteLibraryLog();
  WAYSTAR_RETURN_IF_ERROR(Secure(options));
  WAYSTAR_RETURN_IF_ERROR(Listen(options));
  if (!options.http_listen.empty()) {
    WAYSTAR_RETURN_IF_ERROR(ServeHttp(options));
  }
  if (!options.metrics_listen.empty()) {
    WAYSTAR_ASSIGN_OR_RETURN(metrics_server_,
                             MetricsServer::Start(
                                 options.metrics_listen, [this] { return metrics_.PrometheusText(); },
                                 [this] { return health_service_.IsServing(); }));
  }
  WarnOfOpenDoors(options);
  return Load(options, open_folder);
}

ServerContext ServerParts::ContextOf(CallGate& gate, const CallPlaces& places) {
  return {.gate = gate,
          .access = places.access,
          .awaited_requests = places.awaited_requests,
          .awaited_of_strangers = awaited_of_strangers_,
          .statistics = call_statistics_,
          .client_calls = client_calls_,
          .memory = call_memory_,
          .executor = executor_,
          .transfers = transfer_slots_,
          .watches = places.watches,
          .streams = places.streams,
          .agents = agent_slots_,
          .version_waits = version_waits_,
          .fleet = fleet_news_};
}

ServerParts::~ServerParts() {
  Stop(absl::ZeroDuration());
  map_keeper_.Stop();
  // Its thread may hand work to the executor, and running jobs of the executor may call it.
  obstacle_expirer_.Stop();
  // The log's thread may continue commits until data_ is destroyed, which is after the executor.
  MutexLock lock(defer_mutex_);
  may_defer_ = false;
}

bool ServerParts::Defer(const core::DeferredWork& work, std::function<void()> task) {
  MutexLock lock(defer_mutex_);
  if (may_defer_ && work.is_large) {
    executor_.DeferFor({.client = work.client}, Lane::kUpdates, std::move(task));
  } else if (may_defer_) {
    executor_.Defer(std::move(task));
  }
  return may_defer_;
}

absl::Status ServerParts::Load(const runtime::Options& options, const storage::OpenFolder& open_folder) {
  storage::CommitLogOptions log;
  log.on_status = [this](const absl::Status& status) { OnStorageStatus(status); };
  log.on_sync = [this](absl::Duration took) { storage_statistics_.CountSync(took); };
  log.on_commit = [this](absl::Duration waited) { storage_statistics_.CountCommit(waited); };
  log.on_end = [this](const absl::Status& status) { *end_status_ = status; };
  if (options.max_maps_memory_mib > 0 && !(options.data_dir.empty() && options.cluster.empty())) {
    store_.SetResidence(&map_keeper_);
  }
  WAYSTAR_ASSIGN_OR_RETURN(data_, OpenData(options, open_folder, store_, clock_, loading_, std::move(log)));
  if (data_ != nullptr) {
    storage_statistics_.SetFolder(*data_);
    if (store_.CanMakeRoom()) {
      KeepMaps(*data_);
    }
    if (options.storage_stall_time > absl::ZeroDuration()) {
      stall_watcher_.Start(
          options.storage_stall_time,
          [this] {
            const storage::DataStatistics statistics = data_->Statistics();
            return statistics.log.unsynced_age - statistics.log.loss_window;
          },
          [this](absl::Duration age) { OnStorageStall(age); });
    }
  }
  WAYSTAR_RETURN_IF_ERROR(Join(options));
  index_builder_.LookAtMaps();
  WAYSTAR_RETURN_IF_ERROR(LoadMaps(options, store_));
  obstacle_expirer_.Start();
  loading_.Finish();
  gate_.Open();
  MutexLock lock(health_mutex_);
  is_loaded_ = true;
  SetHealthy(!is_stale_);
  return absl::OkStatus();
}

void ServerParts::KeepMaps(core::MapSource& source) {
  maintenance::MapKeeperOptions options;
  options.on_load = [this](absl::string_view id, absl::Duration took) {
    runtime::Log(runtime::LogLevel::kDebug, "map_loaded_again",
                 {{"map", id}, {"millis", absl::ToInt64Milliseconds(took)}});
    version_waits_.OnLoadOver(id, false);
  };
  options.on_load_failure = [this](absl::string_view id, const absl::Status& why) {
    runtime::Log(runtime::LogLevel::kError, "map_not_loaded", {{"map", id}, {"error", why.message()}});
    version_waits_.OnLoadOver(id, true);
  };
  options.on_keep_failure = [](absl::string_view id, const absl::Status& why) {
    runtime::Log(runtime::LogLevel::kWarning, "map_not_unloaded", {{"map", id}, {"error", why.message()}});
  };
  map_keeper_.Start(source, std::move(options));
}

absl::Status ServerParts::Join(const runtime::Options& options) {
  cluster::ClusterLogOptions log;
  log.on_status = [this](const absl::Status& status) { OnStorageStatus(status); };
  log.on_commit = [this](absl::Duration waited) { fleet_statistics_.CountCommit(waited); };
  log.on_heard = [this](FleetNews::Clock::time_point heard) { fleet_news_.OnHeard(heard); };
  log.on_followed = [this](std::int64_t revision) { version_waits_.OnFollowed(revision); };
  FleetIdentity identity{.address = AdvertisedAddress(options, port()),
                         .start_time = server_service_.start_time()};
  WAYSTAR_ASSIGN_OR_RETURN(fleet_,
                           JoinFleet(options, std::move(identity), store_, clock_, loading_, std::move(log)));
  if (fleet_ != nullptr) {
    fleet_news_.SetNewest([fleet = fleet_.get()](absl::string_view map, FleetNews::NewestDone done) {
      fleet->AskNewest(map, std::move(done));
    });
    fleet_statistics_.SetFleet(*fleet_);
    if (store_.CanMakeRoom()) {
      KeepMaps(fleet_->source());
    }
    if (options.max_staleness > absl::ZeroDuration()) {
      staleness_watcher_.Start(
          options.max_staleness, [this] { return fleet_->Staleness(); },
          [this](absl::Duration age) { OnStale(age); });
    }
  }
  return absl::OkStatus();
}

absl::Status ServerParts::Secure(const runtime::Options& options) {
  if (!options.tokens_file.empty()) {
    WAYSTAR_RETURN_IF_ERROR(token_file_watcher_.Start(options.tokens_file));
  }
  if (options.tls_cert.empty()) {
    credentials_ = grpc::InsecureServerCredentials();
  } else {
    WAYSTAR_ASSIGN_OR_RETURN(tls_files_, WatchedTlsFiles::Open({.cert = options.tls_cert,
                                                                .key = options.tls_key,
                                                                .client_ca = options.tls_client_ca}));
    credentials_ = MakeTlsCredentials(tls_files_);
  }
  return absl::OkStatus();
}

absl::Status ServerParts::Listen(const runtime::Options& options) {
  absl::StatusOr<net::Listener> listener = net::Listener::Open(options.listen, options.keepalive_timeout);
  if (!listener.ok()) {
    return absl::Status(listener.status().code(),
                        absl::StrCat("--listen=", options.listen, ": ", listener.status().message()));
  }
  // Errors in the address are reported first.
  WAYSTAR_RETURN_IF_ERROR(CheckFaults(ListeningOf(options), grpc::Version(), options.behind_gateway));
  // Distributions build Abseil so that each lock of the RPC library runs deadlock detection.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  grpc::ServerBuilder builder;
  rpc_entrance_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials_);
  builder.SetMaxReceiveMessageSize(options.max_message_bytes);
  LimitConnections(options, builder);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(MakeCallInterceptors(options.metrics_listen.empty() ? nullptr : &call_statistics_));
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  builder.RegisterService(&map_service_);
  builder.RegisterService(&path_service_);
  builder.RegisterService(&picture_service_);
  builder.RegisterService(&server_service_);
  builder.RegisterService(&health_service_);
  builder.RegisterService(&reflection_service_);
  server_service_.SetAddress(AdvertisedAddress(options, listener->port()));
  server_gate_.Open();
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    return absl::InternalError("the RPC library does not start");
  }
  SetHealthy(false);
  if (!options.data_dir.empty() || !options.cluster.empty()) {
    MutexLock lock(health_mutex_);
    health_ = &health_service_;
    health_->Set(kStorageHealth, true);
  }
  door_ = std::make_unique<net::Door>(
      *std::move(listener), LimitsOf(options),
      [this](int socket, net::Descriptor connection) { EnterRpc(socket, std::move(connection)); });
  SetLatestAddresses([door = door_.get(), time = absl::ToChronoNanoseconds(options.handshake_timeout)] {
    return door->Latest(time);
  });
  metrics_.Add({door_.get()});
  for (AwaitedRequests* awaited : {&awaited_requests_, &awaited_of_strangers_}) {
    awaited->StartEnding(
        [door = door_.get()](const std::vector<std::string>& peers) {
          std::vector<net::ConnectionTable::Peer> connections;
          connections.reserve(peers.size());
          for (const std::string& peer : peers) {
            connections.emplace_back(NetworkOf(peer), PortOf(peer));
          }
          return door->BytesFrom(connections);
        },
        [limit = static_cast<double>(runtime::MemoryLimit())]() -> std::optional<std::uint64_t> {
          const std::optional<runtime::ProcessUsage> usage = runtime::ReadProcessUsage();
          if (!usage.has_value() || usage->resident_bytes < kMostMemory * limit) {
            return std::nullopt;
          }
          return static_cast<std::uint64_t>(std::max(limit - usage->resident_bytes, 0.0));
        });
  }
  for (AccessControl* access : {&access_, &open_access_}) {
    access->SetCloser([this](absl::string_view peer) { TurnOut(peer); });
  }
  return absl::OkStatus();
}

void ServerParts::TurnOut(absl::string_view peer) {
  if (const std::uint16_t port = PortOf(peer); port != 0) {
    door_->TurnOut(NetworkOf(peer), port, !access_.KnowsNetworkOf(peer));
  }
}

void ServerParts::EnterRpc(int listener, net::Descriptor connection) {
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters entering;
  entering.listener_fd = listener;
  entering.fd = connection.Release();
  rpc_entrance_->HandleNewConnection(&entering);
}

absl::Status ServerParts::ServeHttp(const runtime::Options& options) {
  const std::string& listen = options.http_listen;
  if (!IsLocalAddress(listen) && !options.tls_cert.empty() && !options.http_tls) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--http_listen=", listen,
        " would send without encryption what --tls_cert is to encrypt: --http_tls encrypts it as "
        "well; or let it listen on a loopback address, with a proxy in front that encrypts"));
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  const net::ConnectionLimits connections = LimitsOf(options);
  DirectMethods methods;
  for (const DirectMethods* each : {&map_service_.direct_methods(), &path_service_.direct_methods(),
                                    &picture_service_.direct_methods(), &server_service_.direct_methods()}) {
    for (const auto& [method, direct] : *each) {
      methods.emplace(method, WithFaultsLogged(*method, direct));
    }
  }
  absl::StatusOr<std::unique_ptr<HttpGateway>> gateway =
      HttpGateway::Start({.listen = listen,
                          .calls = options.http_calls,
                          .max_connections = connections.max_connections,
                          .max_network_connections = connections.max_network_connections,
                          .allowed_origins = options.http_allow_origin,
                          .max_body_bytes = static_cast<std::size_t>(options.max_message_bytes),
                          .max_answer_bytes = options.max_call_memory_mib << 20,
                          .is_ready = [this] { return health_service_.IsServing(); },
                          .tls = options.http_tls ? tls_files_ : nullptr},
                         std::move(methods), server_->InProcessChannel(arguments), access_, call_statistics_);
  if (!gateway.ok()) {
    return absl::Status(gateway.status().code(), absl::StrCat("--http_listen: ", gateway.status().message()));
  }
  http_gateway_ = *std::move(gateway);
  metrics_.Add({http_gateway_.get()});
  return absl::OkStatus();
}

void ServerParts::SetHealthy(bool healthy) {
  for (const char* const service :
       {"", v1::MapService::service_full_name(), v1::PathService::service_full_name(),
        v1::PictureService::service_full_name(), v1::ServerService::service_full_name()}) {
    health_service_.Set(service, healthy);
  }
}

void ServerParts::OnStorageStatus(const absl::Status& status) {
  if (status.ok()) {
    runtime::Log(runtime::LogLevel::kWarning, "changes_taken_again", {});
  } else {
    runtime::Log(runtime::LogLevel::kError, "changes_refused", {{"error", status.message()}});
  }
  MutexLock lock(health_mutex_);
  refuses_changes_ = !status.ok();
  SetStorageHealth();
}

void ServerParts::OnStorageStall(absl::Duration age) {
  const bool stalls = age > absl::ZeroDuration();
  if (stalls) {
    runtime::Log(runtime::LogLevel::kError, "storage_stalls", {{"seconds", absl::ToDoubleSeconds(age)}});
  } else {
    runtime::Log(runtime::LogLevel::kWarning, "storage_goes_on", {});
  }
  MutexLock lock(health_mutex_);
  storage_stalls_ = stalls;
  SetStorageHealth();
}

void ServerParts::OnStale(absl::Duration age) {
  const bool is_stale = age > absl::ZeroDuration();
  if (is_stale) {
    runtime::Log(runtime::LogLevel::kError, "fleet_not_heard", {{"seconds", absl::ToDoubleSeconds(age)}});
  } else {
    runtime::Log(runtime::LogLevel::kWarning, "fleet_heard_again", {});
  }
  MutexLock lock(health_mutex_);
  is_stale_ = is_stale;
  if (health_ != nullptr && is_loaded_) {
    SetHealthy(!is_stale);
  }
}

void ServerParts::SetStorageHealth() {
  if (health_ != nullptr) {
    health_->Set(kStorageHealth, !refuses_changes_ && !storage_stalls_);
  }
}

void ServerParts::ReportNotServing() {
  // Otherwise it might report another status.
  staleness_watcher_.Stop();
  SetHealthy(false);
}

void ServerParts::Stop(absl::Duration drain_timeout, absl::Duration patience) {
  if (server_ == nullptr) {
    return;
  }
  door_->Close();
  ReportNotServing();
  version_waits_.Stop();
  const auto now = std::chrono::steady_clock::now();
  const auto deadline = now + absl::ToChronoNanoseconds(drain_timeout);
  gate_.Close(now + absl::ToChronoNanoseconds(patience), deadline);
  server_gate_.Close(now, deadline);
  absl::SleepFor(std::min(drain_timeout, kLastRefusals));
  if (fleet_ != nullptr) {
    // Changes that wait for etcd have timed out.
    fleet_->GiveUp();
  }
  if (http_gateway_ != nullptr) {
    http_gateway_->Stop(std::min(drain_timeout, kLastAnswers));
  }
  // Calls that remain have timed out, or are watches of the health service, which never end by themselves.
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  if (http_gateway_ != nullptr) {
    // Its calls may have waited for workers that the calls above held.
    http_gateway_->Wait();
  }
  stall_watcher_.Stop();
  {
    MutexLock lock(health_mutex_);
    health_ = nullptr;
  }
  SetLatestAddresses(nullptr);
  server_.reset();
  if (data_ != nullptr) {
    if (const absl::Status status = data_->Sync(); !status.ok()) {
      runtime::Log(runtime::LogLevel::kError, "data_not_synced", {{"error", status.message()}});
    }
  }
}

}  // namespace waystar::rpc
