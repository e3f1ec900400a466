// Server with its store, workers, services and the port they are reached at.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "server/core/import/map_folder.h"
#include "server/core/store/map_store.h"
#include "server/maintenance/index_builder.h"
#include "server/maintenance/obstacle_expirer.h"
#include "server/net/door.h"
#include "server/net/metrics_server.h"
#include "server/rpc/access/access_control.h"
#include "server/rpc/admission/arrival_pause.h"
#include "server/rpc/admission/call_gate.h"
#include "server/rpc/admission/call_memory.h"
#include "server/rpc/admission/call_slots.h"
#include "server/rpc/admission/call_statistics.h"
#include "server/rpc/admission/client_calls.h"
#include "server/rpc/admission/executor.h"
#include "server/rpc/admission/server_context.h"
#include "server/rpc/map_service.h"
#include "server/rpc/path_service.h"
#include "server/rpc/server_service.h"
#include "server/rpc/telemetry/call_metrics.h"
#include "server/rpc/telemetry/queue_metrics.h"
#include "server/rpc/telemetry/search_metrics.h"
#include "server/rpc/telemetry/server_statistics.h"
#include "server/rpc/telemetry/slow_query_log.h"
#include "server/rpc/telemetry/store_metrics.h"
#include "server/rpc/telemetry/update_metrics.h"
#include "server/rpc/token_file_watcher.h"
#include "server/rpc/watch/map_watches.h"
#include "server/rpc/watch/path_watch_scheduler.h"
#include "server/runtime/options.h"
#include "server/runtime/process_metrics.h"

namespace waystar::rpc {

// Serves until Stop or destruction. Destruction stops at once.
//
// Thread safety: one thread.
class Server {
 public:
  // Loads the maps of options.maps_dir, listens and reports healthy. Returns INVALID_ARGUMENT or NOT_FOUND,
  // naming the file, if a map does not load and is not to be skipped; UNAVAILABLE if the address is taken; an
  // error that names the file and what is wrong with it if tokens or certificates do not load.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const runtime::Options& options);

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  // Returns the port of options.listen; 0 of a unix socket.
  int port() const { return door_->port(); }
  // Returns the port of options.metrics_listen; 0 if that is empty.
  int metrics_port() const { return metrics_server_ == nullptr ? 0 : metrics_server_->port(); }

  // Reports unhealthy, and goes on serving.
  void ReportNotServing() { SetHealthy(false); }

  // Reports unhealthy, takes no new connections or calls, ends watches and streams of updates, and waits for
  // calls in flight; cancels what is left after `drain_timeout`, and watches and streams whose clients have
  // not read the message that was on its way after `patience`.
  void Stop(absl::Duration drain_timeout, absl::Duration patience = absl::Seconds(1));

 private:
  explicit Server(const runtime::Options& options);

  absl::Status LoadMaps(const runtime::Options& options);
  absl::Status LoadFile(const core::MapFile& file, int max_side);
  // Decides who gets in; warns of what is left open.
  absl::Status Secure(const runtime::Options& options);
  absl::Status Listen(const runtime::Options& options);
  // Closes the connection of a peer, as the RPC library names it.
  void TurnOut(absl::string_view peer);
  // Hands a connection to the RPC library.
  void EnterRpc(int listener, net::Descriptor connection);
  absl::Status ServeMetrics(const std::string& listen);
  void SetHealthy(bool healthy);

  // The members are in the order of their lives: calls in flight use what stands above the server.
  // search_metrics_ is null unless metrics are served.
  const std::unique_ptr<SearchMetrics> search_metrics_;
  UpdateMetrics update_metrics_;
  SlowQueryLog slow_queries_;
  MapWatches map_watches_;
  // It stands before the store, whose commits it is told of, and the executor, whose last jobs use it.
  PathWatchScheduler path_watches_;
  core::MapStore store_;
  maintenance::ObstacleExpirer obstacle_expirer_;
  maintenance::IndexBuilder index_builder_;
  CallGate gate_;
  AccessControl access_;
  CallStatistics call_statistics_;
  ClientCalls client_calls_;
  CallMemory call_memory_;
  ArrivalPause arrival_pause_;
  CallSlots transfer_slots_;
  CallSlots watch_slots_;
  // Names what all calls share.
  const ServerContext context_;
  StoreMetrics store_metrics_;
  const runtime::ProcessMetrics process_metrics_;
  MapService map_service_;
  PathService path_service_;
  ServerStatistics server_statistics_;
  ServerService server_service_;
  // It stands after the services, whose handlers its workers run.
  Executor executor_;
  // Its thread ends calls, and so ends before the server is gone.
  TokenFileWatcher token_file_watcher_;
  // The RPC library asks them for certificates as long as there is a server.
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  const CallMetrics call_metrics_;
  const QueueMetrics queue_metrics_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> rpc_entrance_;
  std::unique_ptr<net::Door> door_;
  // It stands last, as it asks all of the above.
  std::unique_ptr<net::MetricsServer> metrics_server_;
};

}  // namespace waystar::rpc
