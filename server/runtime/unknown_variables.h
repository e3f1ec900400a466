// Variables of the environment that were meant for this program and are read by nobody.
#pragma once

#include <string>
#include <vector>

namespace waystar::runtime {

// Returns the names of the environment's variables that begin with WAYSTAR_ and that neither the server nor
// the command line tool reads, in alphabetical order: those of a flag with a mistake, say. Those that
// Kubernetes and Docker set for a service called "waystar" are left out.
std::vector<std::string> UnknownVariables();

}  // namespace waystar::runtime
