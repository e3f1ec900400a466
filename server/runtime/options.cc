#include "server/runtime/options.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "server/base/status_macros.h"
#include "server/runtime/flag_reader.h"
#include "server/runtime/memory_limit.h"

namespace {

const waystar::runtime::Options& Defaults() {
  static const auto* const defaults = new waystar::runtime::Options;
  return *defaults;
}

}  // namespace

ABSL_FLAG(std::string, listen, Defaults().listen,
          "Address to listen on: HOST:PORT or unix:PATH. Port 0 takes a free one.");
ABSL_FLAG(std::string, port_file, Defaults().port_file,
          "File to write the number of the listening port to, once the server answers.");
ABSL_FLAG(std::string, maps_dir, Defaults().maps_dir,
          "Folder whose maps (.waymap .txt .map .tmx .tmj .ldtk .geojson .mesh .navmesh .obj .tres .tscn "
          ".mmap, meshes of Unity in .json, and pictures with a .terrains beside them) are loaded at start, "
          "each named by its file's stem in lower case.");
ABSL_FLAG(
    bool, skip_damaged_maps, Defaults().skip_damaged_maps,
    "Leave out the maps of --maps_dir and --data_dir that do not load, with a line in the log for each. "
    "Without this the server does not start then.");
ABSL_FLAG(
    std::string, data_dir, Defaults().data_dir,
    "Folder that keeps the maps and all changes to them. It is created if its parent exists. Empty: maps "
    "live in memory alone. With --cluster it holds copies of the maps, from which the server starts while "
    "etcd is away.");
ABSL_FLAG(std::string, cluster, Defaults().cluster,
          "Keep the maps in etcd, together with other servers: etcd://HOST[:PORT][,HOST[:PORT]...][/PREFIX]. "
          "All servers with the same PREFIX, which is waystar unless it is given, are a fleet with the same "
          "maps.");
ABSL_FLAG(bool, cluster_tls, Defaults().cluster_tls, "Reach etcd over TLS.");
ABSL_FLAG(std::string, cluster_ca, Defaults().cluster_ca,
          "File with the PEM roots of etcd's certificates. Empty: those of the system.");
ABSL_FLAG(std::string, cluster_cert, Defaults().cluster_cert,
          "File with the PEM certificate that the server shows to etcd.");
ABSL_FLAG(std::string, cluster_key, Defaults().cluster_key, "File with the PEM key of --cluster_cert.");
ABSL_FLAG(std::string, cluster_password_file, Defaults().cluster_password_file,
          "File with a line USER:PASSWORD, if etcd asks for it.");
ABSL_FLAG(
    std::string, image_dir, Defaults().image_dir,
    "Folder on a volume that all servers of the fleet have mounted, and no other fleet uses, for images "
    "of maps of more than 64 MiB. It must exist. Empty: such maps are refused.");
ABSL_FLAG(
    std::string, advertise, Defaults().advertise,
    "HOST:PORT by which this server is listed among those of its fleet. Empty: that of --listen, with the "
    "name of the machine in place of all addresses.");
ABSL_FLAG(absl::Duration, max_staleness, Defaults().max_staleness,
          "How old the server's state may be before its health says NOT_SERVING, so that clients and proxies "
          "turn to others; 10s or more. 0: for any age, and queries are answered all the same.");
ABSL_FLAG(std::string, durability, "sync",
          "sync: what is acknowledged is on stable storage. relaxed: it may be lost with the machine's power "
          "for as long as --sync_interval, but not with the process.");
ABSL_FLAG(absl::Duration, sync_interval, Defaults().sync_interval,
          "How long what is acknowledged may not be on stable storage yet, with --durability=relaxed.");
ABSL_FLAG(
    absl::Duration, storage_stall_time, Defaults().storage_stall_time,
    "How long changes may wait for stable storage, beyond --sync_interval with --durability=relaxed, before "
    "health says NOT_SERVING under waystar.storage. 0: for any time.");
