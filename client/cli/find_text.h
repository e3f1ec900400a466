#pragma once

#include <string>

#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// The answer in one line of plain words: outcome and reason, steps, cost, revision, and how the search went.
std::string FindText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer);

// The path as the answer has it: cells "1,1 2,2 3,2", or directions "SE E".
std::string PathText(const v1::FindPathResponse& answer);

}  // namespace waystar::cli
