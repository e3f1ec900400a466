// Structured log lines on standard error, for people and for log collectors alike:
//
//   ts=2026-01-31T12:00:00.123Z level=info event=map_loaded map=arena width=49 height=49
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace waystar::runtime {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

struct LogField {
  LogField(absl::string_view name, const absl::AlphaNum& content) : key(name), value(content.Piece()) {}

  std::string key;
  std::string value;
};

// Starts logging at a level named "debug", "info", "warning" or "error". Returns INVALID_ARGUMENT for any
// other name. Before this is called, lines of level info and above are written.
absl::Status StartLogging(absl::string_view level);

// Opens /dev/null in place of each of the standard files that is closed, whose number the next socket would
// get, and the log with it; and has writes to a pipe that nobody reads fail, where they would end the
// process. Call it before anything is opened.
void SecureStandardFiles();

// Makes Log write lines of that level and of more serious ones from now on. Thread safety: any thread.
void SetLogLevel(LogLevel level);
LogLevel CurrentLogLevel();

// Hands one line to the thread that writes, and never waits for it: see LogWriter. A value with a space, a
// quote, an equals sign or an unprintable byte is quoted and escaped, so that no value can forge a field or a
// line. Thread safety: any thread.
void Log(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields);

// Waits until all lines are written, but not for a reader that takes none for a second, and for no longer
// than five. Call it before the process ends. Thread safety: any thread.
void FlushLog();

// Returns how many lines are lost, because the log could not be written for too long or at all.
std::uint64_t DroppedLogLines();

// Returns what Log writes after the time and the level.
std::string FormatLogLine(absl::string_view event, std::initializer_list<LogField> fields);

}  // namespace waystar::runtime
