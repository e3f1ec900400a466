#include "client/load/report_text.h"

#include <algorithm>
#include <cmath>

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
  return JsonArray(tally.failures, [](const auto& of_cause) {
    const auto& [cause, failure] = of_cause;
    return JsonObject({{"code", JsonQuoted(cause.first)},
                       {"reason", JsonQuoted(cause.second)},
                       {"count", JsonNumber(failure.count)},
                       {"message", JsonQuoted(failure.message)}});
  });
}

std::string ModeName(Mode mode) {
  return mode == Mode::kUnary ? "unary" : mode == Mode::kStream ? "stream" : "batch";
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
  const auto bar = [](const Histogram::Octave& octave) {
    return JsonObject({{"below_nanos", JsonNumber(2 * octave.from)}, {"count", JsonNumber(octave.count)}});
  };
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
                     {"histogram", JsonArray(tally.latency.Octaves(), bar)},
                     {"sender_lag_nanos", is_open_loop ? Percentiles(report.lag) : "null"},
                     {"messages_unsent", JsonNumber(report.messages_unsent)},
                     {"kept_schedule", JsonBool(report.KeptSchedule())},
                     {"server_cpu_nanos",
                      report.server_cpu ? JsonNumber(std::int64_t{report.server_cpu->count()}) : "null"},
                     {"updates", report.updates ? UpdatesJson(*report.updates) : "null"}}) +
         "\n";
}

std::string JsonQuoted(absl::string_view text) {
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

std::string JsonObject(const std::vector<std::pair<absl::string_view, std::string>>& fields) {
  return absl::StrCat("{",
                      absl::StrJoin(fields, ",",
                                    [](std::string* out, const auto& field) {
                                      absl::StrAppend(out, "\"", field.first, "\":", field.second);
                                    }),
                      "}");
}

}  // namespace waystar::load
