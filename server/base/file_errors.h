// Errors of malformed files.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"

namespace waystar::core {

// Return INVALID_ARGUMENT / BAD_FORMAT without a field. BadLine names a line, counted from 1.
inline absl::Status BadFormat(absl::string_view message) {
  return MakeError(ErrorReason::kBadFormat, "", message);
}
inline absl::Status BadLine(std::size_t line, absl::string_view message) {
  return BadFormat(absl::StrCat("line ", line, ": ", message));
}

// Returns the beginning of a text, escaped and quoted.
inline std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, 60)), "\"");
}

}  // namespace waystar::core
