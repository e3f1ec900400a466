// Loads on servers, by the loops of `waystar bench`.
#pragma once

#include "client/load/run.h"

namespace waystar::bench {

// Asks the server at 127.0.0.1:port for the paths of `part`. Ends the program if one fails.
load::Report RunLoad(int port, load::Part part, const load::Settings& settings);

}  // namespace waystar::bench
