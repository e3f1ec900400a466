// The beginning of text files.
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

}  // namespace waystar::core
