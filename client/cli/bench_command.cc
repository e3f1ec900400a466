#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/completion.h"
#include "client/cli/exit_code.h"
#include "client/cli/files.h"
#include "client/cli/progress.h"
#include "client/cli/shape_argument.h"
#include "client/load/report_text.h"
#include "client/load/run.h"
#include "client/load/workload.h"

namespace waystar::cli {
namespace {

constexpr int kOpenLoopInFlight = 10'000;
constexpr int kQueriesOfABatch = 10;
constexpr int kMaxQueriesOfAMessage = 1'000;

struct BenchArguments {
  load::Settings settings;
  std::string map;
  std::string scenario;
  int random_pairs = 1'000;
  // 0 if not given.
  int in_flight = 0;
  int per_message = 0;
  std::optional<load::Arrivals> arrivals;
};

absl::StatusOr<std::vector<load::Part>> ReadParts(const BenchArguments& arguments, Session& session) {
  if (arguments.map.empty() == arguments.scenario.empty()) {
    return absl::InvalidArgumentError("name a map, or a file of queries with --scenario");
  }
  if (arguments.scenario.empty()) {
    load::Part part;
    part.common.set_map(arguments.map);
    part.random_pairs = arguments.random_pairs;
    return std::vector<load::Part>{part};
  }
  const auto text = ReadInput(arguments.scenario, session.io().in);
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read ", arguments.scenario, ": ", text.status().message()));
  }
  const std::filesystem::path folder = std::filesystem::path(arguments.scenario).parent_path();
  auto parts = load::ParseScenario(
      *text, [&](const std::string& name) { return ReadInput(folder / name, session.io().in); });
  if (!parts.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(arguments.scenario, " ", parts.status().message()));
  }
  return parts;
}

absl::StatusOr<load::Settings> ReadSettings(const BenchArguments& arguments) {
  load::Settings settings = arguments.settings;
  const bool is_unary = settings.mode == load::Mode::kUnary;
  if (is_unary && arguments.per_message > 1) {
    return absl::InvalidArgumentError("--per-message is for --mode stream and batch");
  }
  if (arguments.per_message > 0) {
    settings.per_message = arguments.per_message;
  } else {
    settings.per_message = settings.mode == load::Mode::kBatch ? kQueriesOfABatch : 1;
  }
  if (arguments.arrivals) {
    if (settings.rate == 0) {
      return absl::InvalidArgumentError("--arrivals is for an open loop: give --rate as well");
    }
    settings.arrivals = *arguments.arrivals;
  }
  settings.in_flight = settings.rate > 0 ? kOpenLoopInFlight : settings.connections;
  if (arguments.in_flight > 0) {
    settings.in_flight = arguments.in_flight;
  }
  if (settings.threads > settings.connections || settings.threads > settings.in_flight) {
    return absl::InvalidArgumentError("--threads cannot be more than --connections or --in-flight");
  }
  return settings;
}

ExitCode CodeOf(const load::Report& report, Session& session) {
  if (report.tally.answered > 0) {
    return ExitCode::kOk;
  }
  if (report.tally.failures.empty() && report.messages_unsent == 0) {
    return session.FailUsage("no query was due: the time or the rate is too small");
  }
  return ExitCode::kUnavailable;
}

ExitCode Bench(const BenchArguments& arguments, Session& session) {
  // Before the library begins threads, which would else take them.
  const HeldSignals signals;
  const auto settings = ReadSettings(arguments);
  if (!settings.ok()) {
    return session.FailUsage(settings.status());
  }
  auto parts = ReadParts(arguments, session);
  if (!parts.ok()) {
    return session.FailUsage(parts.status());
  }
  const auto workload = load::Workload::Make(*std::move(parts), session.client(), settings->seed,
                                             settings->updates_per_second > 0);
  if (!workload.ok()) {
    return session.Fail(workload.status());
  }
  Io& io = session.io();
  absl::StatusOr<load::Report> report;
  {
    Progress line(session, "");
    report = load::Run(
        *settings, session.ClientOptions(), *workload,
        [&line](const load::Progress& progress) { line.Show(load::ProgressText(progress)); },
        [&signals](load::Nanos time) { return signals.Wait(absl::FromChrono(time)); });
  }
  if (!report.ok()) {
    return session.Fail(report.status());
  }
  if (report->is_cut_short && report->sent == 0) {
    io.err << "waystar: ended before anything was measured\n";
    return ExitCode::kFailure;
  }
  if (report->is_cut_short) {
    io.err << "waystar: ended early; this is what was measured until then\n";
  }
  const std::string& server = session.options().connection.target;
  io.out << (session.options().json ? load::ReportJson(*report, server) : load::ReportText(*report, server));
  return CodeOf(*report, session);
}

