// The maps that one query's portals may lead to.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/portal_search.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/map_store.h"
#include "server/rpc/access/caller.h"
#include "server/rpc/query/movement.h"

namespace waystar::rpc {

// Pins each map when it is first asked for, and shows it as the query's agent sees it. A map of another world
// is not there, nor is one that is no grid or knows no profile of the name that the query gives, nor one that
// the caller may not read.
//
// Thread safety: none.
class WorldView final : public core::World {
 public:
  // All, and the messages of the request, must outlive the view. `home` is a grid.
  WorldView(const core::MapStore& store, const Caller& caller, const core::MapSnapshot& home,
            const Movement& movement, RequestedMovement requested)
      : store_(store), caller_(caller), home_(home), movement_(movement), requested_(requested) {}

  const core::GridMap* Find(absl::string_view id) override;

  // Of a map that was found.
  std::uint64_t RevisionOf(absl::string_view id) const;

 private:
  struct Visited {
    core::PinnedSnapshot snapshot;
    // Null if the agent has no place there.
    std::unique_ptr<const Movement> movement;
  };

  const core::MapStore& store_;
  const Caller& caller_;
  const core::MapSnapshot& home_;
  const Movement& movement_;
  const RequestedMovement requested_;
  std::vector<Visited> visited_;
};

}  // namespace waystar::rpc
