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
#include "server/storage/commit_log.h"
#include "server/storage/folder.h"
#include "server/storage/image_file.h"
#include "server/storage/log_entry.h"
#include "server/storage/log_history.h"

namespace waystar::storage {

struct ReadOptions {
  // If true, maps that are damaged are not served, and their files are kept (DataFound::kept).
  bool skip_damaged_maps = false;
  // Whether maps that have no room in memory are left unloaded.
  bool may_unload = false;
  // How many threads read.
  int threads = 1;
  // Called before the first map and after each, from any thread but one at a time. If it returns false, what
  // reads ends with CANCELLED. May be empty.
  std::function<bool(std::size_t read, std::size_t total)> on_progress;
};

// What was found when a folder was read.
struct DataFound {
  // The maps that are in memory, and those that are not.
  std::size_t maps = 0;
  std::size_t unloaded = 0;
  // The commits that were applied to images.
  std::size_t commits = 0;
  // How many bytes of a write that was cut short were left out.
  std::uint64_t torn_bytes = 0;
  // The latest time, by the clock of the server that wrote it, at which one of the maps was created or
  // changed; InfinitePast() if there are no maps. What clients say of their clocks does not count.
  absl::Time latest_time = absl::InfinitePast();
  // Of maps that are not served: each names the map, and the file and offset of what is damaged.
  std::vector<absl::Status> damaged;
  // The files that these maps were read from, of which there are copies now (KeptName).
  std::vector<std::string> kept;
  // Not empty if all maps have new epochs: why it cannot be known whether revisions were lost.
  std::string new_epochs;
  // As OtherFiles says.
  std::vector<std::string> unknown_images;
};

struct KnownImage {
  ImageName name;
  std::uint64_t bytes = 0;
};

// The images of a folder that are needed.
struct KnownFiles {
  // The images that maps were read from, by map.
  absl::flat_hash_map<std::string, KnownImage> images;
  // Of maps that could not be read. No image of them can be made.
  absl::flat_hash_set<std::uint64_t> damaged_epochs;
};

struct FolderContents {
  DataFound found;
  KnownFiles files;
  std::vector<OldLogFile> logs;
  // What the next file of the log is to begin with.
  LogStart next;
  // What is to be removed, as OtherFiles says.
  std::vector<std::string> left_overs;
};

// Puts the maps of a folder into a store, as of the end of its log. What it has read is on stable storage
// when it returns; otherwise it changes nothing in the folder, but for images of maps that are left unloaded.
// Returns the errors that DataFolder::Open names.
absl::StatusOr<FolderContents> ReadFolder(Folder& folder, core::MapStore& store, const ReadOptions& options);

// Returns DATA_LOSS if the log ends before the mark, and its end was not lost as relaxed durability allows.
// Else it returns why it cannot be known whether the log is all there, or an empty text if it is.
absl::StatusOr<std::string> CheckMark(const Folder& folder, const LogHistory& history,
                                      const std::vector<std::string>& names);

}  // namespace waystar::storage
