#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/search_nodes.h"
#include "client/client.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/types.pb.h"
#include "waystar/v1/waypoint_edits.pb.h"
#include "waystar/v1/waypoints.pb.h"

namespace waystar::cli {

// Parses protobuf JSON. Returns INVALID_ARGUMENT if it is not such a message.
absl::StatusOr<v1::WaypointGraph> ParseGraph(absl::string_view json);

// The id of a node, and its label if it has one: koln-hbf "Köln/Hbf".
std::string NodeText(const v1::WaypointNode& node);

// The path over a waypoint graph: ids of nodes, and a start or goal that is a position, "3.5,4 a b".
std::string GraphPathText(const v1::FindPathRequest& request, const v1::FindPathResponse& answer);

// The facts about a waypoint graph as a table of that width.
std::string GraphFacts(const v1::MapInfo& info, std::size_t width);

// The facts about a navigation mesh as a table of that width.
std::string MeshFacts(const v1::MapInfo& info, std::size_t width);

// Name, size and revision of a map that is new, with `more` said of the cells of a grid.
std::string NewMapText(const v1::MapInfo& info, const std::string& more);

// How many nodes a table lists, unless more are asked for.
inline constexpr std::size_t kNodesInTable = 50;

// The first nodes of a waypoint graph as a table of that width, with where they lie and what edges they have.
absl::StatusOr<std::string> NodeTable(const client::Client& client, const std::string& map,
                                      std::size_t width);

// The nodes of a search as a table of that width: the first `most` of SearchNodes::All(), and how many more
// there are.
std::string SearchTable(const SearchNodes& search, std::size_t most, std::size_t width);

}  // namespace waystar::cli
