#pragma once

#include <string>

#include "client/load/run.h"

namespace waystar::load {

// The report for people, several lines.
std::string ReportText(const Report& report, const std::string& server);

// One line of JSON: lengths of time in nanoseconds, null for what is not known.
std::string ReportJson(const Report& report, const std::string& server);

// What is to stand on one line of a terminal, and is written over by the next.
std::string ProgressText(const Progress& progress);

}  // namespace waystar::load
