// Parts of a server, in order of their lifetimes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/maintenance/index_builder.h"
#include "server/maintenance/map_keeper.h"
#include "server/maintenance/obstacle_expirer.h"
#include "server/runtime/options.h"
#include "server/runtime/process.h"
#include "server/service/admission/awaited_requests.h"
#include "server/service/admission/call_gate.h"
#include "server/service/admission/call_memory.h"
#include "server/service/admission/call_slots.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/server_context.h"
#include "server/service/admission/version_waits.h"
#include "server/service/auth/access_control.h"
#include "server/service/auth/tls_files.h"
#include "server/service/first_maps.h"
#include "server/service/gateway/http_gateway.h"
#include "server/service/handlers/maps/change_queue.h"
#include "server/service/handlers/watch/map_watch.h"
#include "server/service/handlers/watch/path_watch.h"
#include "server/service/metrics/call_interceptor.h"
#include "server/service/metrics/metric_collector.h"
#include "server/service/metrics/query_observer.h"
#include "server/service/metrics/slow_query_log.h"
#include "server/service/metrics/storage_statistics.h"
#include "server/service/metrics/store_metrics.h"
#include "server/service/probe_services.h"
#include "server/service/server.h"
#include "server/service/services.h"
#include "server/service/token_file_watcher.h"
#include "server/service/transport/net/door.h"
#include "server/storage/fleet/fleet.h"
#include "server/storage/folder/data_folder.h"
#include "server/storage/folder/folder.h"

namespace waystar::rpc {

// Thread safety: as Server.
class ServerParts final : public Server {
 public:
  explicit ServerParts(const runtime::Options& options);
  ~ServerParts() override;

  // Does what Server::Start promises.
  absl::Status Start(const runtime::Options& options, const storage::OpenFolder& open_folder);

  int port() const override { return door_->port(); }
  int metrics_port() const override { return metrics_server_ == nullptr ? 0 : metrics_server_->port(); }
  int http_port() const override { return http_gateway_ == nullptr ? 0 : http_gateway_->port(); }
  void ReportNotServing() override;
  using Server::Stop;
  void Stop(absl::Duration drain_timeout, absl::Duration patience) override;

 private:
  std::shared_ptr<const absl::Status> EndStatus() const override { return end_status_; }
  // Access control and limits for one kind of calls.
  struct CallPlaces {
    const AccessControl& access;
    AwaitedRequests& awaited_requests;
    CallSlots& watches;
    CallSlots& streams;
  };
  ServerContext ContextOf(CallGate& gate, const CallPlaces& places);
  // Hands a task of the store to the executor; returns false if it accepts no more.
  bool Defer(const core::DeferredWork& work, std::function<void()> task);
  // Loads the initial maps, and then admits calls about them.
  absl::Status Load(const runtime::Options& options, const storage::OpenFolder& open_folder);
  // Enables unloading of maps to make room, and loading on demand.
  void KeepMaps(core::MapSource& source);
  // Joins the fleet, if one is configured.
  absl::Status Join(const runtime::Options& options);
  // Sets up access control; warns about exposures.
  absl::Status Secure(const runtime::Options& options);
  absl::Status Listen(const runtime::Options& options);
  // Closes the connection of a peer, named as by the RPC library.
  void TurnOut(absl::string_view peer);
  // Hands a connection to the RPC library.
  void EnterRpc(int listener, net::Descriptor connection);
  absl::Status ServeHttp(const runtime::Options& options);
  void SetHealthy(bool healthy);
  // Logs, once per change, that changes are rejected and that they are accepted again. Called by the log's
  // thread.
  void OnStorageStatus(const absl::Status& status);
  // Logs that changes have waited for stable storage for that long, or with 0 that they no longer do. Called
  // by the watcher's thread.
  void OnStorageStall(absl::Duration age);
  // Logs that the server has not heard from its fleet for that long, or with 0 that it has again. Called by
  // the watcher's thread.
  void OnStale(absl::Duration age);
  void SetStorageHealth() ABSL_EXCLUSIVE_LOCKS_REQUIRED(health_mutex_);