ABSL_FLAG(std::int64_t, max_log_mib, static_cast<std::int64_t>(Defaults().max_log_mib),
          "Size in MiB that all files of the log in --data_dir may have together; beyond it changes are "
          "refused. At a quarter of it images of the maps are made and old files removed.");
ABSL_FLAG(std::int64_t, workers, Defaults().workers,
          "Threads for small calls, and as many again, of lower priority, for large ones. 0: one per core.");
ABSL_FLAG(
    std::int64_t, max_queued, static_cast<std::int64_t>(Defaults().max_queued),
    "Calls that may wait for the workers for small calls, and for those for large ones; one more is refused, "
    "or one of the client that has most waiting.");
ABSL_FLAG(absl::Duration, max_queue_time, Defaults().max_queue_time,
          "How long a call may wait for a worker before it is refused.");
ABSL_FLAG(absl::Duration, queue_target, Defaults().queue_target,
          "When for 100 ms every call has waited longer than this (or than three calls take) for a worker, "
          "the server is overloaded: calls may wait for twice as long only, and for twice that again with "
          "each 100 ms in which the queue has emptied.");
ABSL_FLAG(
    std::int64_t, max_client_calls, Defaults().max_client_calls,
    "Calls of one client, known by its token or else by its connection, that may wait or run at a time; "
    "one more is refused. Streams and watches do not count.");
ABSL_FLAG(std::int64_t, max_call_memory_mib, static_cast<std::int64_t>(Defaults().max_call_memory_mib),
          "Most memory for large requests and for answers that are not read, of all calls together, in MiB; "
          "what does not fit is refused.");
ABSL_FLAG(
    std::int64_t, max_connection_memory_mib, static_cast<std::int64_t>(Defaults().max_connection_memory_mib),
    "Most memory for large requests and unread answers of one connection, in MiB; a connection that has "
    "as much is refused until it reads.");
ABSL_FLAG(std::int64_t, max_maps, static_cast<std::int64_t>(Defaults().max_maps),
          "Maps the server may hold.");
ABSL_FLAG(
    std::int64_t, max_maps_memory_mib, 0,
    "Most memory for all maps together, with their indexes, views, history and earlier revisions, in MiB; "
    "what needs more is refused. 0: half of what the machine has, or the container, or what searches and "
    "calls leave of it, if that is less.");
ABSL_FLAG(std::int64_t, max_map_side, Defaults().max_map_side,
          "Longest width and height of a map, in cells; at most 8192.");
ABSL_FLAG(std::int64_t, max_message_bytes, Defaults().max_message_bytes,
          "Largest message, either way. Larger maps go through ImportMap.");
ABSL_FLAG(std::int64_t, max_import_bytes, Defaults().max_import_bytes,
          "Largest file ImportMap takes, all chunks together.");
ABSL_FLAG(std::int64_t, max_transfers, Defaults().max_transfers,
          "Imports, exports and traces that may run at a time. One client, known by its token or else by its "
          "address, may have three times as many as it leaves free, and one in any case. An import that is "
          "one too many waits for others before its file is read; an export or a trace is refused.");
ABSL_FLAG(absl::Duration, transfer_timeout, Defaults().transfer_timeout,
          "How long one import, export or trace may take, and how long an import may wait for others.");
ABSL_FLAG(absl::Duration, transfer_stall_timeout, Defaults().transfer_stall_timeout,
          "How long the client of an import may send nothing, and that of an export or a trace read nothing, "
          "before the call is ended.");
ABSL_FLAG(std::int64_t, max_watches, Defaults().max_watches,
          "Watches of maps and paths that may be open at a time; one more is refused. One client, known by "
          "its token or else by its address, may have three times as many as it leaves free: three "
          "quarters of them if it is alone.");
ABSL_FLAG(std::int64_t, max_streams, Defaults().max_streams,
          "Streams of queries and of updates that may be open at a time, of which a client has a share as of "
          "watches.");
