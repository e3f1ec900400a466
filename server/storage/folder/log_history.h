// Content of the log files of a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "server/core/map/map_version.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/log_entry.h"

namespace waystar::storage {

// An entry and its position.
struct LocatedEntry {
  LogEntry entry;
  // Index into LogHistory::files.
  std::size_t file = 0;
  // Offset of the record.
  std::uint64_t offset = 0;
};

struct LogFile {
  std::uint64_t number = 0;
  std::string path;
  std::string bytes;
};

// Epochs of a map, each with its last revision; the last one is current. A map gets a new epoch, and
// continues its revisions, when a start cannot know whether revisions were lost. Epochs of earlier maps with
// the same id are not included.
using Epochs = std::vector<core::MapVersion>;

// Returns true if the map had that revision in that epoch.
bool IsKnown(const core::MapVersion& version, const Epochs& epochs);

// Maps at the end of the log, and the entries that produced them.
struct LogHistory {
  // The files into which the entries point.
  std::vector<LogFile> files;
  // Start of the next file.
  LogStart next;
  // Entries by map: its creation or replacement if that is in the log, and all commits since, or since the
  // start of the first file.
  absl::btree_map<std::string, std::vector<LocatedEntry>> entries;
  // Epochs by map.
  absl::btree_map<std::string, Epochs> epochs;
  // Epochs of deleted and replaced maps, as far as the log has those entries.
  absl::flat_hash_set<std::uint64_t> ended_epochs;
  // Valid bytes of the last file, and how many of them were synced according to its last record.
  std::uint64_t end = 0;
  std::uint64_t synced = 0;
  // Bytes of a torn write at the end.
  std::uint64_t torn_bytes = 0;
};

// Reads the log files of a folder. Files before a gap in the numbers are ignored: they were being removed.
// Returns DATA_LOSS, with the path and the offset, if a file is damaged or does not continue the previous
// one, or if there are images and no log; FAILED_PRECONDITION if a file has an unknown format version; and
// the errors of the folder.
absl::StatusOr<LogHistory> ReadLogFiles(const Folder& folder, const std::vector<std::string>& names);

}  // namespace waystar::storage
