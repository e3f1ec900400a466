#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/client.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"
#include "waystar/v1/waypoints.pb.h"

namespace waystar::cli {

// Parses a file of protobuf's JSON. Errors: INVALID_ARGUMENT if it is no such message.
absl::StatusOr<v1::WaypointGraph> ParseGraph(absl::string_view json);

// Writes the path over a waypoint graph: the ids of nodes, and a start or goal that is a position, "3.5,4 a
// b".
std::string GraphPathText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer);

// Writes the facts about a waypoint graph as a table of that width.
std::string GraphFacts(const v1::MapInfo& info, std::size_t width);

// Writes the first nodes of a waypoint graph as a table of that width, with where they lie and what edges
// they have.
absl::StatusOr<std::string> NodeTable(const client::Client& client, const std::string& map,
                                      std::size_t width);

}  // namespace waystar::cli