ABSL_FLAG(
    std::int64_t, max_awaited_requests, Defaults().max_awaited_requests,
    "Calls that may have begun while their request has not arrived, of which a client has a share as of "
    "watches; one more is refused.");
ABSL_FLAG(absl::Duration, request_timeout, Defaults().request_timeout,
          "How long the request of a call may take to arrive. Streams have no such limit.");
ABSL_FLAG(std::int64_t, stream_window, static_cast<std::int64_t>(Defaults().stream_window),
          "Batches of one StreamObstacleUpdates that may be unanswered; more are not read until some are.");
ABSL_FLAG(std::int64_t, max_history_commits, static_cast<std::int64_t>(Defaults().max_history_commits),
          "Revisions each map remembers; a watcher that is further behind is told to resynchronize.");
ABSL_FLAG(std::int64_t, max_history_mib, static_cast<std::int64_t>(Defaults().max_history_mib),
          "Most memory for the revisions that one map remembers, in MiB.");
ABSL_FLAG(std::int64_t, max_waiting_updates, static_cast<std::int64_t>(Defaults().max_waiting_updates),
          "Batches of edits that may wait for one map; one more is refused.");
ABSL_FLAG(std::int64_t, max_waiting_updates_mib,
          static_cast<std::int64_t>(Defaults().max_waiting_updates_mib),
          "Most memory for the batches that wait for one map, in MiB; what does not fit is refused.");
ABSL_FLAG(absl::Duration, request_id_retention, Defaults().request_id_retention,
          "How long each map remembers batches by their request_id; the last 10,000 longer.");
ABSL_FLAG(std::int64_t, max_request_ids_mib, static_cast<std::int64_t>(Defaults().max_request_ids_mib),
          "Most memory for the batches that one map remembers by their request_id, in MiB; beyond it those "
          "that were applied first are forgotten, and while they are younger than --request_id_retention, "
          "batches without a request_time are refused.");
ABSL_FLAG(std::int64_t, old_snapshot_mib, static_cast<std::int64_t>(Defaults().old_snapshot_mib),
          "Most memory for earlier revisions of all maps that searches still read, in MiB. Beyond it the "
          "searches on the oldest are ended.");
ABSL_FLAG(
    std::int64_t, scratch_mib, 0,
    "Most memory for one worker's search, in MiB. A search that needs more ends with what it has. 0: 1280, "
    "or less where all workers together would have more than half of what the machine has, or the "
    "container, or than calls and maps leave of it.");
ABSL_FLAG(std::int64_t, index_mib, static_cast<std::int64_t>(Defaults().index_mib),
          "Most memory for the search indexes of one map, in MiB; 0: none. A map whose indexes do not fit is "
          "searched without, which is slower on open ground.");
ABSL_FLAG(
    std::int64_t, static_index_mib, static_cast<std::int64_t>(Defaults().static_index_mib),
    "Most memory for the static indexes of all maps together, in MiB, which are built in the background "
    "for maps that are searched with ALGORITHM_SUBGOAL_HIERARCHY; 0: none.");
ABSL_FLAG(absl::Duration, static_index_quiet_time, Defaults().static_index_quiet_time,
          "How long a map must not have changed before its static index is built.");
ABSL_FLAG(absl::Duration, drain_timeout, Defaults().drain_timeout,
          "How long calls in flight may take to finish after SIGTERM.");
ABSL_FLAG(
    absl::Duration, shutdown_delay, Defaults().shutdown_delay,
    "How long to go on serving after SIGTERM while health says NOT_SERVING, so that load balancers see it "
    "before calls are refused.");
ABSL_FLAG(
    std::string, http_listen, Defaults().http_listen,
    "HOST:PORT to serve the RPCs at as JSON over HTTP, for browsers and tools without gRPC, and a page that "
    "shows the maps; in plain text unless --http_tls. Empty: nowhere.");
ABSL_FLAG(bool, http_tls, Defaults().http_tls,
          "Encrypt HTTP with --tls_cert and --tls_key, and ask its clients for certificates of "
          "--tls_client_ca if that is set. There is no plain text at --http_listen then.");
