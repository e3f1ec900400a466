#include "client/load/report_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace waystar::load {
namespace {

constexpr double kPercents[] = {50, 90, 99, 99.9, 99.99};
constexpr int kBarWidth = 50;

double Millis(std::int64_t nanos) { return static_cast<double>(nanos) / 1e6; }

std::string Counted(int count, const char* thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

std::string LoopText(const Settings& settings) {
  const char* const message = settings.mode == Mode::kUnary    ? "FindPath call"
                              : settings.mode == Mode::kStream ? "streamed message"
                                                               : "FindPaths call";
  const std::string load = settings.rate > 0
                               ? absl::StrFormat("%g %ss a second%s", settings.rate, message,
                                                 settings.arrivals == Arrivals::kRandom ? " at random" : "")
                               : absl::StrCat(Counted(settings.in_flight, message), " in flight");
  const std::string queries =
      settings.per_message == 1 ? "" : absl::StrFormat(", each of %d queries", settings.per_message);
  return absl::StrCat(settings.rate > 0 ? "open" : "closed", " loop, ", load, queries);
}

std::string LatencyText(const Histogram& latency) {
  std::string text = absl::StrFormat("latency   mean %.3f ms\n", latency.Mean() / 1e6);
  for (const double percent : kPercents) {
    absl::StrAppendFormat(&text, "  %6g%% %11.3f ms\n", percent, Millis(latency.Percentile(percent)));
  }
  absl::StrAppendFormat(&text, "      max %11.3f ms\n", Millis(latency.max()));
  return text;
}

std::string BarsText(const Histogram& latency) {
  std::uint64_t most = 1;
  for (const Histogram::Octave& octave : latency.Octaves()) {
    most = std::max(most, octave.count);
  }
  std::string text;
  for (const Histogram::Octave& octave : latency.Octaves()) {
    const double share = static_cast<double>(octave.count) / static_cast<double>(most);
    absl::StrAppendFormat(&text, "  < %13.3f ms %10d %s\n", Millis(2 * octave.from), octave.count,
                          std::string(static_cast<std::size_t>(std::ceil(share * kBarWidth)), '#'));
  }
  return text;
}

std::string FailuresText(const Tally& tally) {
  std::string text;
  for (const auto& [cause, failure] : tally.failures) {
    absl::StrAppendFormat(&text, "  %10d %s%s%s: %s\n", failure.count, cause.first,
                          cause.second.empty() ? "" : " ", cause.second,
                          failure.message.empty() ? "no message" : failure.message);
  }
  return text;
}

std::string LagText(const Report& report) {
  if (report.settings.rate == 0) {
    return "";
  }
  std::string text = absl::StrFormat("sender    late by 50%% %.3f ms, 99%% %.3f ms, max %.3f ms\n",
                                     Millis(report.lag.Percentile(50)), Millis(report.lag.Percentile(99)),
                                     Millis(report.lag.max()));
  if (report.messages_unsent > 0) {
    absl::StrAppend(&text, "  messages due and not sent: ", report.messages_unsent, "\n");
  }
  if (!report.KeptSchedule()) {
    absl::StrAppend(&text,
                    "  The sender did not keep its schedule. Its delays are in the latencies: offer less, or "
                    "give it more\n  of the processor, --threads, --connections or --in-flight.\n");
  }
  return text;
}

std::string CpuText(const Report& report) {
  const std::uint64_t queries = report.tally.answered + report.tally.failed();
  if (!report.server_cpu || queries == 0) {
    return "server    processor time unknown\n";
  }
  return absl::StrFormat("server    %.1f us of processor time a query, %.2f cores\n",
                         static_cast<double>(report.server_cpu->count()) / 1e3 / static_cast<double>(queries),
                         static_cast<double>(report.server_cpu->count()) / 1e9 / report.seconds);
}

std::string UpdatesText(const UpdateReport& updates) {
  const Tally& tally = updates.tally;
  return absl::StrCat(
      absl::StrFormat("updates   %d sent, %d applied, %d failed; 50%% %.3f ms, 99%% %.3f ms, max %.3f ms\n",
                      updates.sent, tally.answered, tally.failed(), Millis(tally.latency.Percentile(50)),
                      Millis(tally.latency.Percentile(99)), Millis(tally.latency.max())),
      FailuresText(tally));
}

Record Percentiles(const Histogram& histogram) {
  Record record = {{"mean", histogram.Mean()}};
  for (const double percent : kPercents) {
    record.emplace_back(absl::StrFormat("p%g", percent), histogram.Percentile(percent));
  }
  record.emplace_back("max", histogram.max());
  return record;
}

std::vector<Record> FailureList(const Tally& tally) {
  std::vector<Record> list;
  for (const auto& [cause, failure] : tally.failures) {
    list.push_back({{"code", cause.first},
                    {"reason", cause.second},
                    {"count", failure.count},
                    {"message", failure.message}});
  }
  return list;
}

std::string ModeName(Mode mode) {
  return mode == Mode::kUnary ? "unary" : mode == Mode::kStream ? "stream" : "batch";
}

std::string ArrivalsName(Arrivals arrivals) { return arrivals == Arrivals::kRandom ? "random" : "even"; }

Record UpdatesRecord(const UpdateReport& updates) {
  return {{"sent", updates.sent},
          {"applied", updates.tally.answered},
          {"failed", updates.tally.failed()},
          {"failures", FailureList(updates.tally)},
          {"latency_nanos", Percentiles(updates.tally.latency)}};
}

struct JsonWriter {
  std::string operator()(std::monostate /*nothing*/) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return absl::StrCat(value); }
  std::string operator()(std::uint64_t value) const { return absl::StrCat(value); }
  std::string operator()(double value) const { return absl::StrFormat("%.10g", value); }
  std::string operator()(absl::Duration value) const { return absl::StrCat(absl::ToInt64Nanoseconds(value)); }
  std::string operator()(const std::string& value) const {
    std::string quoted = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        absl::StrAppend(&quoted, "\\", std::string(1, c));
      } else if (static_cast<unsigned char>(c) < 0x20) {
        absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<unsigned char>(c));
      } else {
        quoted += c;
      }
    }
    return quoted + "\"";
  }
  std::string operator()(const Record& record) const {
    const auto add = [](std::string* out, const auto& field) {
      absl::StrAppend(out, "\"", field.first, "\":", ToJson(field.second));
    };
    return absl::StrCat("{", absl::StrJoin(record, ",", add), "}");
  }
  std::string operator()(const std::vector<Record>& records) const {
    const auto add = [this](std::string* out, const Record& record) { out->append((*this)(record)); };
    return absl::StrCat("[", absl::StrJoin(records, ",", add), "]");
  }
};

}  // namespace

