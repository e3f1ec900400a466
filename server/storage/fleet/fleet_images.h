// Files for map images that are too large for etcd, in a folder shared by all servers of a fleet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/map/map_version.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_values.h"
#include "server/storage/folder/folder.h"

namespace waystar::cluster {

// Where images are stored.
struct ImagePlace {
  // Null if all images lie in etcd.
  storage::Folder* folder = nullptr;
  // Maximum number of parts of one value in etcd. A transaction compares the existence of every part, and
  // etcd allows 128 comparisons.
  std::size_t max_parts = 64;
};

// Name of an image file. An etcd key, the only part of the image, holds it. That key is put before the file
// is written, and the transaction that publishes the image compares that the key exists. No name is used
// twice. So once its key is gone, a file is not and never becomes the image of a map; it can be removed when
// nobody reads older etcd revisions.
struct ImageFileName {
  std::string map;
  core::MapVersion version;
  // Random number drawn for the file.
  std::uint64_t writer = 0;
};

// Returns "map-<map>-<epoch>-<revision>-<writer>", with numbers in sixteen hexadecimal digits. A map id
// contains no '/'.
std::string NameOf(const ImageFileName& name);
// Parses the name of an image file. Returns nullopt for any other name.
std::optional<ImageFileName> ParseImageFileName(absl::string_view name);

// Returns the key that names the file.
std::string KeyOf(const ClusterKeys& keys, const ImageFileName& name);
// Returns a base whose image lies in a file with a new name.
MapBase BaseInFile(const ClusterKeys& keys, absl::string_view id, core::MapVersion version,
                   absl::string_view image);

// Writes a file atomically and returns when it is on stable storage. Returns RESOURCE_EXHAUSTED /
// STORAGE_FULL or UNAVAILABLE / STORAGE_FAILED.
absl::Status WriteImage(storage::Folder& folder, absl::string_view name, absl::string_view image);

}  // namespace waystar::cluster
