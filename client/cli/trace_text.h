#pragma once

#include <cstddef>
#include <string>

#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// Writes an event: "expanded 1,0 g=1 f=14", or "generated 2,0 from 1,0 g=2 f=14".
std::string EventText(const v1::SearchEvent& event);

// Says what the search did beside the path: entries on the open list, and cells left on it. If the trace was
// cut short, it says how to get more of it instead of how many are left.
std::string TraceText(const v1::TraceSearchResult& result, std::size_t open_cells);

}  // namespace waystar::cli
