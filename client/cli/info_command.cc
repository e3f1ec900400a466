#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/commands.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

std::string WordOf(absl::string_view enum_name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(enum_name, prefix));
}

absl::Duration DurationOf(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
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
      {"watches", absl::StrCat("at most ", limits.max_watches())},
      {"waiting calls", absl::StrCat("at most ", limits.max_queued(), ", for ",
                                     absl::FormatDuration(DurationOf(limits.max_queue_time())))},
      {"connection", absl::StrCat("at most ", limits.max_concurrent_streams(), " calls at a time")},
  };
}

ExitCode ShowInfo(Session& session) {
  const auto info = session.client().GetServerInfo();
  if (!info.ok()) {
    return session.Fail(info.status());
  }
  if (session.options().json) {
    session.PrintJson(*info);
  } else {
    session.io().out << FormatTable(Describe(*info), session.table_width());
  }
  return ExitCode::kOk;
}

}  // namespace

void AddInfoCommand(CLI::App& parent, Session& session) {
  CLI::App& command = *parent.add_subcommand("info", "Tells what the server is and what it takes");
  command.footer("Examples:\n  waystar info\n  waystar info --json | jq .limits\n");
  command.callback([&session] { session.exit_code = ShowInfo(session); });
}

}  // namespace waystar::cli
