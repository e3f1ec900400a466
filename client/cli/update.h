// The common parts of the commands that change a map.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "client/cli/exit_code.h"
#include "client/cli/session.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Adds --expect-revision and --expect-epoch, which set what `version` returns.
void AddExpectedVersion(CLI::App& command, const std::function<v1::Version&()>& version);

// Adds those, --request-id and --request-time.
void AddUpdateOptions(CLI::App& command, const std::shared_ptr<v1::UpdateObstaclesRequest>& request);

// Adds --coordinates, for a command that is given cells.
void AddUpdateCoordinates(CLI::App& command, const std::shared_ptr<v1::UpdateObstaclesRequest>& request);

// Gives the command the options of AddUpdateOptions, and has it send the batch.
void RunsUpdate(CLI::App& command, const std::shared_ptr<v1::UpdateObstaclesRequest>& request,
                Session& session);

// Writes "1 cell", "2 cells".
std::string CellCount(int64_t count);

// Writes ", digest 0123456789abcdef", or nothing if the server tells none.
std::string DigestClause(uint64_t digest);

// Writes the same, or on a waypoint graph "1 node, 2 edges".
std::string ChangeText(int64_t cells, int64_t nodes, int64_t edges);

// Sends the batch and tells what it changed.
ExitCode Update(const v1::UpdateObstaclesRequest& request, Session& session);

}  // namespace waystar::cli
