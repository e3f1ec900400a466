// The options that an operator may set, by flag, environment variable or flag file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/runtime/connection_options.h"

namespace waystar::runtime {

// The memory that a search needs to visit every cell of the largest map.
inline constexpr std::size_t kMostScratchMib = 1280;

struct Options {
  // HOST:PORT, or unix:PATH. Port 0 takes a free one.
  std::string listen = "127.0.0.1:7450";
  // The file to write the number of the port to; none if empty.
  std::string port_file;
  // Each file in this folder becomes a map, named by the file's stem; none if empty.
  std::string maps_dir;
  // The folder that keeps the maps; they live in memory alone if it is empty.
  std::string data_dir;
  // Whether what is acknowledged may be lost with the machine's power for as long as sync_interval, but not
  // with the process; else it is on stable storage.
  bool relaxed_durability = false;
  absl::Duration sync_interval = absl::Seconds(1);
  // How long changes may wait for stable storage, beyond the sync_interval of relaxed durability, before the
  // health of the storage says NOT_SERVING; 0 for any time.
  absl::Duration storage_stall_time = absl::Seconds(5);
  // The size of the log at which images of maps are made, and old files removed.
  std::size_t max_log_mib = 256;
  // Where the fleet keeps its maps: etcd://HOST[:PORT][,HOST[:PORT]...][/PREFIX]. Empty for a server alone.
  std::string cluster;
  // Whether etcd is reached over TLS; the roots of its certificates, which are the system's if it is empty;
  // and the certificate and the key that the server shows, if any.
  bool cluster_tls = false;
  std::string cluster_ca;
  std::string cluster_cert;
  std::string cluster_key;
  // A file with a line USER:PASSWORD, if etcd asks for it.
  std::string cluster_password_file;
  // A folder that all servers of the fleet see, for images of maps that are too large for etcd. Empty if
  // there is none.
  std::string image_dir;
  // Where clients and the servers of the fleet reach this one, for those who list them; empty for the address
  // that it listens on.
  std::string advertise;
  // How old what the server knows of the fleet may be before its health says NOT_SERVING; 0 for any age.
  absl::Duration max_staleness;
  // Whether a map of these folders that does not load is left out; else the server does not start.
  bool skip_damaged_maps = false;
  // Threads for small calls, and as many that give way to them for large ones; 0 for one per core.
  int workers = 0;
  std::size_t max_queued = 256;
  absl::Duration max_queue_time = absl::Milliseconds(500);
  // How long a queue that empties again and again may make calls wait; one that never empties is overloaded.
  absl::Duration queue_target = absl::Milliseconds(2);
  // The calls of one client that may wait or run at a time.
  int max_client_calls = 5000;
  // The memory of large requests and of answers that are not read: of all calls together, and of those of one
  // connection.
  std::size_t max_call_memory_mib = 256;
  std::size_t max_connection_memory_mib = 64;
  std::size_t max_maps = 1000;
  // The memory of all maps together; 0 for no limit.
  std::size_t max_maps_memory_mib = 0;
  int max_map_side = 8192;
  int max_message_bytes = 4 << 20;
  std::int64_t max_import_bytes = 80LL << 20;
  int max_transfers = 4;
  absl::Duration transfer_timeout = absl::Seconds(60);
  // How long the client of a transfer may neither read nor send.
  absl::Duration transfer_stall_timeout = absl::Seconds(10);
  // Watches of maps and paths that may be open at a time.
  int max_watches = 10'000;
  // Streams of queries and of updates that may be open at a time.
  int max_streams = 4096;
  // Calls that may have begun without their request being there, and the time in which it must arrive.
  int max_awaited_requests = 8192;
  absl::Duration request_timeout = absl::Seconds(10);
  // Batches of one stream of updates, or messages of one of queries, that may be read and not answered yet.
  std::size_t stream_window = 256;
  // Revisions that each map remembers for its watchers, by number and by the memory that they take.
  std::size_t max_history_commits = 4096;
  std::size_t max_history_mib = 8;
  // Batches that may wait for one map, by number and by memory.
  std::size_t max_waiting_updates = 4096;
  std::size_t max_waiting_updates_mib = 64;
  // Batches that each map remembers by their request_id, by time and by memory.
  absl::Duration request_id_retention = absl::Minutes(10);
  std::size_t max_request_ids_mib = 64;
  // The memory of the replaced snapshots of all maps together.
  std::size_t old_snapshot_mib = 1024;
  // The memory of one worker's search.
  std::size_t scratch_mib = kMostScratchMib;
  // The memory of the search indexes of one map; 0 for none.
  std::size_t index_mib = 64;
  // The memory of the static indexes of all maps together; 0 for none.
  std::size_t static_index_mib = 512;
  // How long a map must be quiet before its static index is built.
  absl::Duration static_index_quiet_time = absl::Seconds(2);
  absl::Duration drain_timeout = absl::Seconds(10);
  // PEM files: the server's certificate with its chain, and its key. Give both or neither; without them it
  // serves plain text.
  std::string tls_cert;
  std::string tls_key;
  // A PEM file of the roots of the certificates that clients must show; they need none if empty.
  std::string tls_client_ca;
  // Only a gateway or a private network reaches `listen`, so that faults of the RPC library are no reason not
  // to start there.
  bool behind_gateway = false;
  // The file that says who may call, and do what; everybody may do everything if empty.
  std::string tokens_file;
  // The time between reporting that it is not ready and refusing calls.
  absl::Duration shutdown_delay = absl::ZeroDuration();
  // HOST:PORT where the RPCs are served as JSON over HTTP; nowhere if empty. Plain text unless http_tls.
  std::string http_listen;
  // HTTP is encrypted as gRPC is, with the same certificate, and asks clients for the same.
  bool http_tls = false;
  // The origins of the pages that may call there, which commas separate; "*" for all.
  std::string http_allow_origin;
  // The connections over HTTP at a time; each holds a thread.
  int http_calls = 256;
  // HOST:PORT where Prometheus gets metrics over HTTP; nowhere if empty.
  std::string metrics_listen;
  // Queries that take this long, from arrival to answer, are written to the log; 0 for none.
  absl::Duration slow_query = absl::Milliseconds(100);
  ConnectionOptions connections;
  std::string log_level = "info";
};

// Sets scratch_mib and max_maps_memory_mib where they are 0, so that both fit into `limit_mib` beside calls
// and the process itself:
// - Searches have half of it, or what the others leave, but an eighth at least, and at most kMostScratchMib a
//   worker.
// - Maps have half of it, or what the others leave, but an eighth at least.
// REQUIRES: workers > 0.
void DivideMemory(std::size_t limit_mib, Options& options);

// Reads the command line and the environment. A flag --max_maps may also be set as WAYSTAR_MAX_MAPS, or in a
// file of lines "--max_maps=10" named by --flagfile or WAYSTAR_FLAGFILE. The command line wins over the
// environment, and that over the file.
//
// Returns INVALID_ARGUMENT, naming the flag, for a value out of its range or an argument that is not a flag.
// Prints and ends the program for --help and --version, and for what the flag library itself refuses.
absl::StatusOr<Options> ReadOptions(int argc, char** argv);

}  // namespace waystar::runtime
