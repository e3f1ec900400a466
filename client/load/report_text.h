#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/load/run.h"

namespace waystar::load {

// Writes the report for people, in several lines.
std::string ReportText(const Report& report, const std::string& server);

// Writes the report as one line of JSON: lengths of time are in nanoseconds, and null stands for what is not
// known.
std::string ReportJson(const Report& report, const std::string& server);

// Writes the progress on one line of a terminal, which the next one overwrites.
std::string ProgressText(const Progress& progress);

// Writers of JSON that does not come from a message.

// Writes a string with its quotes.
std::string JsonQuoted(absl::string_view text);

// Writes an object of names and of values that are JSON already.
std::string JsonObject(const std::vector<std::pair<absl::string_view, std::string>>& fields);

// Writes an array of what `write` makes of each element.
template <typename List, typename Write>
std::string JsonArray(const List& list, Write write) {
  return absl::StrCat(
      "[", absl::StrJoin(list, ",", [&](std::string* out, const auto& each) { out->append(write(each)); }),
      "]");
}

inline std::string JsonNumber(double value) { return absl::StrFormat("%.10g", value); }
template <typename Integer>
std::string JsonNumber(Integer value) {
  return absl::StrCat(value);
}

inline std::string JsonBool(bool value) { return value ? "true" : "false"; }

}  // namespace waystar::load
