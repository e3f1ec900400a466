// The keys under which a fleet keeps its maps in etcd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/core/store/map_version.h"

namespace waystar::cluster {

// PREFIX maps/ID/head                            the map's MapHead; there is none while there is no such map
// PREFIX maps/ID/end                             the MapHead that the map had last, once it is deleted
// PREFIX maps/ID/log/EPOCH/REVISION              a LogRecord, by the last revision of its commits
// PREFIX base/ID                                 the map's MapBase: where its newest image lies
// PREFIX data/ID/EPOCH/REVISION-WRITER/NUMBER    a part of an image, or of what a record has no room for
// PREFIX servers/SERVER                          a ServerReport, for as long as the server's lease
//
// Numbers have sixteen hexadecimal digits, so that keys are in the order of numbers. Servers watch what is
// under maps/ alone.
class ClusterKeys {
 public:
  // REQUIRES: the prefix ends with a slash.
  explicit ClusterKeys(absl::string_view prefix) : prefix_(prefix) {}

  std::string Maps() const;
  std::string Head(absl::string_view id) const;
  std::string End(absl::string_view id) const;
  std::string Log(absl::string_view id, core::MapVersion last) const;
  // Keys of the map's records of that epoch are from the first of these to before the second.
  std::string LogBegin(absl::string_view id, std::uint64_t epoch) const;
  std::string LogEnd(absl::string_view id, std::uint64_t epoch) const;

  std::string Servers() const;
  std::string Server(std::uint64_t server) const;

  // Put to see whether etcd takes anything.
  std::string Probe() const;

  std::string Bases() const;
  std::string Base(absl::string_view id) const;

  // What the keys of all parts of one value begin with. Each writer has its own.
  std::string Data(absl::string_view id, core::MapVersion version, std::uint64_t writer) const;
  // The keys of all parts of an epoch are from the first of these to before the second, and those of its
  // revisions before that of the version to before the third.
  std::string DataBegin(absl::string_view id, std::uint64_t epoch) const;
  std::string DataEnd(absl::string_view id, std::uint64_t epoch) const;
  std::string DataOf(absl::string_view id, core::MapVersion version) const;

  // What a key under maps/ is of.
  struct MapKey {
    enum class Kind : std::uint8_t { kHead, kEnd, kRecord };

    std::string id;
    Kind kind = Kind::kHead;
    // Of a record.
    core::MapVersion version;
  };
  // Returns nothing for other keys.
  std::optional<MapKey> ParseMapKey(absl::string_view key) const;
  // What a key under data/ is of.
  struct DataKey {
    std::string id;
    core::MapVersion version;
    // What the keys of all parts of its value begin with.
    std::string data;
  };
  // All of those keys begin with this.
  std::string AllData() const;
  // Returns nothing for other keys.
  std::optional<DataKey> ParseDataKey(absl::string_view key) const;
  // Returns the id of a key of Base.
  std::optional<std::string> ParseBaseKey(absl::string_view key) const;

 private:
  const std::string prefix_;
};

// Returns the key of one part of a value.
std::string PartKey(absl::string_view data, std::size_t number);

}  // namespace waystar::cluster
