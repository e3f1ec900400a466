// Server options, set by flag, environment variable or flag file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace waystar::runtime {

// Memory that a search needs to visit every cell of the largest map, in MiB.
inline constexpr std::size_t kMostScratchMib = 1280;

// Limits on connections: number, lifetime and resources.
struct ConnectionOptions {
  // Maximum number of open connections; 0 for 10,000, or fewer if descriptors do not allow that many.
  std::size_t max_connections = 0;
  // Maximum for one IPv4 address, or for one IPv6 network of 64 bits; 0 for half of all.
  std::size_t max_address_connections = 0;
  // Time for a new connection to send its TLS handshake and its HTTP/2 settings; closed otherwise.
  absl::Duration handshake_timeout = absl::Seconds(10);
  // Age, plus or minus a tenth, at which a connection takes no new calls, and the grace for its calls to end.
  // 0: never.
  absl::Duration max_age = absl::ZeroDuration();
  absl::Duration max_age_grace = absl::Minutes(1);
  // Time without a call after which a connection is closed. 0: never.
  absl::Duration max_idle = absl::ZeroDuration();
  // Silence after which a connection is pinged, and time to answer before it is closed.
  absl::Duration keepalive_time = absl::Minutes(1);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  // Minimum interval of client pings; a client that pings more often is disconnected.
  absl::Duration min_client_keepalive = absl::Seconds(10);
  // Maximum number of concurrent calls of one connection, with streams and watches. More wait at the client.
  int max_concurrent_streams = 1'000;
  // Memory quota of the gRPC library for reads and writes, in MiB; 0 for no limit.
  std::size_t memory_mib = 0;
};