ABSL_FLAG(
    std::string, http_allow_origin, Defaults().http_allow_origin,
    "Origins whose pages may call over HTTP, such as https://game.example, which commas separate. *: all. "
    "Pages of other sites are refused.");
ABSL_FLAG(std::int64_t, http_calls, Defaults().http_calls,
          "Calls over HTTP that may be on their way at a time, streams among them, which are at most five "
          "eighths. One address may have three times as many of each as it leaves free.");
ABSL_FLAG(
    std::string, metrics_listen, Defaults().metrics_listen,
    "HOST:PORT to serve metrics at, for Prometheus: GET /metrics over HTTP, to anyone; PORT for this machine "
    "alone. Empty: nowhere.");
ABSL_FLAG(
    absl::Duration, slow_query, Defaults().slow_query,
    "Queries that take as long are written to the log, with all that is needed to repeat them. 0: none.");
ABSL_FLAG(std::string, tls_cert, Defaults().tls_cert,
          "PEM file of the server's certificate and its chain. Looked at again when it changes.");
ABSL_FLAG(std::string, tls_key, Defaults().tls_key, "PEM file of the key of --tls_cert.");
ABSL_FLAG(std::string, tls_client_ca, Defaults().tls_client_ca,
          "PEM file of roots. Clients must show a certificate of one of them.");
ABSL_FLAG(bool, behind_gateway, Defaults().behind_gateway,
          "Says that only a gateway or a private network reaches --listen. Without this, without "
          "--tls_client_ca and with a gRPC older than 1.57, which has published faults, the server starts on "
          "this machine's own addresses alone.");
ABSL_FLAG(std::string, tokens_file, Defaults().tokens_file,
          "File of the tokens that calls must show, and what each allows. Looked at again when it changes.");
ABSL_FLAG(std::string, log_level, Defaults().log_level, "debug, info, warning or error.");

namespace waystar::runtime {
namespace {

// Group name under which the flags of this folder are registered.
constexpr absl::string_view kGroup = "waystar-server";
constexpr absl::string_view kFlagFile = "flagfile";

bool IsOfThisFolder(absl::string_view file) { return absl::StrContains(file, "server/runtime/"); }

std::string VariableOf(absl::string_view flag) {
  return absl::StrCat("WAYSTAR_", absl::AsciiStrToUpper(flag));
}

void AppendFromEnvironment(absl::string_view flag, std::vector<std::string>& args) {
  if (const char* value = std::getenv(VariableOf(flag).c_str()); value != nullptr) {
    args.push_back(absl::StrCat("--", flag, "=", value));
  }
}

// Returns the arguments in increasing priority, since a later flag overrides an earlier one: flag files, the
// environment, the rest of the command line.
std::vector<std::string> ArgumentsInOrder(int argc, char** argv) {
  std::vector<std::string> args = {argv[0]};
  AppendFromEnvironment(kFlagFile, args);
  std::vector<std::string> rest;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    const absl::string_view flag = absl::StripPrefix(absl::StripPrefix(argument, "-"), "-");
    if (flag == kFlagFile && flag != argument && i + 1 < argc) {
      args.push_back(absl::StrCat("--", kFlagFile, "=", argv[++i]));
    } else if (absl::StartsWith(flag, absl::StrCat(kFlagFile, "=")) && flag != argument) {
      args.emplace_back(argument);
    } else {
      rest.emplace_back(argument);
    }
  }
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (flag->Filename() == kGroup) {
      AppendFromEnvironment(name, args);
    }
  }
  args.insert(args.end(), rest.begin(), rest.end());
  return args;
}

absl::Status CheckTls(const Options& options) {
  if (options.tls_cert.empty() != options.tls_key.empty()) {
    return absl::InvalidArgumentError("--tls_cert and --tls_key go together");
  }
  if (options.tls_cert.empty() && !options.tls_client_ca.empty()) {
    return absl::InvalidArgumentError("--tls_client_ca needs --tls_cert and --tls_key");
  }
  return absl::OkStatus();
}

