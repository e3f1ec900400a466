#include "server/service/metrics/slow_query_log.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "google/protobuf/util/json_util.h"
#include "server/base/error.h"
#include "server/service/auth/caller.h"
#include "server/service/metrics/call_interceptor.h"

namespace waystar::rpc {
namespace {

// Larger requests take too long to format, only to be truncated.
constexpr std::size_t kMaxConvertedBytes = std::size_t{64} << 10;

std::string Milliseconds(std::chrono::nanoseconds time) {
  return absl::StrFormat("%.3f", std::chrono::duration<double, std::milli>(time).count());
}

std::string JsonOf(const google::protobuf::Message& request) {
  std::string json;
  if (request.ByteSizeLong() > kMaxConvertedBytes) {
    return json;
  }
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  // An answered query can always be written as JSON.
  static_cast<void>(google::protobuf::util::MessageToJsonString(request, &json, options));
  return json;
}

std::string NamedMapOf(const google::protobuf::Message& request) {
  const google::protobuf::FieldDescriptor* field = request.GetDescriptor()->FindFieldByName("map");
  return field == nullptr ? "" : request.GetReflection()->GetString(request, field);
}

std::string NameOf(const absl::Status& status) {
  const std::string reason = ErrorReasonOf(status);
  return absl::StrCat(absl::StatusCodeToString(status.code()), reason.empty() ? "" : "/", reason);
}

std::string OutcomeOf(const QueryResult& result) {
  return result.status.ok() && !result.outcome.empty() ? result.outcome : NameOf(result.status);
}

// Returns the text of a request, truncated to the limit of a line.
struct RequestText {
  explicit RequestText(const google::protobuf::Message& request) : json(JsonOf(request)) {
    is_cut = json.empty() || json.size() > SlowQueryLog::kMaxRequestBytes;
    json.resize(std::min(json.size(), SlowQueryLog::kMaxRequestBytes));
  }

  std::string json;
  bool is_cut = false;
};

}  // namespace

SlowQueryLog::SlowQueryLog(absl::Duration threshold, const Clock& clock)
    : threshold_(threshold > absl::ZeroDuration() ? absl::ToChronoNanoseconds(threshold)
                                                  : std::chrono::nanoseconds::max()),
      limit_(clock) {}

void SlowQueryLog::Write(absl::string_view method, const google::protobuf::Message& request,
                         const QueryResult& result, std::chrono::nanoseconds ran,
                         const CallContext& context) {
  slow_queries_.fetch_add(1, std::memory_order_relaxed);
  const std::optional<std::uint64_t> left_out = limit_.Admit();
  if (!left_out.has_value()) {
    return;
  }
  const RequestText text(request);
  runtime::Log(runtime::LogLevel::kWarning, "slow_query",
               {{"method", method},
                {"map", NamedMapOf(request)},
                {"revision", result.revision},
                {"outcome", OutcomeOf(result)},
                {"queue_ms", Milliseconds(context.queued)},
                {"run_ms", Milliseconds(ran)},
                {"search_ms", Milliseconds(result.searching)},
                {"expanded", result.expanded},
                {"peer", context.head ? context.head->Peer() : ""},
                {"request_id", context.head ? RequestIdOf(*context.head) : ""},
                {"left_out", *left_out},
                {"request_cut", text.is_cut ? "yes" : "no"},
                {"request", text.json}});
}

void SlowQueryLog::WriteUpdate(const v1::UpdateMapRequest& request,
                               const absl::StatusOr<core::UpdateResult>& result,
                               std::chrono::nanoseconds queued, std::chrono::nanoseconds ran,
                               const std::optional<CallHead>& head) {
  slow_updates_.fetch_add(1, std::memory_order_relaxed);
  const std::optional<std::uint64_t> left_out = limit_.Admit();
  if (!left_out.has_value()) {
    return;
  }
  const RequestText text(request);
  runtime::Log(runtime::LogLevel::kWarning, "slow_update",
               {{"method", "waystar.v1.MapService/UpdateMap"},
                {"map", request.map()},
                {"revision", result.ok() ? result->revision : 0},
                {"outcome", NameOf(result.status())},
                {"queue_ms", Milliseconds(queued)},
                {"run_ms", Milliseconds(ran)},
                {"edits", request.edits_size()},
                {"changed_cells", result.ok() ? result->summary.changed_cells : 0},
                {"peer", head ? head->Peer() : ""},
                {"request_id", head ? RequestIdOf(*head) : ""},
                {"left_out", *left_out},
                {"request_cut", text.is_cut ? "yes" : "no"},
                {"request", text.json}});
}

void SlowQueryLog::Collect(runtime::MetricSink& sink) const {
  sink.AddCounter("waystar_slow_queries_total", "Queries that took --slow_query or longer.", slow_queries_);
  sink.AddCounter("waystar_slow_updates_total", "UpdateMap that took --slow_query or longer.", slow_updates_);
}

}  // namespace waystar::rpc
