#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/load/report_text.h"

namespace waystar::load {
namespace {

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
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

// Names and what is JSON already.
std::string Object(const std::vector<std::pair<absl::string_view, std::string>>& fields) {
  return absl::StrCat("{",
                      absl::StrJoin(fields, ",",
                                    [](std::string* out, const auto& field) {
                                      absl::StrAppend(out, "\"", field.first, "\":", field.second);
                                    }),
                      "}");
}

std::string Number(double value) { return absl::StrFormat("%.10g", value); }
std::string Number(std::uint64_t value) { return absl::StrCat(value); }
std::string Number(std::int64_t value) { return absl::StrCat(value); }
std::string Number(int value) { return absl::StrCat(value); }

std::string Percentiles(const Histogram& histogram) {
  return Object({{"mean", Number(histogram.Mean())},
                 {"p50", Number(histogram.Percentile(50))},
                 {"p90", Number(histogram.Percentile(90))},
                 {"p99", Number(histogram.Percentile(99))},
                 {"p99.9", Number(histogram.Percentile(99.9))},
                 {"p99.99", Number(histogram.Percentile(99.99))},
                 {"max", Number(histogram.max())}});
}

std::string FailureList(const Tally& tally) {
  std::vector<std::string> failures;
  for (const auto& [cause, failure] : tally.failures) {
    failures.push_back(Object({{"code", Quoted(cause.first)},
                               {"reason", Quoted(cause.second)},
                               {"count", Number(failure.count)},
                               {"message", Quoted(failure.message)}}));
  }
  return absl::StrCat("[", absl::StrJoin(failures, ","), "]");
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

std::string UpdatesJson(const UpdateReport& updates) {
  return Object({{"sent", Number(updates.sent)},
                 {"applied", Number(updates.tally.answered)},
                 {"failed", Number(updates.tally.failed())},
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
    bars.push_back(Object({{"below_nanos", Number(2 * octave.from)}, {"count", Number(octave.count)}}));
  }
  return Object({{"server", Quoted(server)},
                 {"mode", Quoted(ModeName(settings.mode))},
                 {"per_message", Number(settings.per_message)},
                 {"loop", is_open_loop ? "\"open\"" : "\"closed\""},
                 {"messages_per_second", is_open_loop ? Number(settings.rate) : "null"},
                 {"in_flight", Number(settings.in_flight)},
                 {"connections", Number(settings.connections)},
                 {"seconds", Number(report.seconds)},
                 {"sent", Number(report.sent)},
                 {"answered", Number(tally.answered)},
                 {"without_path", Number(tally.without_path)},
                 {"failed", Number(tally.failed())},
                 {"failures", FailureList(tally)},
                 {"answers_per_second", Number(report.QueriesPerSecond())},
                 {"latency_nanos", Percentiles(tally.latency)},
                 {"histogram", absl::StrCat("[", absl::StrJoin(bars, ","), "]")},
                 {"sender_lag_nanos", is_open_loop ? Percentiles(report.lag) : "null"},
                 {"messages_unsent", Number(report.messages_unsent)},
                 {"kept_schedule", report.KeptSchedule() ? "true" : "false"},
                 {"server_cpu_nanos",
                  report.server_cpu ? Number(std::int64_t{report.server_cpu->count()}) : "null"},
                 {"updates", report.updates ? UpdatesJson(*report.updates) : "null"}}) +
         "\n";
}

}  // namespace waystar::load
