// Reads the maps of a fleet from etcd.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/store/durable_log.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/cluster_keys.h"
#include "server/storage/fleet/cluster_values.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/image_file.h"

namespace waystar::cluster {

// A map as stored in etcd.
struct FleetMap {
  MapHead head;
  // Revision of etcd at which the head was put.
  std::int64_t head_revision = 0;
  MapBase base;
  // DATA_LOSS if its head, its base or one of its records is damaged. The version of a damaged head is then
  // guessed from the records or the base.
  absl::Status damage;
  // Records of the head's epoch, by their last revision.
  absl::btree_map<std::uint64_t, LogRecord> records;
};

struct FleetMaps {
  // Revision of etcd as of which all maps were read.
  std::int64_t revision = 0;
  absl::btree_map<std::string, FleetMap> maps;
  // Appends that deleted the maps, by map id.
  absl::btree_map<std::string, AppendName> ends;
};

// Removes the commits up to that revision, which may lie within a record if an image was made there.
void DropUpTo(std::uint64_t revision, std::vector<core::LoggedCommit>& commits);

// Reader of a fleet's maps. Thread safety: any method may be called from any thread.
class ClusterReader {
 public:
  // `client`, `keys` and `images` must outlive the reader. `images` is ImagePlace::folder, or null.
  ClusterReader(etcd::Client& client, const ClusterKeys& keys, const storage::Folder* images)
      : client_(client), keys_(keys), images_(images) {}

  // Reads the heads, bases and records of all maps, not their images. Returns FAILED_PRECONDITION if a value
  // has another format version.
  absl::StatusOr<FleetMaps> ReadAll() const;
  // Returns true if the map exists as of that revision of etcd.
  absl::StatusOr<bool> HasMap(absl::string_view id, std::int64_t revision) const;
  // Returns the base of a map as of that revision of etcd.
  absl::StatusOr<MapBase> ReadBase(absl::string_view id, std::int64_t revision) const;
  // Returns the map of an image as of that revision of etcd. Returns DATA_LOSS if the image is damaged, and
  // FAILED_PRECONDITION if it lies in a file and the reader has no folder. An unreadable folder counts as an
  // unreachable etcd; a missing file whose key is gone counts as compacted.
  absl::StatusOr<storage::MapState> ReadImage(absl::string_view id, const MapBase& base,
                                              std::int64_t revision) const;
  // Returns the commits of a record; DATA_LOSS if it is damaged.
  absl::StatusOr<std::vector<core::LoggedCommit>> ReadCommits(absl::string_view id, const LogRecord& record,
                                                              std::int64_t revision) const;
  // Returns the commits of all records of a map that end after version `after` of its epoch, by record, as of
  // that revision of etcd. The first record may begin with commits up to `after`.
  absl::StatusOr<std::vector<std::vector<core::LoggedCommit>>> ReadRecords(absl::string_view id,
                                                                           core::MapVersion after,
                                                                           std::int64_t revision) const;
  // Returns the latest revision of etcd.
  absl::StatusOr<std::int64_t> ReadRevision() const;

 private:
  absl::StatusOr<std::string> ReadParts(const Parts& parts, std::int64_t revision) const;
  absl::StatusOr<std::string> ReadFile(const MapBase& base) const;

  etcd::Client& client_;
  const ClusterKeys& keys_;
  const storage::Folder* const images_;
};

}  // namespace waystar::cluster
