#pragma once

#include <string>

#include "client/cli/draw/picture.h"
#include "client/cli/top_rates.h"

namespace waystar::cli {

// For people, several lines: what the server does as a whole, its queues, its methods and its maps. What does
// not fit the window is left out, the least busy methods and the smallest maps first.
std::string TopText(const Rates& rates, const std::string& server, Window window);

// One line of JSON: rates a second, lengths of time in nanoseconds, null for what is not known.
std::string TopJson(const Rates& rates, const std::string& server);

}  // namespace waystar::cli