absl::Status CheckHttp(const Options& options) {
  if (options.http_listen.empty() && !options.http_allow_origin.empty()) {
    return absl::InvalidArgumentError("--http_allow_origin needs --http_listen");
  }
  if (options.http_tls && (options.http_listen.empty() || options.tls_cert.empty())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--http_tls needs ", options.http_listen.empty() ? "--http_listen" : "--tls_cert and --tls_key"));
  }
  if (!options.http_listen.empty() && !options.tls_client_ca.empty() && !options.http_tls) {
    return absl::InvalidArgumentError(
        "--http_listen asks for no certificates, and --tls_client_ca wants them of all clients: --http_tls "
        "asks for them over HTTP as well");
  }
  return absl::OkStatus();
}

void ReadClusterFlags(FlagReader& read, Options& options) {
  read.Text(FLAGS_cluster, options.cluster);
  read.Text(FLAGS_cluster_ca, options.cluster_ca);
  read.Text(FLAGS_cluster_cert, options.cluster_cert);
  read.Text(FLAGS_cluster_key, options.cluster_key);
  read.Text(FLAGS_cluster_password_file, options.cluster_password_file);
  read.Text(FLAGS_image_dir, options.image_dir);
  read.Text(FLAGS_advertise, options.advertise);
  read.Time(FLAGS_max_staleness, options.max_staleness);
  options.cluster_tls = absl::GetFlag(FLAGS_cluster_tls);
}

absl::Status CheckCluster(const Options& options) {
  const bool has_files = !options.cluster_ca.empty() || !options.cluster_cert.empty();
  if (options.cluster.empty() &&
      (options.cluster_tls || has_files || !options.cluster_password_file.empty())) {
    return absl::InvalidArgumentError("the flags that begin with --cluster_ need --cluster");
  }
  if (options.cluster.empty() && !options.image_dir.empty()) {
    return absl::InvalidArgumentError("--image_dir needs --cluster");
  }
  if (options.max_staleness > absl::ZeroDuration() &&
      (options.cluster.empty() || options.max_staleness < absl::Seconds(10))) {
    return absl::InvalidArgumentError("--max_staleness needs --cluster, and is 10s or more");
  }
  if (has_files && !options.cluster_tls) {
    return absl::InvalidArgumentError("--cluster_ca and --cluster_cert need --cluster_tls");
  }
  if (options.cluster_cert.empty() != options.cluster_key.empty()) {
    return absl::InvalidArgumentError("--cluster_cert and --cluster_key need each other");
  }
  return absl::OkStatus();
}

absl::Status ReadDataFlags(FlagReader& read, Options& options) {
  read.Text(FLAGS_data_dir, options.data_dir);
  read.PositiveTime(FLAGS_sync_interval, options.sync_interval);
  read.Time(FLAGS_storage_stall_time, options.storage_stall_time);
  read.Number(FLAGS_max_log_mib, 1, 1 << 20, options.max_log_mib);
  const std::string durability = absl::GetFlag(FLAGS_durability);
  if (durability != "sync" && durability != "relaxed") {
    return absl::InvalidArgumentError(
        absl::StrCat("--durability must be sync or relaxed, not \"", durability, "\""));
  }
  options.relaxed_durability = durability == "relaxed";
  if (options.relaxed_durability && options.data_dir.empty()) {
    return absl::InvalidArgumentError("--durability=relaxed needs --data_dir");
  }
  if (!options.relaxed_durability && options.sync_interval != Defaults().sync_interval) {
    return absl::InvalidArgumentError("--sync_interval needs --durability=relaxed");
  }
  return absl::OkStatus();
}

// Memory of the process itself, its threads and connections.
constexpr std::size_t kProcessMib = 64;
constexpr std::size_t kLeastScratchMib = 2;

