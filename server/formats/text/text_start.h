// Start and line ends of text files.
#pragma once

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

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

}  // namespace waystar::core
