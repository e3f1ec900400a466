#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "client/load/run.h"

namespace waystar::load {

// Writes the report for people, in several lines.
std::string ReportText(const Report& report, const std::string& server);

// Writes the report as one line of JSON: lengths of time are in nanoseconds, and null stands for what is not
// known.
std::string ReportJson(const Report& report, const std::string& server);

// Writes the progress on one line of a terminal, which the next one overwrites.
std::string ProgressText(const Progress& progress);

// JSON that does not come from a message.

struct Value;
// Values by their names in JSON, in its order.
using Record = std::vector<std::pair<std::string, Value>>;

// A value of a report; nothing where it is not known.
struct Value : std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, absl::Duration,
                            std::string, Record, std::vector<Record>> {
  using variant::variant;
};

// Writes one line without its end. Lengths of time are in nanoseconds, and nothing is null.
std::string ToJson(const Value& value);

}  // namespace waystar::load