absl::StatusOr<Options> FromFlags() {
  constexpr std::int64_t kMaxInt = std::numeric_limits<int>::max();
  Options options;
  FlagReader read;
  read.Text(FLAGS_listen, options.listen);
  read.Text(FLAGS_port_file, options.port_file);
  read.Text(FLAGS_maps_dir, options.maps_dir);
  read.Switch(FLAGS_skip_damaged_maps, options.skip_damaged_maps);
  read.Number(FLAGS_workers, 0, 1024, options.workers);
  read.Number(FLAGS_max_queued, 1, 1'000'000, options.max_queued);
  read.PositiveTime(FLAGS_max_queue_time, options.max_queue_time);
  read.PositiveTime(FLAGS_queue_target, options.queue_target);
  read.Number(FLAGS_max_client_calls, 1, kMaxInt, options.max_client_calls);
  read.Number(FLAGS_max_call_memory_mib, 1, 1 << 20, options.max_call_memory_mib);
  read.Number(FLAGS_max_connection_memory_mib, 1, 1 << 20, options.max_connection_memory_mib);
  read.Number(FLAGS_max_maps, 1, 1'000'000, options.max_maps);
  read.Number(FLAGS_max_maps_memory_mib, 0, 1LL << 30, options.max_maps_memory_mib);
  read.Number(FLAGS_max_map_side, 1, 8192, options.max_map_side);
  read.Number(FLAGS_max_message_bytes, 1024, kMaxInt, options.max_message_bytes);
  read.Number(FLAGS_max_import_bytes, 1024, 1LL << 40, options.max_import_bytes);
  read.Number(FLAGS_max_transfers, 1, 1'000'000, options.max_transfers);
  read.PositiveTime(FLAGS_transfer_timeout, options.transfer_timeout);
  read.PositiveTime(FLAGS_transfer_stall_timeout, options.transfer_stall_timeout);
  read.Number(FLAGS_max_watches, 1, 10'000'000, options.max_watches);
  read.Number(FLAGS_max_streams, 1, 10'000'000, options.max_streams);
  read.Number(FLAGS_max_awaited_requests, 1, 10'000'000, options.max_awaited_requests);
  read.PositiveTime(FLAGS_request_timeout, options.request_timeout);
  read.Number(FLAGS_stream_window, 1, 1'000'000, options.stream_window);
  read.Number(FLAGS_max_history_commits, 1, 100'000'000, options.max_history_commits);
  read.Number(FLAGS_max_history_mib, 1, 1 << 20, options.max_history_mib);
  read.Number(FLAGS_max_waiting_updates, 1, 1'000'000, options.max_waiting_updates);
  read.Number(FLAGS_max_waiting_updates_mib, 1, 1 << 20, options.max_waiting_updates_mib);
  read.PositiveTime(FLAGS_request_id_retention, options.request_id_retention);
  read.Number(FLAGS_max_request_ids_mib, 1, 1 << 20, options.max_request_ids_mib);
  read.Number(FLAGS_old_snapshot_mib, 1, 1 << 20, options.old_snapshot_mib);
  read.Number(FLAGS_scratch_mib, 0, 1 << 20, options.scratch_mib);
  read.Number(FLAGS_index_mib, 0, 1 << 20, options.index_mib);
  read.Number(FLAGS_static_index_mib, 0, 1 << 20, options.static_index_mib);
  read.PositiveTime(FLAGS_static_index_quiet_time, options.static_index_quiet_time);
  read.PositiveTime(FLAGS_drain_timeout, options.drain_timeout);
  read.Text(FLAGS_tls_cert, options.tls_cert);
  read.Text(FLAGS_tls_key, options.tls_key);
  read.Text(FLAGS_tls_client_ca, options.tls_client_ca);
  read.Switch(FLAGS_behind_gateway, options.behind_gateway);
  read.Text(FLAGS_tokens_file, options.tokens_file);
  read.Time(FLAGS_shutdown_delay, options.shutdown_delay);
  read.Text(FLAGS_http_listen, options.http_listen);
  read.Switch(FLAGS_http_tls, options.http_tls);
  read.Text(FLAGS_http_allow_origin, options.http_allow_origin);
  read.Number(FLAGS_http_calls, 4, 65536, options.http_calls);
  read.Text(FLAGS_metrics_listen, options.metrics_listen);
  if (!options.metrics_listen.empty() && !absl::StrContains(options.metrics_listen, ':')) {
    options.metrics_listen.insert(0, "localhost:");
  }
  read.Time(FLAGS_slow_query, options.slow_query);
  ReadConnectionFlags(read, options.connections);
  read.Text(FLAGS_log_level, options.log_level);
  ReadClusterFlags(read, options);
  const absl::Status data = ReadDataFlags(read, options);
  WAYSTAR_RETURN_IF_ERROR(read.status());
  WAYSTAR_RETURN_IF_ERROR(data);
  WAYSTAR_RETURN_IF_ERROR(CheckCluster(options));
  WAYSTAR_RETURN_IF_ERROR(CheckTls(options));
  WAYSTAR_RETURN_IF_ERROR(CheckHttp(options));
  if (options.workers == 0) {
    options.workers = std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
  }
  if (options.scratch_mib == 1) {
    return absl::InvalidArgumentError("--scratch_mib must be 0 or from 2 on, not 1");
  }
  DivideMemory(MemoryLimit() >> 20, options);
  return options;
}

}  // namespace