absl::StatusOr<absl::Duration> ParseWarmUp(absl::string_view text) {
  absl::Duration time;
  if (!absl::ParseDuration(text, &time) || time < absl::ZeroDuration() || time > absl::Hours(24)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a length of time: write such as 1s or 0"));
  }
  return time;
}

void AddTime(CLI::App& command, const std::string& name, load::Nanos& time, const std::string& description,
             absl::StatusOr<absl::Duration> (*parse)(absl::string_view) = &ParseTimeout) {
  AddParsed(
      command, name, parse, [&time](absl::Duration given) { time = absl::ToChronoNanoseconds(given); },
      description)
      ->type_name("TIME");
}

void AddLoadOptions(CLI::App& command, BenchArguments& arguments) {
  load::Settings& settings = arguments.settings;
  AddChoice<load::Mode>(
      command, "--mode", [&settings](load::Mode mode) { settings.mode = mode; },
      {{"unary", load::Mode::kUnary}, {"stream", load::Mode::kStream}, {"batch", load::Mode::kBatch}},
      "How to ask: by FindPath, StreamFindPath or FindPaths [unary]");
  AddNumber(command, "--per-message", arguments.per_message, 1, kMaxQueriesOfAMessage,
            "Queries a message, with stream and batch [1; 10 with batch]");
  AddNumber(command, "--in-flight", arguments.in_flight, 1, 1'000'000,
            "Closed loop: messages under way at any time [one a connection]; open loop: at the most [10000]");
  AddNumber(command, "--rate", settings.rate, 0.001, 1e7,
            "Open loop: messages a second, sent at their times whatever becomes of others");
  AddChoice<load::Arrivals>(
      command, "--arrivals", [&arguments](load::Arrivals arrivals) { arguments.arrivals = arrivals; },
      {{"even", load::Arrivals::kEven}, {"random", load::Arrivals::kRandom}},
      "Open loop: send at even distances, or as many clients do that know nothing of each other [even]");
  AddNumber(command, "--connections", settings.connections, 1, 10'000, "Connections to the server [1]");
  AddNumber(command, "--threads", settings.threads, 1, 64, "Threads that share the load [1]");
  AddTime(command, "--duration", settings.duration, "How long to measure [10s]");
  AddTime(command, "--warm-up", settings.warm_up, "How long to offer the load before that [1s]",
          &ParseWarmUp);
  AddTime(command, "--deadline", settings.deadline,
          "Of each call; with stream, how long to wait for the last answers [1s]");
  AddNumber(
      command, "--updates-per-second", settings.updates_per_second, 0.0, 1e6,
      "Block and unblock a few cells meanwhile, where no query starts or ends; all are free in the end");
}

}  // namespace

void AddBenchCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] = AddCommand(
      parent, session, "bench", "Offers a load of queries and tells how fast they are answered", &Bench,
      "Latency is counted from when a query was due, so that none is missed where the server, or this\n"
      "program, lags behind; calls that fail are counted by code and reason, and have no latency.\n"
      "Calls are never made again, --timeout is for the preparations, and --server is one server. Ctrl-C\n"
      "ends it early and prints what was measured until then.\n\n"
      "A file of queries has a part of them a line: WEIGHT MAP, and then one of\n"
      "  random N        pairs of random cells\n"
      "  pair X,Y X,Y    a start and a goal\n"
      "  scen FILE       the scenarios of a file of the Moving AI benchmarks\n"
      "  query           what the JSON says\n"
      "and then, if wanted, fields of FindPathRequest as JSON: {\"path_form\": \"PATH_FORM_CORNERS\"}.\n"
      "Lines that begin with # are passed over.\n\n"
      "Examples:\n"
      "  waystar bench arena --in-flight 64\n"
      "  waystar bench arena --rate 5000 --arrivals random --updates-per-second 100\n"
      "  waystar bench --scenario mix.txt --mode stream --per-message 10 --connections 4 --json\n");
  command.add_option("MAP", arguments.map, "Between random cells of which to ask for paths")
      ->type_name(kMapType);
  AddFile(command, "--scenario", arguments.scenario, "Ask for what stands in a file instead, see below");
  AddNumber(command, "--pairs", arguments.random_pairs, 1, 50'000, "How many pairs of random cells [1000]");
  AddNumber(command, "--seed", arguments.settings.seed, 0, ~std::uint64_t{0},
            "The same seed asks for the same [0]");
  AddLoadOptions(command, arguments);
}

}  // namespace waystar::cli