  // Members are in order of their lifetimes: calls in progress use the members above the server.
  // Clock of commits, lifetimes and request_times.
  SteadyClock clock_;
  // Null unless metrics are served.
  const std::unique_ptr<SearchMetrics> search_metrics_;
  UpdateMetrics update_metrics_;
  SlowQueryLog slow_queries_;
  MapWatches map_watches_;
  // Before the store, which notifies it of commits, and the executor, whose last jobs use it.
  PathWatchScheduler path_watches_;
  // Before the store too.
  VersionWaits version_waits_;
  // Notified by the fleet's threads.
  FleetNews fleet_news_;
  Mutex defer_mutex_;
  bool may_defer_ ABSL_GUARDED_BY(defer_mutex_) = true;
  // Notified by the log's thread. Null unless the server runs.
  Mutex health_mutex_;
  HealthService* health_ ABSL_GUARDED_BY(health_mutex_) = nullptr;
  bool refuses_changes_ ABSL_GUARDED_BY(health_mutex_) = false;
  bool storage_stalls_ ABSL_GUARDED_BY(health_mutex_) = false;
  bool is_loaded_ ABSL_GUARDED_BY(health_mutex_) = false;
  bool is_stale_ ABSL_GUARDED_BY(health_mutex_) = false;
  core::MapStore store_;
  maintenance::ObstacleExpirer obstacle_expirer_;
  maintenance::IndexBuilder index_builder_;
  // Set by the log's thread when it ends.
  const std::shared_ptr<absl::Status> end_status_ = std::make_shared<absl::Status>();
  // Counters of the log's thread.
  StorageStatistics storage_statistics_;
  FleetStatistics fleet_statistics_;
  // Its log's thread notifies all of the above of commits. Null if maps are kept in memory only.
  std::unique_ptr<storage::DataFolder> data_;
  // Likewise. Null unless the server is in a fleet.
  std::unique_ptr<cluster::Fleet> fleet_;
  // Its threads read maps from there.
  maintenance::MapKeeper map_keeper_{store_};
  ResidenceStatistics residence_statistics_{store_, map_keeper_};
  // Its thread reads data_.
  StallWatcher stall_watcher_;
  // Its thread reads fleet_.
  StallWatcher staleness_watcher_;
  CallGate gate_;
  // For calls about the server itself, which need no maps.
  CallGate server_gate_;
  AccessControl access_;
  CallStatistics call_statistics_;
  ClientCalls client_calls_;
  // Closed by Stop. Workers and the threads that end calls query its connections.
  std::unique_ptr<net::Door> door_;
  AwaitedRequests awaited_requests_;
  CallMemory call_memory_;
  CallSlots transfer_slots_;
  CallSlots watch_slots_;
  CallSlots stream_slots_;
  CallSlots agent_slots_;
  // Health and reflection need no token, and so have their own, few places.
  AccessControl open_access_;
  AwaitedRequests awaited_of_strangers_;
  CallSlots health_watch_slots_;
  CallSlots reflection_slots_;
  // State shared by all calls.
  const ServerContext context_;
  const ServerContext server_calls_;
  // State shared by calls that need no token: health and reflection.
  const ServerContext probes_;
  LoadProgress loading_;
  StoreMetrics store_metrics_;
  const runtime::ProcessMetrics process_metrics_;
  // Its thread changes the store and ends calls of the service below, so it ends before the log and the store
  // are destroyed. Workers queue changes to it.
  ChangeQueue changes_;
  MapService map_service_;
  PathService path_service_;
  PictureService picture_service_;
  const MapMetrics map_metrics_{store_};
  MetricCollector metrics_{map_metrics_};
  ServerService server_service_;
  HealthService health_service_;
  ReflectionService reflection_service_;
  // After the services, whose handlers its workers run.
  Executor executor_;
  // Its thread ends calls, so it ends before the server is destroyed.
  TokenFileWatcher token_file_watcher_;
  // Used by the RPC library as long as the server exists. Null without TLS.
  std::shared_ptr<WatchedTlsFiles> tls_files_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  const CallMetrics call_metrics_;
  const QueueMetrics queue_metrics_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> rpc_entrance_;
  // Null without HTTP.
  std::unique_ptr<HttpGateway> http_gateway_;
  // Last member, as its thread collects from all of the above.
  std::unique_ptr<MetricsServer> metrics_server_;
};

}  // namespace waystar::rpc