void DivideMemory(std::size_t limit_mib, Options& options) {
  const auto workers = static_cast<std::size_t>(options.workers);
  // Heap overhead grows with the heap: allow a sixteenth.
  const std::size_t others = options.max_call_memory_mib + kProcessMib + limit_mib / 16;
  const auto half_beside = [&](std::size_t more) {
    return std::min(limit_mib / 2, limit_mib - std::min(limit_mib, others + more));
  };
  const std::size_t least_of_maps =
      options.max_maps_memory_mib > 0 ? options.max_maps_memory_mib : limit_mib / 8;
  if (options.scratch_mib == 0) {
    options.scratch_mib = std::clamp(std::max(half_beside(least_of_maps), limit_mib / 8) / workers,
                                     kLeastScratchMib, kMostScratchMib);
  }
  if (options.max_maps_memory_mib == 0) {
    options.max_maps_memory_mib =
        std::max({half_beside(workers * options.scratch_mib), least_of_maps, std::size_t{1}});
  }
}

absl::StatusOr<Options> ReadOptions(int argc, char** argv) {
  absl::FlagsUsageConfig config;
  config.contains_help_flags = [](absl::string_view group) { return group == kGroup; };
  config.contains_helpshort_flags = config.contains_help_flags;
  config.version_string = [] { return std::string("waystar-server " WAYSTAR_VERSION "\n"); };
  config.normalize_filename = [](absl::string_view file) {
    return std::string(IsOfThisFolder(file) ? kGroup : file);
  };
  absl::SetFlagsUsageConfig(config);
  absl::SetProgramUsageMessage(
      "Serves paths on grids, graphs and navigation meshes over gRPC.\n\n"
      "  waystar-server --maps_dir=maps --data_dir=data --listen=127.0.0.1:7450\n"
      "  waystar-server data check data\n\n"
      "The second looks into a folder of --data_dir; `waystar-server data` lists what else it can do.\n"
      "Each flag may also be set by the environment (--max_maps as WAYSTAR_MAX_MAPS) or in a file of lines\n"
      "\"--max_maps=10\" named by --flagfile or WAYSTAR_FLAGFILE. The command line wins over the "
      "environment, and\n"
      "that over the file.");

  const std::vector<std::string> arguments = ArgumentsInOrder(argc, argv);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size());
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  const std::vector<char*> positional =
      absl::ParseCommandLine(static_cast<int>(pointers.size()), pointers.data());
  if (positional.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("\"", positional[1], "\" is no flag"));
  }
  return FromFlags();
}

}  // namespace waystar::runtime
