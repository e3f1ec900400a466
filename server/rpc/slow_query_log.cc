#include "server/rpc/slow_query_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "google/protobuf/util/json_util.h"
#include "server/base/error.h"
#include "server/rpc/request_id.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

// To turn a longer one into text only to cut it would take too long.
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
  // A query that was answered has nothing that JSON cannot say.
  static_cast<void>(google::protobuf::util::MessageToJsonString(request, &json, options));
  return json;
}

std::string NamedMapOf(const google::protobuf::Message& request) {
  const google::protobuf::FieldDescriptor* field = request.GetDescriptor()->FindFieldByName("map");
  return field == nullptr ? "" : request.GetReflection()->GetString(request, field);
}

std::string OutcomeOf(const QueryResult& result) {
  if (!result.status.ok()) {
    const std::string reason = ErrorReasonOf(result.status);
    return absl::StrCat(absl::StatusCodeToString(result.status.code()), reason.empty() ? "" : "/", reason);
  }
  return result.outcome.empty() ? "OK" : result.outcome;
}

}  // namespace

SlowQueryLog::SlowQueryLog(absl::Duration threshold, const Clock& clock)
    : threshold_(threshold > absl::ZeroDuration() ? absl::ToChronoNanoseconds(threshold)
                                                  : std::chrono::nanoseconds::max()),
      clock_(clock) {}

void SlowQueryLog::Write(absl::string_view method, const google::protobuf::Message& request,
                         const QueryResult& result, std::chrono::nanoseconds ran,
                         const CallContext& context) {
  std::uint64_t left_out = 0;
  if (!Admit(left_out)) {
    return;
  }
  std::string json = JsonOf(request);
  const bool is_cut = json.empty() || json.size() > kMaxRequestBytes;
  json.resize(std::min(json.size(), kMaxRequestBytes));
  runtime::Log(runtime::LogLevel::kWarning, "slow_query",
               {{"method", method},
                {"map", NamedMapOf(request)},
                {"revision", result.revision},
                {"outcome", OutcomeOf(result)},
                {"queue_ms", Milliseconds(context.queued)},
                {"run_ms", Milliseconds(ran)},
                {"search_ms", Milliseconds(result.searching)},
                {"expanded", result.expanded},
                {"peer", context.rpc == nullptr ? "" : context.rpc->peer()},
                {"request_id", context.rpc == nullptr ? "" : RequestIdOf(*context.rpc)},
                {"left_out", left_out},
                {"request_cut", is_cut ? "yes" : "no"},
                {"request", json}});
}

bool SlowQueryLog::Admit(std::uint64_t& left_out) {
  const absl::Time now = clock_.Now();
  MutexLock lock(mutex_);
  ++slow_queries_;
  if (now - second_begin_ >= absl::Seconds(1)) {
    second_begin_ = now;
    lines_ = 0;
  }
  if (lines_ == kMaxLines) {
    ++left_out_;
    return false;
  }
  ++lines_;
  left_out = std::exchange(left_out_, 0);
  return true;
}

void SlowQueryLog::Collect(runtime::MetricSink& sink) const {
  MutexLock lock(mutex_);
  sink.AddCounter("waystar_slow_queries_total", "Queries that took --slow_query or longer.", {},
                  static_cast<double>(slow_queries_));
}

}  // namespace waystar::rpc
