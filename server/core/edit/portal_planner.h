// Computes the portals that a batch of edits leads to.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/edit/edit.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/portal_table.h"

namespace waystar::core {

// Takes edits in order, each on top of those before. Errors have fields below the edit, and change nothing.
//
// Thread safety: none.
class PortalPlanner {
 public:
  // The map must outlive the planner.
  explicit PortalPlanner(const GridMap& map) : map_(map) {}

  absl::Status Put(const PutPortal& edit);
  absl::Status Remove(const RemovePortal& edit);
  absl::Status Switch(const SwitchPortal& edit);

  // Returns the new table, or null if no edit changed it.
  std::shared_ptr<const PortalTable> changed() const { return own_; }

 private:
  // Returns the portals with the edits so far.
  const PortalTable& portals() const { return own_ != nullptr ? *own_ : map_.portals(); }
  PortalTable& Own();
  absl::StatusOr<std::shared_ptr<const Portal>> Find(absl::string_view id, absl::string_view field) const;

  const GridMap& map_;
  std::shared_ptr<PortalTable> own_;
};

}  // namespace waystar::core
