// The common parts of the commands that change a map.
#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/repeated_ptr_field.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/cli/exit_code.h"
#include "client/cli/session.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Adds --expect-revision and --expect-epoch, for the expected_version of the request.
void AddExpectedVersion(CLI::App& command, google::protobuf::Message& request);

// Adds those, --request-id and --request-time.
void AddUpdateOptions(CLI::App& command, v1::UpdateMapRequest& request);

// Sends the batch and tells what it changed.
ExitCode Update(const v1::UpdateMapRequest& request, Session& session);

// Gives a revision without an epoch the epoch that the map has now: the server takes none without. Returns
// the errors of GetMap.
absl::Status CompleteVersion(Session& session, const std::string& map, v1::Version& version);

// Writes name, size and revision of a map that is new, with `more` said of the cells of a grid.
std::string NewMapText(const v1::MapInfo& info, const std::string& more);

// Writes "64 x 48 cells", "3 nodes, 4 one-way edges", or "3 polygons in 1 connected part".
std::string SizeText(const v1::MapInfo& info);

// Writes ", digest 0123456789abcdef", or nothing if the server tells none.
std::string DigestClause(uint64_t digest);

// Writes what a batch has changed: "1 cell, 2 portals", or on a waypoint graph "1 node, 2 edges"; "0 cells"
// if nothing was counted. Servers count cells, nodes and edges; portals, profiles, and named obstacles on a
// mesh, which changes an area without cells, are counted from the edits.
std::string ChangeText(int64_t cells, int64_t nodes, int64_t edges, bool has_area,
                       const google::protobuf::RepeatedPtrField<v1::Edit>& edits);

// Writes the id of a node, and its label if it has one: koln-hbf "Köln/Hbf".
std::string NodeText(const v1::WaypointNode& node);

}  // namespace waystar::cli
