// The beginning of text files, and the ends of their lines.
#pragma once

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// Returns the bytes without the mark that some editors put before UTF-8.
inline absl::string_view SkipByteOrderMark(absl::string_view bytes) {
  return absl::StartsWith(bytes, "\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
}

// Returns the first character that is not a blank, or 0 if there is none.
inline char FirstOfText(absl::string_view bytes) {
  const absl::string_view text = SkipByteOrderMark(bytes);
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == absl::string_view::npos ? '\0' : text[at];
}

// Returns the line without the blanks at its end.
inline absl::string_view WithoutTrailingBlanks(absl::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

}  // namespace waystar::core
