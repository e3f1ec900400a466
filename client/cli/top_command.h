// The rates of what a server did between two answers to GetMetrics.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "client/cli/app.h"
#include "client/load/report_text.h"
#include "waystar/v1/server_service.pb.h"

namespace waystar::cli {

using load::Record;

// Computes the rates a second, and what else there is to report: the server as a whole; its "storage", unless
// maps live in memory alone; its "fleet", if there is one; the "conditions" that hold; its "lanes"; its
// "methods", the busiest first; and its largest "maps", `most_maps` of them. If the server was restarted
// between the two answers, the rates are those since its start.
Record RatesBetween(const v1::GetMetricsResponse& before, const v1::GetMetricsResponse& after,
                    std::size_t most_maps = std::numeric_limits<std::size_t>::max());

// Returns text of several lines: the server as a whole, its queues, its methods and its maps. To fit the
// window, the least busy methods and the smallest maps are omitted first.
std::string TopText(const Record& rates, const std::string& server, Window window);

// One line of JSON: rates a second, lengths of time in nanoseconds, null for what is not known.
std::string TopJson(const Record& rates, const std::string& server);

}  // namespace waystar::cli
