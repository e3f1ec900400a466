#include <string>
#include <vector>

#include "client/load/json_text.h"
#include "client/load/report_text.h"

namespace waystar::load {
namespace {

std::string Percentiles(const Histogram& histogram) {
  return JsonObject({{"mean", JsonNumber(histogram.Mean())},
                     {"p50", JsonNumber(histogram.Percentile(50))},
                     {"p90", JsonNumber(histogram.Percentile(90))},
                     {"p99", JsonNumber(histogram.Percentile(99))},
                     {"p99.9", JsonNumber(histogram.Percentile(99.9))},
                     {"p99.99", JsonNumber(histogram.Percentile(99.99))},
                     {"max", JsonNumber(histogram.max())}});
}

std::string FailureList(const Tally& tally) {
  std::vector<std::string> failures;
  for (const auto& [cause, failure] : tally.failures) {
    failures.push_back(JsonObject({{"code", JsonQuoted(cause.first)},
                                   {"reason", JsonQuoted(cause.second)},
                                   {"count", JsonNumber(failure.count)},
                                   {"message", JsonQuoted(failure.message)}}));
  }
  return JsonArray(failures);
}

std::string ModeName(Mode mode) {
  switch (mode) {
    case Mode::kUnary:
      return "unary";
    case Mode::kStream:
      return "stream";
    case Mode::kBatch:
      return "batch";
  }
  return "";
}

std::string ArrivalsName(Arrivals arrivals) { return arrivals == Arrivals::kRandom ? "random" : "even"; }

std::string UpdatesJson(const UpdateReport& updates) {
  return JsonObject({{"sent", JsonNumber(updates.sent)},
                     {"applied", JsonNumber(updates.tally.answered)},
                     {"failed", JsonNumber(updates.tally.failed())},
                     {"failures", FailureList(updates.tally)},
                     {"latency_nanos", Percentiles(updates.tally.latency)}});
}

}  // namespace

std::string ReportJson(const Report& report, const std::string& server) {
  const Settings& settings = report.settings;
  const Tally& tally = report.tally;
  const bool is_open_loop = settings.rate > 0;
  std::vector<std::string> bars;
  for (const Histogram::Octave& octave : tally.latency.Octaves()) {
    bars.push_back(
        JsonObject({{"below_nanos", JsonNumber(2 * octave.from)}, {"count", JsonNumber(octave.count)}}));
  }
  return JsonObject({{"server", JsonQuoted(server)},
                     {"mode", JsonQuoted(ModeName(settings.mode))},
                     {"per_message", JsonNumber(settings.per_message)},
                     {"loop", is_open_loop ? "\"open\"" : "\"closed\""},
                     {"messages_per_second", is_open_loop ? JsonNumber(settings.rate) : "null"},
                     {"arrivals", is_open_loop ? JsonQuoted(ArrivalsName(settings.arrivals)) : "null"},
                     {"in_flight", JsonNumber(settings.in_flight)},
                     {"connections", JsonNumber(settings.connections)},
                     {"seconds", JsonNumber(report.seconds)},
                     {"sent", JsonNumber(report.sent)},
                     {"answered", JsonNumber(tally.answered)},
                     {"without_path", JsonNumber(tally.without_path)},
                     {"failed", JsonNumber(tally.failed())},
                     {"failures", FailureList(tally)},
                     {"answers_per_second", JsonNumber(report.QueriesPerSecond())},
                     {"latency_nanos", Percentiles(tally.latency)},
                     {"histogram", JsonArray(bars)},
                     {"sender_lag_nanos", is_open_loop ? Percentiles(report.lag) : "null"},
                     {"messages_unsent", JsonNumber(report.messages_unsent)},
                     {"kept_schedule", JsonBool(report.KeptSchedule())},
                     {"server_cpu_nanos",
                      report.server_cpu ? JsonNumber(std::int64_t{report.server_cpu->count()}) : "null"},
                     {"updates", report.updates ? UpdatesJson(*report.updates) : "null"}}) +
         "\n";
}

}  // namespace waystar::load
