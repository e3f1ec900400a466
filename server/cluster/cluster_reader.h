// Reads the maps of a fleet from etcd.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/cluster/cluster_keys.h"
#include "server/cluster/cluster_values.h"
#include "server/core/store/durable_log.h"
#include "server/etcd/etcd_client.h"
#include "server/storage/folder.h"
#include "server/storage/image_file.h"

namespace waystar::cluster {

// A map as it stands in etcd.
struct FleetMap {
  MapHead head;
  // The revision of etcd at which it was put.
  std::int64_t head_revision = 0;
  MapBase base;
  // DATA_LOSS if its head, its base or one of its records is damaged. The version of a damaged head is a
  // guess by what else there is.
  absl::Status damage;
  // By their last revision, those of the head's epoch.
  absl::btree_map<std::uint64_t, LogRecord> records;
};

struct FleetMaps {
  // Of etcd, as of which all of them were read.
  std::int64_t revision = 0;
  absl::btree_map<std::string, FleetMap> maps;
  // What has ended the maps that were deleted last.
  absl::btree_map<std::string, AppendName> ends;
};

// Leaves out the commits up to that revision: an image may lie within a record.
void DropUpTo(std::uint64_t revision, std::vector<core::LoggedCommit>& commits);

// Thread safety: any method may be called from any thread.
class ClusterReader {
 public:
  // All must outlive the reader. `images` is the folder of ImagePlace, or null.
  ClusterReader(etcd::Client& client, const ClusterKeys& keys, const storage::Folder* images)
      : client_(client), keys_(keys), images_(images) {}

  // Reads what there is of all maps but for their images. Returns the errors of the client, and
  // FAILED_PRECONDITION if a value is of a later version of this program.
  absl::StatusOr<FleetMaps> ReadAll() const;
  // Returns whether there is such a map as of that revision of etcd.
  absl::StatusOr<bool> HasMap(absl::string_view id, std::int64_t revision) const;
  // Returns the base of a map as of that revision of etcd.
  absl::StatusOr<MapBase> ReadBase(absl::string_view id, std::int64_t revision) const;
  // Returns the map of an image as of that revision of etcd. DATA_LOSS if it is damaged, FAILED_PRECONDITION
  // if it lies in a file and there is no folder; if the folder cannot be read, as if etcd were unreachable.
  absl::StatusOr<storage::MapState> ReadImage(absl::string_view id, const MapBase& base,
                                              std::int64_t revision) const;
  // Returns the commits of a record. DATA_LOSS if it is damaged.
  absl::StatusOr<std::vector<core::LoggedCommit>> ReadCommits(absl::string_view id, const LogRecord& record,
                                                              std::int64_t revision) const;
  // Returns the commits of a map's records that go beyond that version of its epoch, by record, as of that
  // revision of etcd. The first may have some that do not. Returns the errors of ReadCommits.
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
