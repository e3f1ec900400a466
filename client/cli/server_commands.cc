#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

ExitCode CheckHealth(const HealthCheckRequest& request, Session& session) {
  const auto response = session.client().CheckHealth(request);
  if (absl::IsNotFound(response.status()) && response.status().message().empty()) {
    return session.Fail(
        absl::NotFoundError(absl::StrCat("the server has no service '", request.service(), "'")));
  }
  const bool is_serving = response.ok() && response->status() == HealthCheckResponse::SERVING;
  const auto print = [&](const HealthCheckResponse& answer) {
    session.io().out << HealthCheckResponse::ServingStatus_Name(answer.status()) << "\n";
  };
  return session.Answer(response, print, is_serving ? ExitCode::kOk : ExitCode::kUnavailable);
}

std::string WordOf(absl::string_view enum_name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(enum_name, prefix));
}

std::string StartOf(const v1::GetServerInfoResponse& info) {
  const absl::Time start = absl::FromUnixSeconds(info.start_time().seconds());
  return absl::StrCat(absl::FormatTime("%Y-%m-%d %H:%M:%S", start, absl::LocalTimeZone()), ", ",
                      absl::FormatDuration(absl::Trunc(DurationOf(info.uptime()), absl::Seconds(1))), " ago");
}

std::string AlgorithmsOf(const v1::GetServerInfoResponse& info) {
  std::vector<std::string> words;
  for (const int algorithm : info.algorithms()) {
    words.push_back(WordOf(v1::Algorithm_Name(static_cast<v1::Algorithm>(algorithm)), "ALGORITHM_"));
  }
  return absl::StrJoin(words, ", ");
}

std::vector<TableRow> Describe(const v1::GetServerInfoResponse& info) {
  const v1::ServerLimits& limits = info.limits();
  return {
      {"version", info.version()},
      {"started", StartOf(info)},
      {"workers", absl::StrCat(info.workers())},
      {"maps", absl::StrCat(info.maps(), " of at most ", limits.max_maps())},
      {"algorithms", AlgorithmsOf(info)},
      {"log level", WordOf(v1::LogLevel_Name(info.log_level()), "LOG_LEVEL_")},
      {"message", absl::StrCat("at most ", limits.max_message_bytes(), " bytes")},
      {"imported file", absl::StrCat("at most ", limits.max_import_bytes(), " bytes")},
      {"map side", absl::StrCat("at most ", limits.max_map_side(), " cells")},
      {"queries", absl::StrCat("at most ", limits.max_queries(), " of a FindPaths, ",
                               limits.max_streamed_queries(), " of a stream's message")},
      {"stream", absl::StrCat("at most ", limits.stream_window(), " messages unanswered")},
      {"transfers", absl::StrCat("at most ", limits.max_transfers(), " at a time, of ",
                                 absl::FormatDuration(DurationOf(limits.transfer_timeout())))},
      {"maps' memory", limits.max_maps_memory_bytes() == 0
                           ? "no limit"
                           : absl::StrCat("at most ", limits.max_maps_memory_bytes() >> 20, " MiB")},
      {"client", absl::StrCat("at most ", limits.max_client_calls(), " calls at a time")},
      {"calls' memory", absl::StrCat("at most ", limits.max_call_memory_bytes() >> 20, " MiB, ",
                                     limits.max_connection_memory_bytes() >> 20, " of one connection")},
      {"watches", absl::StrCat("at most ", limits.max_watches())},
      {"waiting calls", absl::StrCat("at most ", limits.max_queued(), ", for ",
                                     absl::FormatDuration(DurationOf(limits.max_queue_time())))},
      {"connection", absl::StrCat("at most ", limits.max_concurrent_streams(), " calls at a time")},
  };
}

ExitCode ShowInfo(Session& session) {
  return session.Answer(session.client().GetServerInfo(), [&](const auto& info) {
    session.io().out << FormatTable(Describe(info), session.table_width());
  });
}

ExitCode SetLogLevel(const v1::SetLogLevelRequest& request, Session& session) {
  return session.Answer(session.client().SetLogLevel(request), [&](const auto& response) {
    const auto word = [](v1::LogLevel level) { return WordOf(v1::LogLevel_Name(level), "LOG_LEVEL_"); };
    session.io().out << "The log level is " << word(request.level()) << " now; it was "
                     << word(response.previous()) << ".\n";
  });
}

}  // namespace

void AddHealthCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<HealthCheckRequest>();
  CLI::App& command =
      AddCommand(parent, session, "health", "Tells whether the server is serving", request, &CheckHealth);
  command.add_option("SERVICE", *request->mutable_service(),
                     "A gRPC service, such as waystar.v1.PathService [the server as a whole]");
  command.footer(
      "Examples:\n"
      "  waystar health\n"
      "  waystar health waystar.v1.PathService --server game-7:7450\n");
}

void AddInfoCommand(CLI::App& parent, Session& session) {
  CLI::App& command = *parent.add_subcommand("info", "Tells what the server is and what it takes");
  command.footer("Examples:\n  waystar info\n  waystar info --json | jq .limits\n");
  command.callback([&session] { session.exit_code = ShowInfo(session); });
}

void AddLogLevelCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::SetLogLevelRequest>();
  CLI::App& command = AddCommand(parent, session, "log-level",
                                 "Sets which lines the server logs, while it runs", request, &SetLogLevel);
  AddChoice<v1::LogLevel>(
      command, "LEVEL", [request](v1::LogLevel level) { request->set_level(level); },
      {{"debug", v1::LOG_LEVEL_DEBUG},
       {"info", v1::LOG_LEVEL_INFO},
       {"warning", v1::LOG_LEVEL_WARNING},
       {"error", v1::LOG_LEVEL_ERROR}},
      "Lines of this level and of more serious ones")
      ->required();
  command.footer("Examples:\n  waystar log-level debug\n  waystar log-level warning --server game-7:7450\n");
}

}  // namespace waystar::cli
