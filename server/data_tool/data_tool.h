// `waystar-server data`: offline tools for the folder in which a server keeps its maps.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace waystar::data_tool {

// Runs the tool with the arguments after "data". Returns the exit code: 0 if all is well, 1 if the folder is
// damaged or unusable, 2 for wrong usage.
int RunDataTool(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace waystar::data_tool
