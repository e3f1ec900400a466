// Values that a fleet stores in etcd. Each begins with its checksum (storage/folder/record_file.h) and format
// version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/map/map_version.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/folder/folder.h"

namespace waystar::cluster {

// Maximum size of one value in bytes. etcd accepts requests of up to 1.5 MiB.
inline constexpr std::size_t kMaxValueBytes = std::size_t{1} << 20;

// Name of one append to the log: the random id of a server and its own counter.
struct AppendName {
  std::uint64_t server = 0;
  std::uint64_t number = 0;

  friend bool operator==(const AppendName&, const AppendName&) = default;
};

// Description of a value that is stored in parts, each under its own key.
struct Parts {
  // Common prefix of the keys of the parts.
  std::string data;
  std::uint64_t count = 0;
  // Total size, and the CRC-32C of the whole value.
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;
};

// Cuts a value into parts of at most kMaxValueBytes.
std::vector<absl::string_view> CutIntoParts(absl::string_view value);
// Returns the description of a value whose parts will be stored under `data`.
Parts PartsOf(absl::string_view value, std::string data);
// Returns DATA_LOSS unless `value` matches the description.
absl::Status CheckParts(const Parts& parts, absl::string_view value);

// Current state of a map. Every commit compares and replaces it.
struct MapHead {
  core::MapVersion version;
  std::uint64_t digest = 0;
  // The append that produced this state.
  AppendName append;

  friend bool operator==(const MapHead&, const MapHead&) = default;
};

// Version assumed for a map whose head is damaged if neither its records nor its base give one.
inline constexpr core::MapVersion kUnknownVersion{.epoch = 1, .revision = 1};

// Location of the newest image of a map, as encoded by EncodeStoredMap.
struct MapBase {
  core::MapVersion version;
  Parts image;
  // If not empty, the image lies in this file (ImageFileName), and its only part holds the name.
  std::string file;
};

// A group of commits.
struct LogRecord {
  AppendName append;
  // Entries made by EncodeCommits and joined by AddEntry; empty if they lie in parts.
  std::string entries;
  Parts parts;
};

// State that a server reports to the fleet, for monitoring.
struct ServerReport {
  // Address at which clients reach the server.
  std::string address;
  // Version of the program.
  std::string version;
  absl::Time start_time;
  // When the report was made, by the server's own clock.
  absl::Time report_time;
  std::uint64_t maps = 0;
  // As in ClusterLogStatistics.
  std::int64_t revision = 0;
  std::int64_t lag = 0;
  // Time since the server was last known to be up to date.
  absl::Duration staleness;

  friend bool operator==(const ServerReport&, const ServerReport&) = default;
};

// Encode and decode a MapHead, MapBase, LogRecord or ServerReport. The times of a report are rounded down to
// milliseconds. Decode returns INVALID_ARGUMENT / BAD_FORMAT if the bytes are damaged or not such a value,
// and FAILED_PRECONDITION if they have another format version.
template <typename Value>
std::string Encode(const Value& value);
template <typename Value>
absl::StatusOr<Value> Decode(absl::string_view bytes);

// Where images are stored: those that are too large for etcd lie in a folder that all servers share.
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
