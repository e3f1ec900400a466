// Numbers as text.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace waystar::core {

// Returns the shortest decimal text that parses back to the same number: "1.4", "0.1", "100000", "1e+30".
// REQUIRES: `number` is finite.
inline std::string ShortestText(double number) {
  // Range in which fixed notation is readable; it takes at most 24 characters there.
  const double size = std::abs(number);
  const bool is_common = size == 0.0 || (size >= 1e-5 && size < 1e16);
  std::array<char, 32> text{};
  const std::to_chars_result end =
      std::to_chars(text.data(), text.data() + text.size(), number,
                    is_common ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(text.data(), end.ptr);
}

}  // namespace waystar::core
