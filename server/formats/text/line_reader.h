// Reader of text by lines.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "server/base/stop_check.h"

namespace waystar::core {

// Returns the bytes without the UTF-8 byte order mark that some editors write.
inline absl::string_view SkipByteOrderMark(absl::string_view bytes) {
  return absl::StartsWith(bytes, "\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
}

// Returns the first character that is not a blank, or 0 if all are.
inline char FirstOfText(absl::string_view bytes) {
  const absl::string_view text = SkipByteOrderMark(bytes);
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == absl::string_view::npos ? '\0' : text[at];
}

// Returns the line without trailing blanks.
inline absl::string_view WithoutTrailingBlanks(absl::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

// Reads lines that end with LF or CR LF; the last may have no end. Skips a byte order mark at the beginning.
//
// Thread safety: none.
class LineReader {
 public:
  // `text` must outlive the lines.
  explicit LineReader(absl::string_view text) : rest_(SkipByteOrderMark(text)) {}

  // Polls `stop` every 256 lines, and returns its error.
  absl::Status CheckStopNow(const StopCheck* stop) const { return CheckStopAt(stop, line_number_); }

  // Returns the next line without its end, or nullopt after the last.
  std::optional<absl::string_view> Next() {
    if (rest_.empty()) {
      return std::nullopt;
    }
    ++line_number_;
    const std::size_t end = rest_.find('\n');
    absl::string_view line = rest_.substr(0, end);
    rest_ = end == absl::string_view::npos ? absl::string_view() : rest_.substr(end + 1);
    return absl::StripSuffix(line, "\r");
  }

  // Returns the number of the last line returned by Next, counted from 1.
  std::size_t line_number() const { return line_number_; }

 private:
  absl::string_view rest_;
  std::size_t line_number_ = 0;
};

}  // namespace waystar::core
