#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/held_signals.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "client/load/json_text.h"
#include "client/record/proxy.h"
#include "client/record/recording_file.h"
#include "client/record/replay.h"

namespace waystar::cli {
namespace {

struct RecordArguments {
  std::string file;
  std::string listen = "127.0.0.1:7452";
  absl::Duration duration = absl::InfiniteDuration();
};

ExitCode Record(const RecordArguments& arguments, Session& session) {
  const HeldSignals signals;
  v1::RecordingHeader header;
  const std::string& server = session.options().connection.target;
  header.set_server(server);
  const absl::Time begin = absl::Now();
  header.mutable_start_time()->set_seconds(absl::ToUnixSeconds(begin));
  auto recording = record::RecordingWriter::Create(arguments.file, header);
  if (!recording.ok()) {
    return session.FailUsage(std::string(recording.status().message()));
  }
  const auto proxy = record::Proxy::Start(arguments.listen, session.ClientOptions(), *std::move(recording));
  if (!proxy.ok()) {
    return session.FailUsage(std::string(proxy.status().message()));
  }
  Io& io = session.io();
  const bool is_json = session.options().json;
  const std::string host = arguments.listen.substr(0, arguments.listen.rfind(':'));
  const std::string address =
      (*proxy)->port() > 0 ? absl::StrCat(host, ":", (*proxy)->port()) : arguments.listen;
  if (is_json) {
    io.out << load::JsonObject({{"address", load::JsonQuoted(address)}, {"server", load::JsonQuoted(server)}})
           << "\n"
           << std::flush;
  } else {
    io.out << "Recording what is said at " << address << " to " << server << ", until Ctrl-C.\n"
           << std::flush;
  }
  {
    Progress progress(session, "recording", Progress::Unit::kCount, "calls");
    while (absl::Now() - begin < arguments.duration &&
           !signals.Wait(std::min(absl::Milliseconds(200), arguments.duration - (absl::Now() - begin)))) {
      progress.Show(static_cast<std::int64_t>((*proxy)->calls()), 0);
      (*proxy)->Flush();
    }
  }
  const absl::Status closed = (*proxy)->Stop();
  if (!closed.ok()) {
    return session.FailUsage(absl::StrCat(arguments.file, ": ", closed.message()));
  }
  if (is_json) {
    io.out << load::JsonObject({{"calls", load::JsonNumber((*proxy)->calls())}}) << "\n";
  } else {
    io.out << "Recorded " << (*proxy)->calls() << " calls.\n";
  }
  return ExitCode::kOk;
}

// In the table; with --json all that are kept.
constexpr std::size_t kShown = 50;

struct ReplayArguments {
  std::string file;
  record::ReplayOptions options;
};

// Nothing is as fast as possible.
absl::StatusOr<std::optional<double>> ParseSpeed(absl::string_view text) {
  double speed = 0;
  if (text == "max") {
    return std::optional<double>();
  }
  if (!absl::SimpleAtod(text, &speed) || speed < 0.001 || speed > 1000) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a speed: write such as 1, 2.5 or max"));
  }
  return std::optional<double>(speed);
}

std::string ShortName(const std::string& method) {
  return std::string(absl::StripPrefix(method, "waystar.v1."));
}

std::string ReportText(const record::ReplayReport& report, std::size_t width) {
  std::string text;
  if (report.differing > 0) {
    std::vector<TableRow> rows = {{"CALL", "METHOD", "MAP", "DIFFERENCE"}};
    for (std::size_t i = 0; i < std::min(kShown, report.differences.size()); ++i) {
      const record::ReplayDifference& difference = report.differences[i];
      rows.push_back(
          {absl::StrCat(difference.call), ShortName(difference.method), difference.map, difference.what});
    }
    text = FormatTable(rows, width);
    if (report.differing > kShown) {
      absl::StrAppend(&text, "and ", report.differing - kShown, " more\n");
    }
    text += "\n";
  }
  absl::StrAppendFormat(&text, "Played back %d %s and %d %s in %.3g s: %s.\n", report.queries,
                        report.queries == 1 ? "query" : "queries", report.updates,
                        report.updates == 1 ? "update" : "updates", report.seconds,
                        report.differing == 0
                            ? "no differences"
                            : absl::StrCat(report.differing, report.differing == 1 ? " differs" : " differ"));
  for (const auto& [method, count] : report.left_out) {
    absl::StrAppend(&text, "Left out: ", count, " ", ShortName(method), "\n");
  }
  return text;
}

std::string ReportJson(const record::ReplayReport& report) {
  using load::JsonNumber;
  using load::JsonObject;
  using load::JsonQuoted;
  std::vector<std::string> differences;
  for (const record::ReplayDifference& difference : report.differences) {
    differences.push_back(JsonObject({{"call", JsonNumber(difference.call)},
                                      {"method", JsonQuoted(difference.method)},
                                      {"map", JsonQuoted(difference.map)},
                                      {"difference", JsonQuoted(difference.what)}}));
  }
  std::vector<std::string> left_out;
  for (const auto& [method, count] : report.left_out) {
    left_out.push_back(JsonObject({{"method", JsonQuoted(method)}, {"calls", JsonNumber(count)}}));
  }
  return JsonObject({{"queries", JsonNumber(report.queries)},
                     {"updates", JsonNumber(report.updates)},
                     {"differing", JsonNumber(report.differing)},
                     {"seconds", JsonNumber(report.seconds)},
                     {"differences", load::JsonArray(differences)},
                     {"left_out", load::JsonArray(left_out)}}) +
         "\n";
}

ExitCode Replay(const ReplayArguments& arguments, Session& session) {
  const auto reader = record::RecordingReader::Open(arguments.file);
  if (!reader.ok()) {
    return session.FailUsage(std::string(reader.status().message()));
  }
  auto units = record::ReadUnits(**reader);
  if (!units.ok()) {
    return session.FailUsage(absl::StrCat(arguments.file, ": ", units.status().message()));
  }
  absl::StatusOr<record::ReplayReport> report;
  {
    Progress progress(session, "replaying", Progress::Unit::kCount, "calls");
    report = record::Replay(*std::move(units), session.ClientOptions(), arguments.options,
                            [&progress](const record::ReplayProgress& done) {
                              progress.Show(static_cast<std::int64_t>(done.done),
                                            static_cast<std::int64_t>(done.total));
                            });
  }
  if (!report.ok()) {
    return session.Fail(report.status());
  }
  session.io().out << (session.options().json ? ReportJson(*report)
                                              : ReportText(*report, session.table_width()));
  return report->differing == 0 ? ExitCode::kOk : ExitCode::kFailure;
}

void AddRecordCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<RecordArguments>();
  CLI::App& command =
      AddCommand(parent, session, "record",
                 "Stands between clients and the server, and writes down what they say, to be played back",
                 arguments, &Record);
  command.add_option("FILE", arguments->file, "The recording to write")->required()->type_name(kFileType);
  command.add_option("--listen", arguments->listen, "Where clients are to connect to [127.0.0.1:7452]")
      ->type_name("HOST:PORT");
  AddParsed(
      command, "--duration", &ParseTimeout,
      [arguments](absl::Duration duration) { arguments->duration = duration; },
      "End after that time [with Ctrl-C]")
      ->type_name("TIME");
  command.footer(
      "Clients connect to --listen, without encryption, in place of the server; --server, --tls and so on "
      "say how\n"
      "that is reached. Calls are handed on as they are, with their deadlines and their tokens.\n\n"
      "Requests are written down with the time when they came, and the answers of calls, streams of queries "
      "and\n"
      "streams of updates. Tokens are not written down.\n\n"
      "Examples:\n"
      "  waystar record session.rec\n"
      "  waystar record session.rec --listen 127.0.0.1:9000 --server 10.0.0.1:7450 --duration 10m\n"
      "  waystar replay session.rec\n");
}

void AddReplayCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<ReplayArguments>();
  record::ReplayOptions& options = arguments->options;
  CLI::App& command =
      AddCommand(parent, session, "replay",
                 "Plays a recording back against a server, and tells what comes out otherwise than it did",
                 arguments, &Replay);
  command.add_option("FILE", arguments->file, "What `waystar record` wrote")
      ->required()
      ->type_name(kFileType);
  AddParsed(
      command, "--speed", &ParseSpeed, [&options](std::optional<double> speed) { options.speed = speed; },
      "How many times as fast as it was recorded; max: as fast as the server answers [max]")
      ->type_name("N");
  AddChoice<record::Only>(
      command, "--only", [&options](record::Only only) { options.only = only; },
      {{"queries", record::Only::kQueries}, {"updates", record::Only::kUpdates}}, "Leave out the others");
  command.footer(
      "The server must have the maps as they were when the recording began; those that were created in it "
      "are created\n"
      "again. Calls are made one after the other, in the order that their revisions give them; queries of "
      "streams one\n"
      "by one. Answers are compared but for how long they took and for the numbers of revisions, which are "
      "counted from\n"
      "the first. Obstacles with a lifetime go when their time is over: play those back with --speed 1.\n\n"
      "Ends with 1 if anything differs. Left out are watches, traces and exports, and what was given up, too "
      "late\n"
      "or refused for want of room.\n\n"
      "Examples:\n"
      "  waystar replay session.rec --server localhost:7450\n"
      "  waystar replay session.rec --json | jq '.differences[].difference'\n");
}

}  // namespace

void AddRecordCommands(CLI::App& parent, Session& session) {
  AddRecordCommand(parent, session);
  AddReplayCommand(parent, session);
}

}  // namespace waystar::cli
