// The maps that a commit log tells of, as of its end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/storage/log_entry.h"

namespace waystar::storage {

// Follows the entries of a log, and refuses those that do not follow what was before.
//
// Thread safety: one thread at a time.
class LiveMaps {
 public:
  // What an entry replaced.
  struct Before {
    std::string id;
    std::optional<LiveMap> map;
  };

  LiveMaps() = default;
  explicit LiveMaps(const LogStart& start);

  // Takes an entry in and returns what it replaced. Returns FAILED_PRECONDITION, and changes nothing, for the
  // creation of a map that exists, for a replacement unless the map has the version that it replaces, which
  // is of another epoch, and for other entries unless the map has their epoch and the revision before them.
  absl::StatusOr<Before> Follow(const LogEntry& entry);
  // Takes the last entry that was followed back.
  void TakeBack(Before before);

  // Returns null if there is no such map.
  const LiveMap* Find(absl::string_view id) const;
  std::vector<LiveMap> All() const;

 private:
  absl::btree_map<std::string, LiveMap> maps_;
};

}  // namespace waystar::storage
