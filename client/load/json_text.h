// Writers of JSON that does not come from a message.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace waystar::load {

// Writes a string with its quotes.
std::string JsonQuoted(absl::string_view text);

// Writes an object of names and of values that are JSON already.
std::string JsonObject(const std::vector<std::pair<absl::string_view, std::string>>& fields);

// Writes an array of values that are JSON already.
std::string JsonArray(const std::vector<std::string>& values);

inline std::string JsonNumber(double value) { return absl::StrFormat("%.10g", value); }
template <typename Integer>
std::string JsonNumber(Integer value) {
  return absl::StrCat(value);
}

inline std::string JsonBool(bool value) { return value ? "true" : "false"; }

}  // namespace waystar::load
