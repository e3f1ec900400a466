#pragma once

#include <string>

#include "client/cli/draw/view.h"
#include "client/cli/top_rates.h"

namespace waystar::cli {

// Writes several lines for people: what the server does as a whole, its queues, its methods and its maps.
// What does not fit the window is left out, the least busy methods and the smallest maps first.
std::string TopText(const Rates& rates, const std::string& server, Window window);

// Writes one line of JSON: rates are per second, lengths of time in nanoseconds, and null stands for what is
// not known.
std::string TopJson(const Rates& rates, const std::string& server);

}  // namespace waystar::cli
