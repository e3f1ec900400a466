// Tools for the folder in which a server keeps its maps, while no server uses it: `waystar-server data`.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace waystar::data_tool {

// Runs the tool with the words after "data", and returns the process's exit code: 0 if all is well, 1 if the
// folder is damaged or cannot be used, 2 for words that are no command. It waits for nothing but the disk.
int RunDataTool(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace waystar::data_tool
