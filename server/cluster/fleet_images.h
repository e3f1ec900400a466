// Images of maps that are too large for etcd, in files of a folder that all servers of a fleet see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/cluster/cluster_keys.h"
#include "server/cluster/cluster_values.h"
#include "server/core/store/map_version.h"
#include "server/storage/folder.h"

namespace waystar::cluster {

// Where images are put.
struct ImagePlace {
  // Null if all of them lie in etcd.
  storage::Folder* folder = nullptr;
  // The most parts that etcd gets of one value. A transaction looks whether all are there, and etcd takes 128
  // comparisons.
  std::size_t max_parts = 64;
};

// A file is named by a key of etcd, the one part of its image: that is put before the file is written, and
// the transaction that makes it the image of its map compares that the key is there. No name is used twice.
// So a file whose key is gone is, or will be, nobody's image, and can be removed once nobody reads etcd as it
// was before.
struct ImageFileName {
  std::string map;
  core::MapVersion version;
  // Drawn for the file.
  std::uint64_t writer = 0;
};

// "map-<map>-<epoch>-<revision>-<writer>", the numbers in sixteen hexadecimal digits. A map's id has no '/'.
std::string NameOf(const ImageFileName& name);
// Returns nothing for names of other files.
std::optional<ImageFileName> ParseImageFileName(absl::string_view name);

// Returns the key that names the file.
std::string KeyOf(const ClusterKeys& keys, const ImageFileName& name);
// Returns a base whose image lies in a file of a new name.
MapBase BaseInFile(const ClusterKeys& keys, absl::string_view id, core::MapVersion version,
                   absl::string_view image);

// Writes a file as a whole, and returns when it is on stable storage. Returns RESOURCE_EXHAUSTED /
// STORAGE_FULL or UNAVAILABLE / STORAGE_FAILED.
absl::Status WriteImage(storage::Folder& folder, absl::string_view name, absl::string_view image);

}  // namespace waystar::cluster
