#pragma once

#include <string>

#include "client/load/run.h"

namespace waystar::load {

// Writes the report for people, in several lines.
std::string ReportText(const Report& report, const std::string& server);

// Writes the report as one line of JSON: lengths of time are in nanoseconds, and null stands for what is not
// known.
std::string ReportJson(const Report& report, const std::string& server);

// Writes the progress on one line of a terminal, which the next one overwrites.
std::string ProgressText(const Progress& progress);

}  // namespace waystar::load
