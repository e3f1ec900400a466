#pragma once

#include <string>

#include "client/options.h"

namespace waystar::cli {

// Why calls do not reach the server of `options`, and what to do about it, found out by knocking at the first
// of its addresses, for a few seconds at most: nothing listens there, it speaks TLS or does not, or one side
// does not trust the other's certificate. Empty where that does not tell. `server` is its name for people.
std::string WhyUnreachable(const client::Options& options, const std::string& server);

}  // namespace waystar::cli
