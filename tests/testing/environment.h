// Settings from the environment that say how much a test is to do.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "absl/strings/numbers.h"

namespace waystar {

// Returns the number in `variable`, which makes a longer run of other maps; see ./dev oracle.
inline std::uint64_t NumberFromEnvironment(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  std::uint64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

}  // namespace waystar
