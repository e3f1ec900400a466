// What a fuzz target expects of the code under test.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "absl/strings/string_view.h"

namespace waystar::fuzz {

// Ends the process, which whoever runs the target takes for a find, unless `holds`.
inline void Require(bool holds, absl::string_view what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
    std::abort();
  }
}

}  // namespace waystar::fuzz