std::string ReportText(const Report& report, const std::string& server) {
  const Settings& settings = report.settings;
  const Tally& tally = report.tally;
  std::string text = absl::StrFormat("%s: %s, %s, for %g s after %g s\n", server, LoopText(settings),
                                     Counted(settings.connections, "connection"),
                                     std::chrono::duration<double>(settings.duration).count(),
                                     std::chrono::duration<double>(settings.warm_up).count());
  absl::StrAppendFormat(&text, "queries   %d sent, %d answered (%d without a path), %d failed\n", report.sent,
                        tally.answered, tally.without_path, tally.failed());
  absl::StrAppend(&text, FailuresText(tally));
  absl::StrAppendFormat(&text, "rate      %.1f answers a second\n", report.QueriesPerSecond());
  if (tally.latency.count() > 0) {
    absl::StrAppend(&text, LatencyText(tally.latency), BarsText(tally.latency));
  }
  absl::StrAppend(&text, LagText(report), CpuText(report),
                  report.updates ? UpdatesText(*report.updates) : "");
  return text;
}

std::string ProgressText(const Progress& progress) {
  return absl::StrFormat("%3.0f of %.0f s%s: %d answered, %d failed", progress.seconds, progress.of_seconds,
                         progress.is_warm_up ? ", warming up" : "", progress.answered, progress.failed);
}

std::string ReportJson(const Report& report, const std::string& server) {
  const Settings& settings = report.settings;
  const Tally& tally = report.tally;
  const bool is_open_loop = settings.rate > 0;
  std::vector<Record> octaves;
  for (const Histogram::Octave& octave : tally.latency.Octaves()) {
    octaves.push_back({{"below_nanos", 2 * octave.from}, {"count", octave.count}});
  }
  return ToJson(Record{
             {"server", server},
             {"mode", ModeName(settings.mode)},
             {"per_message", std::int64_t{settings.per_message}},
             {"loop", std::string(is_open_loop ? "open" : "closed")},
             {"messages_per_second", is_open_loop ? Value(settings.rate) : Value()},
             {"arrivals", is_open_loop ? Value(ArrivalsName(settings.arrivals)) : Value()},
             {"in_flight", std::int64_t{settings.in_flight}},
             {"connections", std::int64_t{settings.connections}},
             {"seconds", report.seconds},
             {"sent", report.sent},
             {"answered", tally.answered},
             {"without_path", tally.without_path},
             {"failed", tally.failed()},
             {"failures", FailureList(tally)},
             {"answers_per_second", report.QueriesPerSecond()},
             {"latency_nanos", Percentiles(tally.latency)},
             {"histogram", octaves},
             {"sender_lag_nanos", is_open_loop ? Value(Percentiles(report.lag)) : Value()},
             {"messages_unsent", report.messages_unsent},
             {"kept_schedule", report.KeptSchedule()},
             {"server_cpu_nanos", report.server_cpu ? Value(absl::FromChrono(*report.server_cpu)) : Value()},
             {"updates", report.updates ? Value(UpdatesRecord(*report.updates)) : Value()}}) +
         "\n";
}

std::string ToJson(const Value& value) { return std::visit(JsonWriter(), value); }

}  // namespace waystar::load
