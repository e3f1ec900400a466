#include "server/runtime/options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <thread>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/runtime/process.h"

namespace waystar::runtime {
namespace {

// Copies flag values into option fields, and keeps the error of the first value that is out of range.
class FlagReader {
 public:
  template <typename T>
  void Number(const absl::Flag<std::int64_t>& flag, T& field, std::int64_t low, std::int64_t high) {
    const std::int64_t value = absl::GetFlag(flag);
    if (value < low || value > high) {
      Refuse(flag, absl::StrCat(low, " to ", high), absl::StrCat(value));
    }
    field = static_cast<T>(value);
  }
  // The value must be more than 0, and at most 24 hours.
  void PositiveTime(const absl::Flag<absl::Duration>& flag, absl::Duration& field) {
    field = absl::GetFlag(flag);
    if (field <= absl::ZeroDuration() || field > absl::Hours(24)) {
      Refuse(flag, "more than 0 and at most 24h", absl::FormatDuration(field));
    }
  }
  // The value must be from 0 to 24 hours.
  void Time(const absl::Flag<absl::Duration>& flag, absl::Duration& field) {
    field = absl::GetFlag(flag);
    if (field < absl::ZeroDuration() || field > absl::Hours(24)) {
      Refuse(flag, "0 to 24h", absl::FormatDuration(field));
    }
  }
  template <typename T>
  void Any(const absl::Flag<T>& flag, T& field) {
    field = absl::GetFlag(flag);
  }

  // Returns INVALID_ARGUMENT, with the flag's name, if a value was out of range.
  const absl::Status& status() const { return status_; }

 private:
  template <typename T>
  void Refuse(const absl::Flag<T>& flag, absl::string_view range, absl::string_view value) {
    status_.Update(absl::InvalidArgumentError(
        absl::StrCat("--", absl::GetFlagReflectionHandle(flag).Name(), " must be ", range, ", got ", value)));
  }

  absl::Status status_;
};

const Options& Defaults() {
  static const auto* const defaults = new Options;
  return *defaults;
}

// Functions that read the flags below, in the order of their definition.
using ReadFlag = void (*)(FlagReader& reader, Options& options);
std::vector<ReadFlag>& FlagReads() {
  static auto* const reads = new std::vector<ReadFlag>;
  return *reads;
}
bool Add(ReadFlag read) {
  FlagReads().push_back(read);
  return true;
}

}  // namespace
}  // namespace waystar::runtime

// Defines a flag of an option: its name, the option, the range of a number, and the help.
#define WAYSTAR_FLAG(type, name, option, help, read)                                   \
  ABSL_FLAG(type, name, static_cast<type>(waystar::runtime::Defaults().option), help); \
  [[maybe_unused]] const bool is_read_##name = waystar::runtime::Add(                  \
      [](waystar::runtime::FlagReader& reader, waystar::runtime::Options& options) { reader.read; })
