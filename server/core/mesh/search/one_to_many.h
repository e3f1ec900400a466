// Shortest paths between one place of a navigation mesh and several others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

// End of the paths that the one place, the hub, is.
enum class HubEnd : std::uint8_t { kStart, kGoal };

// Receives the report on the path of one of the other places. Its spans are valid during the call.
using OneToManySink = absl::FunctionRef<void(std::size_t other, const MeshSearchReport& report)>;

// Finds the paths that SearchMesh finds between the hub and each of the others, or other ones of the same
// length, by one flood from the hub over the cells of the mesh in the order of distances. It ends once no
// path can be shortened. The first report has its expansions. Places in the cells around the hub, and those
// without a path, are searched for by SearchMesh.
//
// Returns kExhausted if the sink has received a report on each of the others. If the flood ends early, by the
// budget or because it has expanded `max_flood_expansions` intervals, returns why; the sink has received none
// then.
//
// REQUIRES: the places are ones that NavMesh::FindNearest could return.
SearchEnd SearchOneToMany(const NavMesh& mesh, const MeshPlace& hub, HubEnd hub_end,
                          absl::Span<const MeshPlace> others, std::uint64_t max_flood_expansions,
                          const Budget& budget, MeshScratch& scratch, OneToManySink sink);

}  // namespace waystar::core
