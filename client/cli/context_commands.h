// Contexts: named connections of the user, which `waystar context` keeps. Each is a file of options, one a
// line.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace waystar::cli {

// Returns the options of the context for a command line, such as "--server=game-7:7450": of the one that
// --context names, or else of the current one. None if there is no current one, or if --server or
// WAYSTAR_SERVER names a server: no other server gets a context's token. Options that the command line has
// itself are not among them. `words` has no option that is cut short. Errors: why there are no such options.
absl::StatusOr<std::vector<std::string>> ContextOptions(const std::vector<std::string>& words);

}  // namespace waystar::cli
