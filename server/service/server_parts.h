// The parts of a server, in the order of their lives.
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
#include "server/runtime/process_metrics.h"
#include "server/service/admission/arrival_pause.h"
#include "server/service/admission/awaited_requests.h"
#include "server/service/admission/call_gate.h"
#include "server/service/admission/call_memory.h"
#include "server/service/admission/call_slots.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/admission/client_calls.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/fleet_news.h"
#include "server/service/admission/server_context.h"
#include "server/service/admission/version_waits.h"
#include "server/service/auth/access_control.h"
#include "server/service/auth/tls_files.h"
#include "server/service/first_maps.h"
#include "server/service/gateway/http_gateway.h"
#include "server/service/handlers/maps/change_queue.h"
#include "server/service/handlers/watch/map_watches.h"
#include "server/service/handlers/watch/path_watch_scheduler.h"
#include "server/service/health_service.h"
#include "server/service/map_service.h"
#include "server/service/metrics/call_metrics.h"
#include "server/service/metrics/fleet_statistics.h"
#include "server/service/metrics/load_progress.h"
#include "server/service/metrics/metrics_server.h"
#include "server/service/metrics/queue_metrics.h"
#include "server/service/metrics/residence_statistics.h"
#include "server/service/metrics/search_metrics.h"
#include "server/service/metrics/server_statistics.h"
#include "server/service/metrics/slow_query_log.h"
#include "server/service/metrics/stall_watcher.h"
#include "server/service/metrics/storage_statistics.h"
#include "server/service/metrics/store_metrics.h"
#include "server/service/metrics/update_metrics.h"
#include "server/service/path_service.h"
#include "server/service/reflection_service.h"
#include "server/service/server.h"
#include "server/service/server_service.h"
#include "server/service/token_file_watcher.h"
#include "server/service/transport/net/door.h"
#include "server/storage/fleet/fleet.h"
#include "server/storage/folder/data_folder.h"
#include "server/storage/folder/posix_folder.h"

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
  // Returns what calls share that pass the gate.
  // Who may make a kind of calls, and the places that those have.
  struct CallPlaces {
    const AccessControl& access;
    AwaitedRequests& awaited_requests;
    CallSlots& watches;
    CallSlots& streams;
  };
  ServerContext ContextOf(CallGate& gate, const CallPlaces& places);
  // Hands a task of the store to the executor; returns false if it takes no more.
  bool Defer(const core::DeferredWork& work, std::function<void()> task);
  // Reads the maps to start with, and lets calls about them in.
  absl::Status Load(const runtime::Options& options, const storage::OpenFolder& open_folder);
  // Lets maps be unloaded to make room, and loads them when they are asked for.
  void KeepMaps(core::MapSource& source);
  // Joins the fleet, if there is to be one.
  absl::Status Join(const runtime::Options& options);
  // Decides who gets in; warns of what is left open.
  absl::Status Secure(const runtime::Options& options);
  absl::Status Listen(const runtime::Options& options);
  // Closes the connection of a peer, as the RPC library names it.
  void TurnOut(absl::string_view peer);
  // Hands a connection to the RPC library.
  void EnterRpc(int listener, net::Descriptor connection);
  absl::Status ServeHttp(const runtime::Options& options);
  absl::Status ServeMetrics(const std::string& listen);
  void SetHealthy(bool healthy);
  // Tells, once each time, that changes are refused and that they are taken again. Called by the log's
  // thread.
  void OnStorageStatus(const absl::Status& status);
  // Tells that changes have waited for stable storage for so long, or with 0 that they do not any more.
  // Called by the watcher's thread.
  void OnStorageStall(absl::Duration age);
  // Tells that the server has heard nothing of its fleet for so long, or with 0 that it has again. Called by
  // the watcher's thread.
  void OnStale(absl::Duration age);
  void SetStorageHealth() ABSL_EXCLUSIVE_LOCKS_REQUIRED(health_mutex_);

  // The members are in the order of their lives: calls in flight use what stands above the server.
  // The time of commits, lifetimes and request_times.
  SteadyClock clock_;
  // Null unless metrics are served.
  const std::unique_ptr<SearchMetrics> search_metrics_;
  UpdateMetrics update_metrics_;
  SlowQueryLog slow_queries_;
  MapWatches map_watches_;
  // It stands before the store, whose commits it is told of, and the executor, whose last jobs use it.
  PathWatchScheduler path_watches_;
  // It stands before the store likewise.
  VersionWaits version_waits_;
  // The fleet's threads tell it.
  FleetNews fleet_news_;
  Mutex defer_mutex_;
  bool may_defer_ ABSL_GUARDED_BY(defer_mutex_) = true;
  // The log's thread tells of its health. Null unless the server runs.
  Mutex health_mutex_;
  HealthService* health_ ABSL_GUARDED_BY(health_mutex_) = nullptr;
  bool refuses_changes_ ABSL_GUARDED_BY(health_mutex_) = false;
  bool storage_stalls_ ABSL_GUARDED_BY(health_mutex_) = false;
  bool is_loaded_ ABSL_GUARDED_BY(health_mutex_) = false;
  bool is_stale_ ABSL_GUARDED_BY(health_mutex_) = false;
  core::MapStore store_;
  maintenance::ObstacleExpirer obstacle_expirer_;
  maintenance::IndexBuilder index_builder_;
  // The log's thread sets it when it ends.
  const std::shared_ptr<absl::Status> end_status_ = std::make_shared<absl::Status>();
  // The log's thread counts what it does here.
  StorageStatistics storage_statistics_;
  FleetStatistics fleet_statistics_;
  // Its log's thread tells all of the above of commits. Null if maps live in memory alone.
  std::unique_ptr<storage::DataFolder> data_;
  // Likewise. Null unless the server is one of a fleet.
  std::unique_ptr<cluster::Fleet> fleet_;
  // Its threads read maps from there.
  maintenance::MapKeeper map_keeper_{store_};
  ResidenceStatistics residence_statistics_{store_, map_keeper_};
  // Its thread asks data_.
  StallWatcher stall_watcher_;
  // Its thread asks fleet_.
  StallWatcher staleness_watcher_;
  CallGate gate_;
  // Of the calls about the server itself, which need no maps.
  CallGate server_gate_;
  AccessControl access_;
  CallStatistics call_statistics_;
  ClientCalls client_calls_;
  // Stop closes it. Workers and the threads that end calls ask it about connections.
  std::unique_ptr<net::Door> door_;
  AwaitedRequests awaited_requests_;
  CallMemory call_memory_;
  ArrivalPause arrival_pause_;
  CallSlots transfer_slots_;
  CallSlots watch_slots_;
  CallSlots stream_slots_;
  // Health and reflection ask nobody for a token, and so have few places of their own.
  AccessControl open_access_;
  AwaitedRequests awaited_of_strangers_;
  CallSlots health_watch_slots_;
  CallSlots reflection_slots_;
  // Names what all calls share.
  const ServerContext context_;
  const ServerContext server_calls_;
  // What those share that ask for no token, health and reflection.
  const ServerContext probes_;
  LoadProgress loading_;
  StoreMetrics store_metrics_;
  const runtime::ProcessMetrics process_metrics_;
  // Its thread changes the store and ends calls of the service below, and so ends before the log and the
  // store are gone. Workers hand it what is to be done.
  ChangeQueue changes_;
  MapService map_service_;
  PathService path_service_;
  ServerStatistics server_statistics_;
  ServerService server_service_;
  HealthService health_service_;
  ReflectionService reflection_service_;
  // It stands after the services, whose handlers its workers run.
  Executor executor_;
  // Its thread ends calls, and so ends before the server is gone.
  TokenFileWatcher token_file_watcher_;
  // The RPC library asks them for certificates as long as there is a server.
  // Null without TLS.
  std::shared_ptr<WatchedTlsFiles> tls_files_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  const CallMetrics call_metrics_;
  const QueueMetrics queue_metrics_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> rpc_entrance_;
  // Null unless there is HTTP.
  std::unique_ptr<HttpGateway> http_gateway_;
  // It stands last, as it asks all of the above.
  std::unique_ptr<MetricsServer> metrics_server_;
};

}  // namespace waystar::rpc
