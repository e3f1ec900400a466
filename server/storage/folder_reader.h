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
#include "server/core/store/map_store.h"
#include "server/storage/folder.h"
#include "server/storage/image_file.h"
#include "server/storage/log_entry.h"

namespace waystar::storage {

struct ReadOptions {
  // If true, maps that cannot be read are left out. Their files stay as they are.
  bool skip_damaged_maps = false;
  // How many threads read.
  int threads = 1;
  // Called before the first map and after each, from any thread but one at a time. If it returns false, what
  // reads ends with CANCELLED. May be empty.
  std::function<bool(std::size_t read, std::size_t total)> on_progress;
};

// What was found when a folder was read.
struct DataFound {
  std::size_t maps = 0;
  // The commits that were applied to images.
  std::size_t commits = 0;
  // How many bytes of a write that was cut short were left out.
  std::uint64_t torn_bytes = 0;
  // Of maps that were left out: each names the map, and the file and offset of what is damaged.
  std::vector<absl::Status> damaged;
};

struct KnownFile {
  std::string name;
  std::uint64_t bytes = 0;
};

struct KnownImage {
  ImageName name;
  std::uint64_t bytes = 0;
};

// The files of a folder that are needed.
struct KnownFiles {
  // Those of the log, but for the one that is written.
  std::vector<KnownFile> logs;
  // The images that maps were read from, by map.
  absl::flat_hash_map<std::string, KnownImage> images;
  // Maps that could not be read. If there are any, no file is removed.
  absl::flat_hash_set<std::string> damaged_maps;
};

struct FolderContents {
  DataFound found;
  KnownFiles files;
  // What the next file of the log is to begin with.
  LogStart next;
  // What is left of files that were being made or removed.
  std::vector<std::string> left_overs;
};

// Puts the maps of a folder into a store, as of the end of its log. Changes nothing in the folder. Returns
// the errors that DataFolder::Open names.
absl::StatusOr<FolderContents> ReadFolder(const Folder& folder, core::MapStore& store,
                                          const ReadOptions& options);

}  // namespace waystar::storage
