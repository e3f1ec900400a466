#include "server/service/server_service.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/clock.h"
#include "server/runtime/logging.h"
#include "server/runtime/process.h"
#include "server/service/convert/convert.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/path_stream.h"
#include "server/storage/fleet/fleet.h"

namespace waystar::rpc {
namespace {

// If no arrival thread may run them, they use the lane of small calls.
constexpr FixedLane kAtOnce{Lane::kHere};

constexpr std::pair<runtime::LogLevel, v1::LogLevel> kLogLevels[] = {
    {runtime::LogLevel::kDebug, v1::LOG_LEVEL_DEBUG},
    {runtime::LogLevel::kInfo, v1::LOG_LEVEL_INFO},
    {runtime::LogLevel::kWarning, v1::LOG_LEVEL_WARNING},
    {runtime::LogLevel::kError, v1::LOG_LEVEL_ERROR}};

v1::LogLevel ToProto(runtime::LogLevel level) {
  return std::ranges::find(kLogLevels, level, [](const auto& pair) { return pair.first; })->second;
}

absl::Status ChangeLogLevel(const v1::SetLogLevelRequest& request, v1::SetLogLevelResponse& response) {
  if (request.level() == v1::LOG_LEVEL_UNSPECIFIED) {
    return MissingField("level");
  }
  const auto* const row =
      std::ranges::find(kLogLevels, request.level(), [](const auto& pair) { return pair.second; });
  if (row == std::end(kLogLevels)) {
    return UnknownEnumValue("level", request.level());
  }
  const runtime::LogLevel level = row->first;
  const runtime::LogLevel before = runtime::CurrentLogLevel();
  response.set_previous(ToProto(before));
  const auto tell = [&] {
    runtime::Log(
        runtime::LogLevel::kWarning, "log_level_set",
        {{"from", v1::LogLevel_Name(response.previous())}, {"to", v1::LogLevel_Name(request.level())}});
  };
  // The more verbose of the two levels applies.
  if (level > before) {
    tell();
  }
  runtime::SetLogLevel(level);
  if (level <= before) {
    tell();
  }
  return absl::OkStatus();
}

void FillLimits(const runtime::Options& options, v1::ServerLimits& limits) {
  limits.set_max_message_bytes(options.max_message_bytes);
  limits.set_max_import_bytes(options.max_import_bytes);
  limits.set_max_map_side(options.max_map_side);
  limits.set_max_maps(static_cast<std::int64_t>(options.max_maps));
  limits.set_max_queries(static_cast<std::int32_t>(kMaxQueries));
  limits.set_max_streamed_queries(kMaxQueriesOfMessage);
  limits.set_stream_window(static_cast<std::int32_t>(options.stream_window));
  limits.set_max_transfers(options.max_transfers);
  FillDuration(options.transfer_timeout, *limits.mutable_transfer_timeout());
  FillDuration(options.transfer_stall_timeout, *limits.mutable_transfer_stall_timeout());
  limits.set_max_watches(options.max_watches);
  limits.set_max_queued(static_cast<std::int64_t>(options.max_queued));
  FillDuration(options.max_queue_time, *limits.mutable_max_queue_time());
  limits.set_max_concurrent_streams(options.connections.max_concurrent_streams);
  limits.set_max_maps_memory_bytes(static_cast<std::int64_t>(options.max_maps_memory_mib) << 20);
  limits.set_max_client_calls(options.max_client_calls);
  FillDuration(options.request_id_retention, *limits.mutable_request_id_retention());
  limits.set_max_request_ids_bytes(static_cast<std::int64_t>(options.max_request_ids_mib) << 20);
  limits.set_max_call_memory_bytes(static_cast<std::int64_t>(options.max_call_memory_mib) << 20);
  limits.set_max_connection_memory_bytes(static_cast<std::int64_t>(options.max_connection_memory_mib) << 20);
}

void FillPresence(const cluster::FleetMember& server, v1::ServerPresence& out) {
  const cluster::ServerReport& report = server.report;
  out.set_address(report.address);
  out.set_version(report.version);
  FillTimestamp(report.start_time, *out.mutable_start_time());
  out.set_is_this(server.is_this);
  FillTimestamp(report.report_time, *out.mutable_report_time());
  out.set_maps(static_cast<std::int64_t>(report.maps));
  out.set_etcd_revision(report.revision);
  out.set_lag(report.lag);
  FillDuration(report.staleness, *out.mutable_staleness());
}

}  // namespace

ServerService::ServerService(const ServerContext& server, const core::MapStore& store,
                             const MetricCollector& metrics, const FleetStatistics& fleet,
                             const runtime::Options& options)
    : RawService(server),
      store_(store),
      fleet_(fleet),
      options_(options),
      start_time_(Clock::Steady().Now()) {
  Serve<v1::GetServerInfoRequest, v1::GetServerInfoResponse>(
      [this](const auto&, auto& response, CallContext&) { return Describe(response); }, kAtOnce);
  Serve<v1::SetLogLevelRequest, v1::SetLogLevelResponse>(
      [](const auto& request, auto& response, CallContext&) { return ChangeLogLevel(request, response); },
      kAtOnce);
  Serve<v1::GetMetricsRequest, v1::GetMetricsResponse>(
      [this, &metrics](const auto& request, auto& response, CallContext& context) {
        FillDuration(Clock::Steady().Now() - start_time_, *response.mutable_uptime());
        metrics.Fill(request, context.caller, response);
        return absl::OkStatus();
      });
  ServeLater<v1::ListServersRequest, v1::ListServersResponse>(
      [this](const auto&, auto& response, CallContext&, UnaryDone done) {
        AnswerServers(response, std::move(done));
      });
}

void ServerService::AnswerServers(v1::ListServersResponse& response, UnaryDone done) const {
  if (options_.cluster.empty()) {
    v1::ServerPresence& own = *response.add_servers();
    own.set_address(address_);
    own.set_version(std::string(runtime::Version()));
    FillTimestamp(start_time_, *own.mutable_start_time());
    own.set_is_this(true);
    FillTimestamp(Clock::Steady().Now(), *own.mutable_report_time());
    own.set_maps(static_cast<std::int64_t>(store_.size()));
    std::move(done)(absl::OkStatus());
    return;
  }
  const cluster::Fleet* const fleet = fleet_.fleet();
  if (fleet == nullptr) {
    std::move(done)(CallGate::NotOpenYet());
    return;
  }
  response.set_is_fleet(true);
  fleet->AskServers([&response, done = std::move(done)](
                        const absl::StatusOr<std::vector<cluster::FleetMember>>& servers) mutable {
    if (servers.ok()) {
      for (const cluster::FleetMember& server : *servers) {
        FillPresence(server, *response.add_servers());
      }
    }
    std::move(done)(servers.status());
  });
}

absl::Status ServerService::Describe(v1::GetServerInfoResponse& response) const {
  response.set_version(std::string(runtime::Version()));
  FillTimestamp(start_time_, *response.mutable_start_time());
  FillDuration(Clock::Steady().Now() - start_time_, *response.mutable_uptime());
  response.set_workers(options_.workers);
  FillLimits(options_, *response.mutable_limits());
  response.set_maps(static_cast<std::int64_t>(store_.size()));
  for (int algorithm = v1::ALGORITHM_AUTO + 1; algorithm < v1::Algorithm_ARRAYSIZE; ++algorithm) {
    if (v1::Algorithm_IsValid(algorithm)) {
      response.add_algorithms(static_cast<v1::Algorithm>(algorithm));
    }
  }
  response.set_log_level(ToProto(runtime::CurrentLogLevel()));
  return absl::OkStatus();
}

}  // namespace waystar::rpc
