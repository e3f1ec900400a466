// Keys under which a fleet keeps its maps in etcd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/core/map/map_version.h"

namespace waystar::cluster {

// PREFIX maps/ID/head                            the MapHead of a map; absent if the map does not exist
// PREFIX maps/ID/end                             the last MapHead of a deleted map
// PREFIX maps/ID/log/EPOCH/REVISION              a LogRecord, by the last revision of its commits
// PREFIX base/ID                                 the MapBase of a map: where its newest image lies
// PREFIX data/ID/EPOCH/REVISION-WRITER/NUMBER    one part of an image or of a large record
// PREFIX servers/SERVER                          a ServerReport, bound to the server's lease
//
// Numbers have sixteen hexadecimal digits, so the order of keys is the order of numbers. The commit log
// watches only the keys under maps/.
class ClusterKeys {
 public:
  // REQUIRES: `prefix` ends with a slash.
  explicit ClusterKeys(absl::string_view prefix) : prefix_(prefix) {}

  std::string Maps() const;
  std::string Head(absl::string_view id) const;
  std::string End(absl::string_view id) const;
  std::string Log(absl::string_view id, core::MapVersion last) const;
  // Range [LogBegin, LogEnd) of the keys of all records of an epoch.
  std::string LogBegin(absl::string_view id, std::uint64_t epoch) const;
  std::string LogEnd(absl::string_view id, std::uint64_t epoch) const;

  std::string Servers() const;
  std::string Server(std::uint64_t server) const;

  // Key that is written to test whether etcd accepts writes.
  std::string Probe() const;

  std::string Bases() const;
  std::string Base(absl::string_view id) const;

  // Common prefix of the keys of all parts of one value. Each writer has its own.
  std::string Data(absl::string_view id, core::MapVersion version, std::uint64_t writer) const;
  // [DataBegin, DataEnd) holds the keys of all parts of an epoch; [DataBegin, DataOf) those of revisions
  // before that of `version`.
  std::string DataBegin(absl::string_view id, std::uint64_t epoch) const;
  std::string DataEnd(absl::string_view id, std::uint64_t epoch) const;
  std::string DataOf(absl::string_view id, core::MapVersion version) const;

  // Content of a key under maps/.
  struct MapKey {
    enum class Kind : std::uint8_t { kHead, kEnd, kRecord };

    std::string id;
    Kind kind = Kind::kHead;
    // Set only for a record.
    core::MapVersion version;
  };
  // Parses a key under maps/. Returns nullopt for any other key.
  std::optional<MapKey> ParseMapKey(absl::string_view key) const;
  // Content of a key under data/.
  struct DataKey {
    std::string id;
    core::MapVersion version;
    // Common prefix of the keys of all parts of the value.
    std::string data;
  };
  // Common prefix of all keys under data/.
  std::string AllData() const;
  // Parses a key under data/. Returns nullopt for any other key.
  std::optional<DataKey> ParseDataKey(absl::string_view key) const;
  // Returns the map id of a key made by Base; nullopt for any other key.
  std::optional<std::string> ParseBaseKey(absl::string_view key) const;

 private:
  const std::string prefix_;
};

// Returns the key of part `number` of the value whose keys begin with `data`.
std::string PartKey(absl::string_view data, std::size_t number);

}  // namespace waystar::cluster
