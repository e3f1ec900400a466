#include "server/runtime/logging.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace waystar::runtime {
namespace {

std::shared_ptr<spdlog::logger> MakeLogger() {
  auto logger =
      std::make_shared<spdlog::logger>("waystar", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("ts=%Y-%m-%dT%H:%M:%S.%eZ level=%l %v", spdlog::pattern_time_type::utc);
  logger->flush_on(spdlog::level::trace);
  return logger;
}

spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> logger = MakeLogger();
  return *logger;
}

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

LogLevel LogLevelOf(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return LogLevel::kDebug;
    case spdlog::level::warn:
      return LogLevel::kWarning;
    case spdlog::level::err:
    case spdlog::level::critical:
    case spdlog::level::off:
      return LogLevel::kError;
    default:
      return LogLevel::kInfo;
  }
}

bool IsPlain(char c) {
  return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '"' && c != '=' && c != '\\';
}

std::string Quoted(absl::string_view value) {
  if (!value.empty() && std::all_of(value.begin(), value.end(), IsPlain)) {
    return std::string(value);
  }
  return absl::StrCat("\"", absl::CHexEscape(value), "\"");
}

}  // namespace

absl::Status StartLogging(absl::string_view level) {
  for (const LogLevel known : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    const spdlog::string_view_t name = spdlog::level::to_string_view(SpdlogLevel(known));
    if (level == absl::string_view(name.data(), name.size())) {
      Logger().set_level(SpdlogLevel(known));
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the log level is debug, info, warning or error, not \"", absl::CHexEscape(level), "\""));
}

LogLevel CurrentLogLevel() { return LogLevelOf(Logger().level()); }

void SetLogLevel(LogLevel level) { Logger().set_level(SpdlogLevel(level)); }

std::string FormatLogLine(absl::string_view event, std::initializer_list<LogField> fields) {
  std::string line = absl::StrCat("event=", event);
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", field.key, "=", Quoted(field.value));
  }
  return line;
}

void Log(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields) {
  spdlog::logger& logger = Logger();
  if (logger.should_log(SpdlogLevel(level))) {
    logger.log(SpdlogLevel(level), FormatLogLine(event, fields));
  }
}

}  // namespace waystar::runtime