#define WAYSTAR_NUMBER_FLAG(name, option, low, high, help) \
  WAYSTAR_FLAG(std::int64_t, name, option, help, Number(FLAGS_##name, options.option, low, high))
#define WAYSTAR_TEXT_FLAG(name, option, help) \
  WAYSTAR_FLAG(std::string, name, option, help, Any(FLAGS_##name, options.option))
#define WAYSTAR_SWITCH_FLAG(name, option, help) \
  WAYSTAR_FLAG(bool, name, option, help, Any(FLAGS_##name, options.option))
#define WAYSTAR_TIME_FLAG(name, option, help) \
  WAYSTAR_FLAG(absl::Duration, name, option, help, Time(FLAGS_##name, options.option))
#define WAYSTAR_POSITIVE_TIME_FLAG(name, option, help) \
  WAYSTAR_FLAG(absl::Duration, name, option, help, PositiveTime(FLAGS_##name, options.option))

WAYSTAR_TEXT_FLAG(listen, listen, "Address to listen on: HOST:PORT or unix:PATH. Port 0 takes a free one.");
WAYSTAR_TEXT_FLAG(port_file, port_file,
                  "File to write the number of the listening port to, once the server answers.");
WAYSTAR_TEXT_FLAG(
    maps_dir, maps_dir,
    "Folder whose maps (.waymap .txt .map .tmx .tmj .ldtk .geojson .mesh .navmesh .obj .tres .tscn "
    ".mmap, meshes of Unity in .json, and pictures with a .terrains beside them) are loaded at start, "
    "each named by its file's stem in lower case.");
WAYSTAR_SWITCH_FLAG(
    skip_damaged_maps, skip_damaged_maps,
    "Leave out the maps of --maps_dir and --data_dir that do not load, with a line in the log for each. "
    "Without this the server does not start then.");
WAYSTAR_TEXT_FLAG(
    data_dir, data_dir,
    "Folder that keeps the maps and all changes to them. It is created if its parent exists. Empty: maps "
    "live in memory alone. With --cluster it holds copies of the maps, from which the server starts while "
    "etcd is away.");
WAYSTAR_TEXT_FLAG(
    cluster, cluster,
    "Keep the maps in etcd, together with other servers: etcd://HOST[:PORT][,HOST[:PORT]...][/PREFIX]. "
    "All servers with the same PREFIX, which is waystar unless it is given, are a fleet with the same "
    "maps.");
WAYSTAR_SWITCH_FLAG(cluster_tls, cluster_tls, "Reach etcd over TLS.");
WAYSTAR_TEXT_FLAG(cluster_ca, cluster_ca,
                  "File with the PEM roots of etcd's certificates. Empty: those of the system.");
WAYSTAR_TEXT_FLAG(cluster_cert, cluster_cert, "File with the PEM certificate that the server shows to etcd.");
WAYSTAR_TEXT_FLAG(cluster_key, cluster_key, "File with the PEM key of --cluster_cert.");
WAYSTAR_TEXT_FLAG(cluster_password_file, cluster_password_file,
                  "File with a line USER:PASSWORD, if etcd asks for it.");
WAYSTAR_TEXT_FLAG(
    image_dir, image_dir,
    "Folder on a volume that all servers of the fleet have mounted, and no other fleet uses, for images "
    "of maps of more than 64 MiB. It must exist. Empty: such maps are refused.");
WAYSTAR_TEXT_FLAG(
    advertise, advertise,
    "HOST:PORT by which this server is listed among those of its fleet. Empty: that of --listen, with the "
    "name of the machine in place of all addresses.");
WAYSTAR_TIME_FLAG(
    max_staleness, max_staleness,
    "How old the server's state may be before its health says NOT_SERVING, so that clients and proxies "
    "turn to others; 10s or more. 0: for any age, and queries are answered all the same.");
ABSL_FLAG(std::string, durability, "sync",
          "sync: what is acknowledged is on stable storage. relaxed: it may be lost with the machine's power "
          "for as long as --sync_interval, but not with the process.");
WAYSTAR_POSITIVE_TIME_FLAG(
    sync_interval, sync_interval,
    "How long what is acknowledged may not be on stable storage yet, with --durability=relaxed.");
WAYSTAR_TIME_FLAG(
    storage_stall_time, storage_stall_time,
    "How long changes may wait for stable storage, beyond --sync_interval with --durability=relaxed, before "
    "health says NOT_SERVING under waystar.storage. 0: for any time.");
WAYSTAR_NUMBER_FLAG(
    max_log_mib, max_log_mib, 1, 1 << 20,
    "Size in MiB that all files of the log in --data_dir may have together; beyond it changes are "
    "refused. At a quarter of it images of the maps are made and old files removed.");
WAYSTAR_NUMBER_FLAG(
    workers, workers, 0, 1024,
    "Threads for small calls, and as many again, of lower priority, for large ones. 0: one per core.");
WAYSTAR_NUMBER_FLAG(
    max_queued, max_queued, 1, 1'000'000,
    "Calls that may wait for the workers for small calls, and for those for large ones; one more is refused, "
    "or one of the client that has most waiting.");
WAYSTAR_POSITIVE_TIME_FLAG(max_queue_time, max_queue_time,
                           "How long a call may wait for a worker before it is refused.");
WAYSTAR_POSITIVE_TIME_FLAG(
    queue_target, queue_target,
    "When for 100 ms every call has waited longer than this (or than three calls take) for a worker, "
    "the server is overloaded: calls may wait for twice as long only, and for twice that again with "
    "each 100 ms in which the queue has emptied.");
WAYSTAR_NUMBER_FLAG(
    max_client_calls, max_client_calls, 1, std::numeric_limits<int>::max(),
    "Calls of one client, known by its token or else by its connection, that may wait or run at a time; "
    "one more is refused. Streams and watches do not count.");
WAYSTAR_NUMBER_FLAG(
    max_call_memory_mib, max_call_memory_mib, 1, 1 << 20,
    "Most memory for large requests and for answers that are not read, of all calls together, in MiB; "
    "what does not fit is refused.");
WAYSTAR_NUMBER_FLAG(
    max_connection_memory_mib, max_connection_memory_mib, 1, 1 << 20,
    "Most memory for large requests and unread answers of one connection, in MiB; a connection that has "
    "as much is refused until it reads.");
WAYSTAR_NUMBER_FLAG(max_maps, max_maps, 1, 1'000'000, "Maps the server may hold.");
WAYSTAR_NUMBER_FLAG(
    max_maps_memory_mib, max_maps_memory_mib, 0, 1LL << 30,
    "Most memory for all maps together, with their indexes, views, history and earlier revisions, in MiB; "
    "what needs more is refused. 0: half of what the machine has, or the container, or what searches and "
    "calls leave of it, if that is less.");
WAYSTAR_NUMBER_FLAG(max_map_side, max_map_side, 1, 8192,
                    "Longest width and height of a map, in cells; at most 8192.");
WAYSTAR_NUMBER_FLAG(max_message_bytes, max_message_bytes, 1024, std::numeric_limits<int>::max(),
                    "Largest message, either way. Larger maps go through ImportMap.");
WAYSTAR_NUMBER_FLAG(max_import_bytes, max_import_bytes, 1024, 1LL << 40,
                    "Largest file ImportMap takes, all chunks together.");
WAYSTAR_NUMBER_FLAG(
    max_transfers, max_transfers, 1, 1'000'000,
    "Imports, exports and traces that may run at a time. One client, known by its token or else by its "
    "address, may have three times as many as it leaves free, and one in any case. An import that is "
    "one too many waits for others before its file is read; an export or a trace is refused.");
WAYSTAR_POSITIVE_TIME_FLAG(
    transfer_timeout, transfer_timeout,
    "How long one import, export or trace may take, and how long an import may wait for others.");
WAYSTAR_POSITIVE_TIME_FLAG(
    transfer_stall_timeout, transfer_stall_timeout,
    "How long the client of an import may send nothing, and that of an export or a trace read nothing, "
    "before the call is ended.");
WAYSTAR_NUMBER_FLAG(
    max_watches, max_watches, 1, 10'000'000,
    "Watches of maps that may be open at a time; one more is refused. One client, known by its token "
    "or else by its address, may have three times as many as it leaves free: three quarters of them "
    "if it is alone.");
WAYSTAR_NUMBER_FLAG(max_agents, max_agents, 1, 10'000'000,
                    "Agents that streams may follow at a time, of which a client has a share as of watches.");
WAYSTAR_NUMBER_FLAG(max_streams, max_streams, 1, 10'000'000,
                    "Streams of queries, of updates and of agents that may be open at a time, of which a "
                    "client has a share as of "
                    "watches.");
WAYSTAR_NUMBER_FLAG(
    max_awaited_requests, max_awaited_requests, 1, 10'000'000,
    "Calls that may have begun while their request has not arrived, of which a client has a share as of "
    "watches; one more is refused.");
WAYSTAR_POSITIVE_TIME_FLAG(request_timeout, request_timeout,
                           "How long the request of a call may take to arrive. Streams have no such limit.");
WAYSTAR_NUMBER_FLAG(
    stream_window, stream_window, 1, 1'000'000,
    "Messages of one StreamUpdates or StreamFindPath that may be unanswered; more are not read until "
    "some are.");
WAYSTAR_NUMBER_FLAG(
    max_history_commits, max_history_commits, 1, 100'000'000,
    "Revisions each map remembers; a watcher that is further behind is told to resynchronize.");
WAYSTAR_NUMBER_FLAG(max_history_mib, max_history_mib, 1, 1 << 20,
                    "Most memory for the revisions that one map remembers, in MiB.");
WAYSTAR_NUMBER_FLAG(max_waiting_updates, max_waiting_updates, 1, 1'000'000,
                    "Batches of edits that may wait for one map; one more is refused.");
WAYSTAR_NUMBER_FLAG(
    max_waiting_updates_mib, max_waiting_updates_mib, 1, 1 << 20,
    "Most memory for the batches that wait for one map, in MiB; what does not fit is refused.");
WAYSTAR_POSITIVE_TIME_FLAG(
    request_id_retention, request_id_retention,
    "How long each map remembers batches by their request_id; the last 10,000 longer.");
WAYSTAR_NUMBER_FLAG(
    max_request_ids_mib, max_request_ids_mib, 1, 1 << 20,
    "Most memory for the batches that one map remembers by their request_id, in MiB; beyond it those "
    "that were applied first are forgotten, and while they are younger than --request_id_retention, "
    "batches without a request_time are refused.");
WAYSTAR_NUMBER_FLAG(
    old_snapshot_mib, old_snapshot_mib, 1, 1 << 20,
    "Most memory for earlier revisions of all maps that searches still read, in MiB. Beyond it the "
    "searches on the oldest are ended.");
ABSL_FLAG(
    std::int64_t, scratch_mib, 0,
    "Most memory for one worker's search, in MiB. A search that needs more ends with what it has. 0: 1280, "
    "or less where all workers together would have more than half of what the machine has, or the "
    "container, or than calls and maps leave of it.");
WAYSTAR_NUMBER_FLAG(
    index_mib, index_mib, 0, 1 << 20,
    "Most memory for the search indexes of one map, in MiB; 0: none. A map whose indexes do not fit is "
    "searched without, which is slower on open ground.");
WAYSTAR_NUMBER_FLAG(
    static_index_mib, static_index_mib, 0, 1 << 20,
    "Most memory for the static indexes of all maps together, in MiB, which are built in the background "
    "for maps that are searched with ALGORITHM_SUBGOAL_HIERARCHY; 0: none.");
WAYSTAR_POSITIVE_TIME_FLAG(static_index_quiet_time, static_index_quiet_time,
                           "How long a map must have changed little before its static index is built.");
WAYSTAR_POSITIVE_TIME_FLAG(drain_timeout, drain_timeout,
                           "How long calls in flight may take to finish after SIGTERM.");
WAYSTAR_TIME_FLAG(
    shutdown_delay, shutdown_delay,
    "How long to go on serving after SIGTERM while health says NOT_SERVING, so that load balancers see it "
    "before calls are refused.");
WAYSTAR_TEXT_FLAG(
    http_listen, http_listen,
    "HOST:PORT to serve the RPCs at as JSON over HTTP, for browsers and tools without gRPC, and a page that "
    "shows the maps; in plain text unless --http_tls. Empty: nowhere.");
WAYSTAR_SWITCH_FLAG(http_tls, http_tls,
                    "Encrypt HTTP with --tls_cert and --tls_key, and ask its clients for certificates of "
                    "--tls_client_ca if that is set. There is no plain text at --http_listen then.");
WAYSTAR_TEXT_FLAG(
    http_allow_origin, http_allow_origin,
    "Origins whose pages may call over HTTP, such as https://game.example, which commas separate. *: all. "
    "Pages of other sites are refused.");
WAYSTAR_NUMBER_FLAG(
    http_calls, http_calls, 4, 65536,
    "Calls over HTTP that may be on their way at a time, streams among them, which are at most five "
    "eighths. One address may have three times as many of each as it leaves free.");
WAYSTAR_TEXT_FLAG(
    metrics_listen, metrics_listen,
    "HOST:PORT to serve metrics at, for Prometheus: GET /metrics over HTTP, to anyone; PORT for this machine "
    "alone. Empty: nowhere.");
WAYSTAR_TIME_FLAG(
    slow_query, slow_query,
    "Queries that take as long are written to the log, with all that is needed to repeat them. 0: none.");
WAYSTAR_TEXT_FLAG(tls_cert, tls_cert,
                  "PEM file of the server's certificate and its chain. Looked at again when it changes.");
WAYSTAR_TEXT_FLAG(tls_key, tls_key, "PEM file of the key of --tls_cert.");
WAYSTAR_TEXT_FLAG(tls_client_ca, tls_client_ca,
                  "PEM file of roots. Clients must show a certificate of one of them.");
WAYSTAR_SWITCH_FLAG(
    behind_gateway, behind_gateway,
    "Says that only a gateway or a private network reaches --listen. Without this, without "
    "--tls_client_ca and with a gRPC older than 1.57, which has published faults, the server starts on "
    "this machine's own addresses alone.");
WAYSTAR_TEXT_FLAG(
    tokens_file, tokens_file,
    "File of the tokens that calls must show, and what each allows. Looked at again when it changes.");
WAYSTAR_TEXT_FLAG(log_level, log_level, "debug, info, warning or error.");
WAYSTAR_NUMBER_FLAG(
    max_connections, connections.max_connections, 0, 10'000'000,
    "Connections at a time; one more is reset. 0: 10000, or what the limit of open files leaves room for.");
WAYSTAR_NUMBER_FLAG(
    max_address_connections, connections.max_address_connections, 0, 10'000'000,
    "Connections of one IPv4 address, or one IPv6 network of 64 bits, at a time; one more is reset. 0: half "
    "of --max_connections.");
WAYSTAR_POSITIVE_TIME_FLAG(
    handshake_timeout, connections.handshake_timeout,
    "How long a new connection may take for its TLS handshake and its first HTTP/2 frame.");
WAYSTAR_TIME_FLAG(
    max_connection_age, connections.max_age,
    "Age at which a connection takes no new calls, give or take a tenth, so that clients come back by way "
    "of their load balancer. 0: never.");
WAYSTAR_POSITIVE_TIME_FLAG(
    max_connection_age_grace, connections.max_age_grace,
    "How long the calls of such a connection may take to end, watches and streams among them.");
WAYSTAR_TIME_FLAG(max_connection_idle, connections.max_idle,
                  "A connection without a call for as long is closed. 0: never.");
WAYSTAR_POSITIVE_TIME_FLAG(keepalive_time, connections.keepalive_time,
                           "A client that has sent nothing for as long is pinged.");
WAYSTAR_POSITIVE_TIME_FLAG(
    keepalive_timeout, connections.keepalive_timeout,
    "A client that does not answer a ping for as long is taken for gone, and its calls end.");
WAYSTAR_POSITIVE_TIME_FLAG(
    min_client_keepalive, connections.min_client_keepalive,
    "Clients may ping as often, with or without calls; one that pings more often is cut off.");
WAYSTAR_NUMBER_FLAG(
    max_concurrent_streams, connections.max_concurrent_streams, 1, 1'000'000,
    "Calls of one connection at a time, streams and watches among them; more wait at the client.");
WAYSTAR_NUMBER_FLAG(
    rpc_memory_mib, connections.memory_mib, 0, 1 << 20,
    "Most memory for what connections read and write, in MiB; when it runs out, calls are refused. 0: no "
    "limit.");

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

// Writes the name of a flag with underscores: both --max_maps=10 and --max-maps=10 are taken.
std::string WithUnderscores(std::string argument) {
  if (absl::StartsWith(argument, "-")) {
    const std::size_t begin = argument.find_first_not_of('-');
    const std::size_t end = argument.find('=');
    for (std::size_t i = begin; i < std::min(end, argument.size()); ++i) {
      argument[i] = argument[i] == '-' ? '_' : argument[i];
    }
  }
  return argument;
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
      rest.push_back(WithUnderscores(argv[i]));
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

absl::Status CheckDurability(Options& options) {
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
  Options options;
  FlagReader reader;
  for (const ReadFlag read : FlagReads()) {
    read(reader, options);
  }
  reader.Number(FLAGS_scratch_mib, options.scratch_mib, 0, 1 << 20);
  WAYSTAR_RETURN_IF_ERROR(reader.status());
  for (std::string* const address : {&options.listen, &options.http_listen, &options.metrics_listen}) {
    const bool is_port =
        !address->empty() && std::ranges::all_of(*address, [](char c) { return absl::ascii_isdigit(c); });
    if (is_port) {
      address->insert(0, "localhost:");
    }
  }
  WAYSTAR_RETURN_IF_ERROR(CheckDurability(options));
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
      "Names have dashes or underscores: --max-maps is --max_maps. Addresses without a host are of "
      "localhost.\n"
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
    return absl::InvalidArgumentError(absl::StrCat("\"", positional[1], "\" is not a flag"));
  }
  return FromFlags();
}

namespace {

constexpr absl::string_view kPrefix = "WAYSTAR_";
// Variables of the command line tool, which containers set as well, and of the project's scripts.
constexpr std::array<absl::string_view, 10> kOthers = {
    "CA", "CERT", "DATA", "FLAGFILE", "KEY", "SERVER", "SERVER_NAME", "TLS", "TOKEN", "TOKEN_FILE"};

// Returns true if the server or those read the variable. `name` is without the prefix.
bool IsRead(absl::string_view name) {
  const std::string flag = absl::AsciiStrToLower(name);
  return std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end() ||
         (absl::AsciiStrToUpper(flag) == name && absl::FindCommandLineFlag(flag) != nullptr);
}

// Returns true for a variable that an orchestrator sets to describe a service. Kubernetes sets
// WAYSTAR_SERVICE_HOST and WAYSTAR_SERVICE_PORT. Kubernetes and Docker links set WAYSTAR_PORT and
// WAYSTAR_PORT_7450_TCP, which are URLs, and WAYSTAR_PORT_7450_TCP_ADDR.
bool IsOfAService(absl::string_view name, absl::string_view value) {
  return absl::StrContains(name, "SERVICE_HOST") || absl::StrContains(name, "SERVICE_PORT") ||
         (absl::StrContains(name, "PORT") && absl::StrContains(value, "://")) ||
         absl::StrContains(name, "_TCP_") || absl::StrContains(name, "_UDP_");
}

}  // namespace

std::vector<std::string> UnknownVariables() {
  std::vector<std::string> unknown;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(*variable, absl::MaxSplits('=', 1));
    absl::string_view name = parts.first;
    if (absl::ConsumePrefix(&name, kPrefix) && !IsRead(name) && !IsOfAService(name, parts.second)) {
      unknown.emplace_back(parts.first);
    }
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

}  // namespace waystar::runtime
