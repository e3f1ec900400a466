// Mark of the end of the log, stored beside it: detects at the next start that the end of the log was cut
// off.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace waystar::storage {

inline constexpr absl::string_view kMarkName = "MARK";

// Each commit overwrites the mark before it is acknowledged, but only the start and the end of a log sync it.
// So the mark is exact after the end of the process, and may be old after a power failure.
struct LogMark {
  // Number of the current log file; 0 if there is none yet.
  std::uint64_t file = 0;
  // Valid bytes of that file.
  std::uint64_t end = 0;
  // True if acknowledged commits may not be on stable storage yet.
  bool is_relaxed = false;
  // True if the log was stopped properly and the mark was synced.
  bool is_ended = false;
  // Result of Folder::SystemRun when the mark was written.
  std::string run;
};

// Returns a line of text that fits into a sector. All marks have the same length.
std::string EncodeMark(const LogMark& mark);
// Returns nullopt if the bytes are not from EncodeMark.
std::optional<LogMark> DecodeMark(absl::string_view bytes);

}  // namespace waystar::storage
