// Environment variables that look like settings of this program but are never read.
#pragma once

#include <string>
#include <vector>

namespace waystar::runtime {

// Returns, sorted, the names of environment variables that begin with WAYSTAR_ and that neither the server
// nor the command line tool reads: misspelled flags, for example. Ignores those that Kubernetes and Docker
// set for a service named "waystar".
std::vector<std::string> UnknownVariables();

}  // namespace waystar::runtime