struct Options {
  // HOST:PORT or unix:PATH. Port 0 chooses a free one.
  std::string listen = "127.0.0.1:7450";
  // File to write the port number to; empty for none.
  std::string port_file;
  // Folder whose files are loaded as maps, named by the file's stem; empty for none.
  std::string maps_dir;
  // Folder that stores the maps; if empty, they are kept in memory only.
  std::string data_dir;
  // If true, a power failure may lose acknowledged changes of the last sync_interval. If false, they are on
  // stable storage.
  bool relaxed_durability = false;
  absl::Duration sync_interval = absl::Seconds(1);
  // Time that changes may wait for stable storage, beyond the sync_interval of relaxed durability, before the
  // storage health becomes NOT_SERVING; 0 for no limit.
  absl::Duration storage_stall_time = absl::Seconds(5);
  // Limit on the size of the log; changes fail above it. At a quarter of it, images of maps are made and old
  // files removed.
  std::size_t max_log_mib = 256;
  // Address of the fleet's etcd: etcd://HOST[:PORT][,HOST[:PORT]...][/PREFIX]. Empty for a single server.
  std::string cluster;
  // Use TLS to etcd; its root certificates, empty for those of the system; certificate and key of this
  // server, empty for none.
  bool cluster_tls = false;
  std::string cluster_ca;
  std::string cluster_cert;
  std::string cluster_key;
  // File with a line USER:PASSWORD, if etcd requires it.
  std::string cluster_password_file;
  // Folder shared by all servers of the fleet, for map images that are too large for etcd. Empty for none.
  std::string image_dir;
  // Address listed for this server in its fleet; empty for the address it listens on.
  std::string advertise;
  // Maximum age of the server's state before its health becomes NOT_SERVING; 0 for no limit.
  absl::Duration max_staleness;
  // If true, maps of these folders that do not load are skipped; otherwise the server does not start.
  bool skip_damaged_maps = false;
  // Threads for small calls, and the same number at lower priority for large ones; 0 for one per core.
  int workers = 0;
  std::size_t max_queued = 256;
  absl::Duration max_queue_time = absl::Milliseconds(500);
  // Target queue delay. If every job in 100 ms waits longer, the pool is overloaded (WaitLimit).
  absl::Duration queue_target = absl::Milliseconds(2);
  // Maximum number of waiting and running calls of one client.
  int max_client_calls = 5000;
  // Memory of large requests and unread answers: of all calls together, and of one connection.
  std::size_t max_call_memory_mib = 256;
  std::size_t max_connection_memory_mib = 64;
  std::size_t max_maps = 1000;
  // Memory of all maps together; 0 for no limit, but ReadOptions replaces 0 (DivideMemory).
  std::size_t max_maps_memory_mib = 0;
  int max_map_side = 8192;
  int max_message_bytes = 4 << 20;
  std::int64_t max_import_bytes = 80LL << 20;
  int max_transfers = 4;
  absl::Duration transfer_timeout = absl::Seconds(60);
  // Time that the client of a transfer may neither read nor send.
  absl::Duration transfer_stall_timeout = absl::Seconds(10);
  // Maximum number of open watches of maps.
  int max_watches = 10'000;
  int max_agents = 100'000;
  // Maximum number of open streams of queries and of updates.
  int max_streams = 4096;
  // Maximum number of calls whose request has not arrived, and the time for it to arrive.
  int max_awaited_requests = 8192;
  absl::Duration request_timeout = absl::Seconds(10);
  // Maximum number of unanswered messages of one stream: batches of updates, or groups of queries.
  std::size_t stream_window = 256;
  // Revisions that each map keeps for its watchers, by number and by memory.
  std::size_t max_history_commits = 4096;
  std::size_t max_history_mib = 8;
  // Batches that may wait for one map, by number and by memory.
  std::size_t max_waiting_updates = 4096;
  std::size_t max_waiting_updates_mib = 64;
  // How long, and in how much memory, each map remembers batches by their request_id.
  absl::Duration request_id_retention = absl::Minutes(10);
  std::size_t max_request_ids_mib = 64;
  // Memory of all old snapshots together.
  std::size_t old_snapshot_mib = 1024;
  // Memory of one worker's search.
  std::size_t scratch_mib = kMostScratchMib;
  // Memory of the search indexes of one map; 0 for none.
  std::size_t index_mib = 64;
  // Memory of the static indexes of all maps together; 0 for none.
  std::size_t static_index_mib = 512;
  // Time with few changes before a map's static index is built.
  absl::Duration static_index_quiet_time = absl::Seconds(2);
  absl::Duration drain_timeout = absl::Seconds(10);
  // PEM files of the server's certificate chain and key: both or neither. Without them the server uses plain
  // text.
  std::string tls_cert;
  std::string tls_key;
  // PEM file of root certificates for client certificates; if empty, clients need none.
  std::string tls_client_ca;
  // True if only a gateway or a private network reaches `listen`. Then known vulnerabilities of the gRPC
  // library do not prevent a start.
  bool behind_gateway = false;
  // File with access tokens and their permissions; if empty, everybody may do everything.
  std::string tokens_file;
  // Delay between reporting NOT_SERVING and refusing calls.
  absl::Duration shutdown_delay = absl::ZeroDuration();
  // HOST:PORT to serve the RPCs as JSON over HTTP; empty for none. Plain text unless http_tls.
  std::string http_listen;
  // If true, HTTP uses TLS with the same certificate and client requirements as gRPC.
  bool http_tls = false;
  // Comma-separated origins of web pages that may call over HTTP; "*" for all.
  std::string http_allow_origin;
  // Maximum number of concurrent calls over HTTP, including streams.
  int http_calls = 256;
  // HOST:PORT to serve Prometheus metrics over HTTP; empty for none.
  std::string metrics_listen;
  // Time from arrival to answer above which a query is logged; 0 for never.
  absl::Duration slow_query = absl::Milliseconds(100);
  ConnectionOptions connections;
  std::string log_level = "info";
};

// Sets scratch_mib and max_maps_memory_mib where they are 0, so that both fit into `limit_mib` beside calls
// and the process itself:
// - Searches get half of it or what the others leave, whichever is less, but at least an eighth; and at most
//   kMostScratchMib per worker.
// - Maps get half of it or what the others leave, whichever is less, but at least an eighth.
//
// REQUIRES: workers > 0.
void DivideMemory(std::size_t limit_mib, Options& options);

// Reads the command line and the environment. A flag --max_maps can also be set as WAYSTAR_MAX_MAPS, or in a
// file of lines "--max_maps=10" named by --flagfile or WAYSTAR_FLAGFILE. The command line overrides the
// environment, which overrides the file.
//
// Returns INVALID_ARGUMENT, with the flag's name, for a value out of range or an argument that is not a flag.
// For --help, --version and errors of the flag library itself, prints and exits.
absl::StatusOr<Options> ReadOptions(int argc, char** argv);

// Returns, sorted, the names of environment variables that begin with WAYSTAR_ and that neither the server
// nor the command line tool reads: misspelled flags, for example. Ignores those that Kubernetes and Docker
// set for a service named "waystar".
std::vector<std::string> UnknownVariables();

}  // namespace waystar::runtime
