// Reads the log and the maps of a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/map/map_version.h"
#include "server/core/store/map_store.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/image_file.h"
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

// Reads the log files of a folder, the last up to `last_bytes`. Files before a gap in the numbers are
// ignored: they were being removed. Returns DATA_LOSS, with the path and the offset, if a file is damaged or
// does not continue the previous one, or if there are images and no log; FAILED_PRECONDITION if a file has an
// unknown format version; and the errors of the folder.
absl::StatusOr<LogHistory> ReadLogFiles(const Folder& folder, const std::vector<std::string>& names,
                                        std::size_t last_bytes = std::string::npos);

using ImagesByMap = absl::flat_hash_map<std::string, ImageName>;

// Returns the newest image of each map in the log, among the files of these names. Images of versions that
// the log does not know are ignored.
ImagesByMap NewestImages(const std::vector<std::string>& names, const LogHistory& history);

struct ReadMapResult {
  MapState state;
  // Size of the map's image file; 0 if the map was read from its creation.
  std::uint64_t image_bytes = 0;
  // Commits applied to the image or creation, and the work for that as counted by WorkOfCommit.
  std::size_t commits = 0;
  std::uint64_t work = 0;
};

// Reads the image of a map, or else its creation, and applies the commits of the log, whatever their epochs.
// The result has the epoch of `map`. Returns DATA_LOSS, with the map or the file and the offset, if the map
// is damaged; FAILED_PRECONDITION if the image has an unknown format version; and the errors of the folder.
absl::StatusOr<ReadMapResult> ReadMap(const Folder& folder, const LogHistory& history,
                                      const ImagesByMap& images, const LiveMap& map);

struct ReadOptions {
  // If true, damaged maps are not served, and their files are kept (DataFound::kept).
  bool skip_damaged_maps = false;
  // If true, maps that do not fit in memory are left unloaded.
  bool may_unload = false;
  // Number of threads that read maps.
  int threads = 1;
  // Called before the first map and after each, by one thread at a time. If it returns false, reading ends
  // with CANCELLED. May be empty.
  std::function<bool(std::size_t read, std::size_t total)> on_progress;
};

// Findings of reading a folder.
struct DataFound {
  // Number of loaded and of unloaded maps.
  std::size_t maps = 0;
  std::size_t unloaded = 0;
  // Commits that were applied to images.
  std::size_t commits = 0;
  // Bytes dropped at the end of the log: a torn write.
  std::uint64_t torn_bytes = 0;
  // Latest time at which a map was created or changed, by the clock of the server that wrote it;
  // InfinitePast() if there are no maps. Clients' clocks do not count.
  absl::Time latest_time = absl::InfinitePast();
  // Errors of the maps that are not served. Each names the map, the file and the offset.
  std::vector<absl::Status> damaged;
  // Files that these maps were read from; each has a copy now (KeptName).
  std::vector<std::string> kept;
  // If all maps have new epochs: why it cannot be known whether revisions were lost. Otherwise empty.
  std::string new_epochs;
  // As in OtherFiles.
  std::vector<std::string> unknown_images;
};

struct KnownImage {
  ImageName name;
  std::uint64_t bytes = 0;
};

// Images of a folder that are needed.
struct KnownFiles {
  // Images that the maps were read from, by map.
  absl::flat_hash_map<std::string, KnownImage> images;
  // Epochs of damaged maps, of which no image can be made.
  absl::flat_hash_set<std::uint64_t> damaged_epochs;
};

struct FolderContents {
  DataFound found;
  KnownFiles files;
  std::vector<OldLogFile> logs;
  // Start of the next log file.
  LogStart next;
  // Files to be removed, as in OtherFiles.
  std::vector<std::string> left_overs;
};

// Loads the maps of a folder into a store, as of the end of its log. On return, all files read are on stable
// storage. Otherwise writes nothing except images of maps that are left unloaded. Errors are those of
// DataFolder::Open.
absl::StatusOr<FolderContents> ReadFolder(Folder& folder, core::MapStore& store, const ReadOptions& options);

// Returns DATA_LOSS if the log ends before the mark and relaxed durability does not explain that. Otherwise
// returns why it cannot be known whether the log is complete; empty if it is.
absl::StatusOr<std::string> CheckMark(const Folder& folder, const LogHistory& history,
                                      const std::vector<std::string>& names);

// Returns the name of a file's copy: its own name plus ".kept".
std::string KeptName(absl::string_view name);
// Returns the name of the copied file; `name` itself if it is not that of a copy.
absl::string_view OriginalOfKept(absl::string_view name);

// Copies the files and waits until the copies are on stable storage. Files that already have a copy are
// skipped. Returns the errors of the folder.
absl::Status KeepFiles(Folder& folder, const std::vector<std::string>& names);

// Files from which no map is read, sorted by name.
struct OtherFiles {
  // Files whose contents the log or another file has: removed at start.
  std::vector<std::string> left_overs;
  // Images of versions that the log does not know. They are kept, as are all files below.
  std::vector<std::string> unknown_images;
  // Copies of the files of damaged maps (KeptName).
  std::vector<std::string> kept;
  // Files not made by a server.
  std::vector<std::string> strangers;
};

// Classifies the files of these names. `images` are the ones that maps are read from.
OtherFiles FindOtherFiles(const std::vector<std::string>& names, const LogHistory& history,
                          const ImagesByMap& images);

}  // namespace waystar::storage
