// The maps that exist at the end of a commit log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/storage/folder/log_entry.h"

namespace waystar::storage {

// Applies the log's entries, and rejects those that do not continue the current state.
//
// Thread safety: one thread at a time.
class LiveMaps {
 public:
  // State before an entry, for undo.
  struct Before {
    std::string id;
    std::optional<LiveMap> map;
  };

  LiveMaps() = default;
  explicit LiveMaps(const LogStart& start);

  // Applies an entry and returns the state before it. Returns FAILED_PRECONDITION, without a change, if the
  // entry creates an existing map, replaces another version than the current one or keeps its epoch, or
  // otherwise does not have the map's epoch and next revision.
  absl::StatusOr<Before> Follow(const LogEntry& entry);
  // Undoes the last applied entry.
  void TakeBack(Before before);

  // Returns null if the map does not exist.
  const LiveMap* Find(absl::string_view id) const;
  std::vector<LiveMap> All() const;

 private:
  absl::btree_map<std::string, LiveMap> maps_;
};

}  // namespace waystar::storage
