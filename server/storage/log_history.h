// What the log files of a folder tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "server/core/store/map_version.h"
#include "server/storage/folder.h"
#include "server/storage/log_entry.h"

namespace waystar::storage {

// An entry, and where it lies.
struct LocatedEntry {
  LogEntry entry;
  // Of LogHistory::files.
  std::size_t file = 0;
  // Of the record.
  std::uint64_t offset = 0;
};

struct LogFile {
  std::uint64_t number = 0;
  std::string path;
  std::string bytes;
};

// The epochs that a map has had, each with the last revision under it; the last is the one that it has. A map
// gets a new epoch, under which its revisions go on, when a start cannot know whether revisions were lost.
// The epochs of an earlier map of its id are none of them.
using Epochs = std::vector<core::MapVersion>;

// Returns whether the map was at that revision under that epoch.
bool IsKnown(const core::MapVersion& version, const Epochs& epochs);

// The maps that there are at the end of the log, and how they came to be.
struct LogHistory {
  // The files whose bytes the entries point into.
  std::vector<LogFile> files;
  // What the next file is to begin with.
  LogStart next;
  // By map, the entries that tell of it, as far as they are in the log: its creation or replacement, if that
  // is, and all commits after it or after what the first file began with.
  absl::btree_map<std::string, std::vector<LocatedEntry>> entries;
  // By map.
  absl::btree_map<std::string, Epochs> epochs;
  // The epochs of maps that were deleted, as far as the log holds that.
  absl::flat_hash_set<std::uint64_t> ended_epochs;
  // How many bytes of the last file count, and how many of these were synced as that file says.
  std::uint64_t end = 0;
  std::uint64_t synced = 0;
  // How many bytes at the end were no record: a write that was cut short.
  std::uint64_t torn_bytes = 0;
};

// Reads the log files of a folder. Files before a missing one are not read: they were not needed, and were
// being removed. Returns DATA_LOSS with the path and the offset if a file is damaged or does not follow the
// one before, or if there is no file though the folder has images; FAILED_PRECONDITION if a file is of a
// version that is not known; the errors of the folder.
absl::StatusOr<LogHistory> ReadLogFiles(const Folder& folder, const std::vector<std::string>& names);

}  // namespace waystar::storage
