#pragma once

#include <istream>
#include <string>

#include "absl/status/statusor.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// Reads a map that a query is to bring along: the rows of a grid, a line each, or a WaypointGraph in JSON.
// Whether they are a map is for the server to say. Errors: what keeps the file from being read.
absl::StatusOr<v1::InlineMap> ReadInlineMap(const std::string& file, std::istream& standard_input);

}  // namespace waystar::cli
