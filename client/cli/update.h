// The common parts of the commands that change a map.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "client/cli/exit_code.h"
#include "client/cli/session.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Adds --expect-revision and --expect-epoch, which set what `version` returns.
void AddExpectedVersion(CLI::App& command, const std::function<v1::Version&()>& version);

// Adds those, --request-id and --request-time.
void AddUpdateOptions(CLI::App& command, const std::shared_ptr<v1::UpdateMapRequest>& request);

// Sends the batch and tells what it changed.
ExitCode Update(const v1::UpdateMapRequest& request, Session& session);

// Gives the command the options of AddUpdateOptions, and has it send the batch.
void RunsUpdate(CLI::App& command, const std::shared_ptr<v1::UpdateMapRequest>& request, Session& session);

// Does the same for a batch of one edit, which adds the element, or with --replace puts it.
template <typename Element>
void RunsAddOrPut(CLI::App& command, const std::shared_ptr<v1::UpdateMapRequest>& request,
                  const std::shared_ptr<Element>& element, Element* (v1::Edit::*add)(),
                  Element* (v1::Edit::*put)(), Session& session) {
  const auto replace = std::make_shared<bool>(false);
  command.add_flag("--replace", *replace, "Put it in the place of one of the same name");
  AddUpdateOptions(command, request);
  command.callback([request, element, add, put, replace, &session] {
    *(request->add_edits()->*(*replace ? put : add))() = *element;
    session.exit_code = Update(*request, session);
  });
}

// Gives a revision without an epoch the epoch that the map has now: the server takes none without. Returns
// the errors of GetMap.
absl::Status CompleteVersion(Session& session, const std::string& map, v1::Version& version);

// Writes name, size and revision of a map that is new, with `more` said of the cells of a grid.
std::string NewMapText(const v1::MapInfo& info, const std::string& more);

// Writes "64 x 48 cells", "3 nodes, 4 one-way edges", or "3 polygons in 1 connected part".
std::string SizeText(const v1::MapInfo& info);

// Writes ", digest 0123456789abcdef", or nothing if the server tells none.
std::string DigestClause(uint64_t digest);

// Changes of a batch. Servers count cells, nodes and edges; portals and profiles are counted from the edits.
struct ChangeCounts {
  int64_t cells = 0;
  int64_t nodes = 0;
  int64_t edges = 0;
  int64_t portals = 0;
  int64_t profiles = 0;
  // Named obstacles on a mesh, which has no cells to count.
  int64_t obstacles = 0;
};

// Returns those of the edits; what servers count is 0.
ChangeCounts CountsOf(const google::protobuf::RepeatedPtrField<v1::Edit>& edits);

// Adds what the server counted: `change` is an UpdateMapResponse or a MapRevision.
template <typename Change>
ChangeCounts CountsOf(const Change& change, const google::protobuf::RepeatedPtrField<v1::Edit>& edits) {
  ChangeCounts counts = CountsOf(edits);
  counts.cells = change.changed_cells();
  counts.nodes = change.changed_nodes();
  counts.edges = change.changed_edges();
  // Only on meshes do obstacles change an area without cells.
  bool has_area = false;
  if constexpr (requires { change.changed_bounds(); }) {
    has_area = change.changed_bounds().width() > 0;
  } else {
    has_area = change.changed_areas_size() > 0;
  }
  if (change.changed_cells() > 0 || !has_area) {
    counts.obstacles = 0;
  }
  return counts;
}

// Writes "1 cell, 2 portals", or on a waypoint graph "1 node, 2 edges"; "0 cells" if nothing was counted.
std::string ChangeText(const ChangeCounts& counts);

// Says what the obstacle does to the cells that it covers: "blocks", "cost x 2.5", "cost + 4 falling off".
std::string EffectText(const v1::Obstacle& obstacle);

// Says how long the obstacle stays: "30s", "1.5s". It is empty if the obstacle stays until it is removed.
std::string LifetimeText(const v1::Obstacle& obstacle);
// Returns the heights of an obstacle, such as " at heights 0:2", or "" if it has none.
std::string HeightsText(const v1::Obstacle& obstacle);

// Writes the id of a node, and its label if it has one: koln-hbf "Köln/Hbf".
std::string NodeText(const v1::WaypointNode& node);

// Writes an edit on one line: "block 3,4 disc:10,4,2.5", "put gate disc:10,4,2.5 cost x 2.5 for 30s".
std::string EditText(const v1::Edit& edit);

}  // namespace waystar::cli
