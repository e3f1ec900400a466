// How far the log went, kept beside the log: what is cut off the log is missed at the next start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace waystar::storage {

inline constexpr absl::string_view kMarkName = "MARK";

// Every commit overwrites it before it is acknowledged, but only the start and the end of a log sync it. So
// after the end of the process it says exactly how far the log went; after the loss of power it may say what
// was true some time before.
struct LogMark {
  // The log file that was written; 0 if there was none yet.
  std::uint64_t file = 0;
  // How many bytes of it count.
  std::uint64_t end = 0;
  // Whether what is acknowledged need not be on stable storage yet.
  bool is_relaxed = false;
  // Whether the log was ended, and this was synced.
  bool is_ended = false;
  // Folder::SystemRun.
  std::string run;
};

// Returns a line of text that fits a sector, of one length for all marks.
std::string EncodeMark(const LogMark& mark);
// Returns nothing if it is not what EncodeMark wrote.
std::optional<LogMark> DecodeMark(absl::string_view bytes);

}  // namespace waystar::storage
