// What a fuzz target expects of the code under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"

namespace waystar::fuzz {

// Ends the process, which whatever runs the target takes for a find, unless `holds`.
inline void Require(bool holds, absl::string_view what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
    std::abort();
  }
}

inline absl::string_view BytesOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Requires that a file is refused with a reason and a message.
inline void RequireReason(const absl::Status& status) {
  Require(!ErrorReasonOf(status).empty() && !status.message().empty(), status.ToString());
}

}  // namespace waystar::fuzz
