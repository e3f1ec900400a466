// Numbers as text, and those in the fields of errors.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

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

// Returns 3 for the field "edits[3].shape" of an error and the list "edits", or nullopt for another field.
inline std::optional<std::size_t> IndexInField(absl::string_view field, absl::string_view list) {
  std::size_t index = 0;
  return absl::ConsumePrefix(&field, list) && absl::ConsumePrefix(&field, "[") &&
                 absl::SimpleAtoi(field.substr(0, field.find(']')), &index)
             ? std::optional(index)
             : std::nullopt;
}

}  // namespace waystar::core
