// Reads the maps of a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/core/store/map_store.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/image_file.h"
#include "server/storage/folder/log_entry.h"
#include "server/storage/folder/log_history.h"

namespace waystar::storage {

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

}  // namespace waystar::storage
