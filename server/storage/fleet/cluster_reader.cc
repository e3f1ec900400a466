#include "server/storage/fleet/cluster_reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/storage/folder/log_entry.h"

namespace waystar::cluster {
namespace {

// Values read per request; each has up to kMaxValueBytes.
constexpr std::int64_t kValuesInPage = 64;

absl::Status InKey(const absl::Status& status, absl::string_view key) {
  return {absl::IsFailedPrecondition(status) ? status.code() : absl::StatusCode::kDataLoss,
          absl::StrCat(key, " in etcd: ", status.message())};
}

template <typename Value>
absl::StatusOr<Value> InKey(absl::StatusOr<Value> value, absl::string_view key) {
  if (!value.ok()) {
    return InKey(value.status(), key);
  }
  return value;
}

// Takes a decoded value, or notes its damage. Returns the error of another format version.
template <typename Value>
absl::Status Take(absl::StatusOr<Value> decoded, Value& value, absl::Status& damage) {
  if (absl::IsFailedPrecondition(decoded.status())) {
    return decoded.status();
  }
  if (decoded.ok()) {
    value = *std::move(decoded);
  } else {
    damage.Update(decoded.status());
  }
  return absl::OkStatus();
}

}  // namespace

void DropUpTo(std::uint64_t revision, std::vector<core::LoggedCommit>& commits) {
  std::erase_if(commits,
                [&](const core::LoggedCommit& logged) { return logged.commit->revision <= revision; });
}

absl::StatusOr<FleetMaps> ClusterReader::ReadAll() const {
  FleetMaps found;
  struct Loose {
    core::MapVersion last;
    absl::StatusOr<LogRecord> record;
  };
  absl::btree_map<std::string, std::vector<Loose>> records;
  const auto read = [&](const std::string& prefix,
                        absl::FunctionRef<absl::Status(const etcd::KeyValue& entry)> take) {
    return client_.ReadPages({.key = prefix,
                              .range_end = etcd::EndOfPrefix(prefix),
                              .revision = found.revision,
                              .limit = kValuesInPage},
                             take);
  };
  WAYSTAR_ASSIGN_OR_RETURN(
      found.revision, read(keys_.Maps(), [&](const etcd::KeyValue& entry) -> absl::Status {
        using Kind = ClusterKeys::MapKey::Kind;
        const auto key = keys_.ParseMapKey(entry.key);
        if (key && key->kind == Kind::kEnd) {
          if (const absl::StatusOr<MapHead> end = Decode<MapHead>(entry.value); end.ok()) {
            found.ends[key->id] = end->append;
          }
        } else if (key && key->kind == Kind::kRecord) {
          absl::StatusOr<LogRecord> record = InKey(Decode<LogRecord>(entry.value), entry.key);
          if (absl::IsFailedPrecondition(record.status())) {
            return record.status();
          }
          records[key->id].push_back({key->version, std::move(record)});
        } else if (key) {
          FleetMap& map = found.maps[key->id];
          map.head_revision = entry.mod_revision;
          return Take(InKey(Decode<MapHead>(entry.value), entry.key), map.head, map.damage);
        }
        return absl::OkStatus();
      }));
  for (auto& [id, map] : found.maps) {
    if (!map.damage.ok()) {
      map.head.version = records[id].empty() ? kUnknownVersion : records[id].back().last;
    }
    for (Loose& loose : records[id]) {
      if (loose.last.epoch != map.head.version.epoch) {
        continue;
      }
      if (loose.record.ok()) {
        map.records.emplace(loose.last.revision, *std::move(loose.record));
      } else {
        map.damage = loose.record.status();
      }
    }
  }
  WAYSTAR_RETURN_IF_ERROR(read(keys_.Bases(), [&](const etcd::KeyValue& entry) {
                            const auto id = keys_.ParseBaseKey(entry.key);
                            const auto map = id ? found.maps.find(*id) : found.maps.end();
                            return map == found.maps.end()
                                       ? absl::OkStatus()
                                       : Take(InKey(Decode<MapBase>(entry.value), entry.key),
                                              map->second.base, map->second.damage);
                          }).status());
  for (auto& [id, map] : found.maps) {
    if (map.head.version == kUnknownVersion && map.base.version.epoch != 0) {
      map.head.version = map.base.version;
    }
  }
  return found;
}

absl::StatusOr<bool> ClusterReader::HasMap(absl::string_view id, std::int64_t revision) const {
  WAYSTAR_ASSIGN_OR_RETURN(const etcd::RangeResult read,
                           client_.Range({.key = keys_.Head(id), .revision = revision, .keys_only = true}));
  return !read.entries.empty();
}

absl::StatusOr<MapBase> ClusterReader::ReadBase(absl::string_view id, std::int64_t revision) const {
  const std::string key = keys_.Base(id);
  WAYSTAR_ASSIGN_OR_RETURN(const etcd::RangeResult read, client_.Range({.key = key, .revision = revision}));
  if (read.entries.empty()) {
    return absl::DataLossError(absl::StrCat("there is no ", key, " in etcd"));
  }
  return InKey(Decode<MapBase>(read.entries.front().value), key);
}

absl::StatusOr<storage::MapState> ClusterReader::ReadImage(absl::string_view id, const MapBase& base,
                                                           std::int64_t revision) const {
  WAYSTAR_ASSIGN_OR_RETURN(const std::string image,
                           base.file.empty() ? ReadParts(base.image, revision) : ReadFile(base));
  WAYSTAR_ASSIGN_OR_RETURN(storage::MapState map, storage::DecodeStoredMap(image, base.image.data));
  const core::MapSnapshot& snapshot = map.snapshot;
  if (snapshot.id != id || snapshot.version() != base.version) {
    return absl::DataLossError(absl::StrCat(base.image.data, " in etcd is not an image of map \"", id,
                                            "\" at revision ", base.version.revision));
  }
  return map;
}

absl::StatusOr<std::vector<core::LoggedCommit>> ClusterReader::ReadCommits(absl::string_view id,
                                                                           const LogRecord& record,
                                                                           std::int64_t revision) const {
  std::string parts;
  if (record.entries.empty()) {
    WAYSTAR_ASSIGN_OR_RETURN(parts, ReadParts(record.parts, revision));
  }
  const auto damaged = [&] {
    return absl::DataLossError(absl::StrCat("a record of map \"", id, "\" in etcd is damaged"));
  };
  const absl::StatusOr<std::vector<storage::LogEntry>> entries =
      storage::DecodeEntries(record.entries.empty() ? parts : record.entries);
  if (!entries.ok()) {
    return damaged();
  }
  std::vector<core::LoggedCommit> commits;
  for (const storage::LogEntry& entry : *entries) {
    absl::StatusOr<std::vector<core::LoggedCommit>> decoded = storage::DecodeCommits(entry.body);
    if (entry.map != id || entry.kind != storage::LogEntry::Kind::kCommits || !decoded.ok()) {
      return damaged();
    }
    std::ranges::move(*decoded, std::back_inserter(commits));
  }
  if (commits.empty()) {
    return damaged();
  }
  return commits;
}

absl::StatusOr<std::vector<std::vector<core::LoggedCommit>>> ClusterReader::ReadRecords(
    absl::string_view id, core::MapVersion after, std::int64_t revision) const {
  std::vector<std::vector<core::LoggedCommit>> records;
  WAYSTAR_RETURN_IF_ERROR(
      client_
          .ReadPages({.key = keys_.Log(id, {.epoch = after.epoch, .revision = after.revision + 1}),
                      .range_end = keys_.LogEnd(id, after.epoch),
                      .revision = revision,
                      .limit = kValuesInPage},
                     [&](const etcd::KeyValue& entry) -> absl::Status {
                       WAYSTAR_ASSIGN_OR_RETURN(const LogRecord record,
                                                InKey(Decode<LogRecord>(entry.value), entry.key));
                       WAYSTAR_ASSIGN_OR_RETURN(records.emplace_back(), ReadCommits(id, record, revision));
                       return absl::OkStatus();
                     })
          .status());
  return records;
}

absl::StatusOr<std::int64_t> ClusterReader::ReadRevision() const {
  WAYSTAR_ASSIGN_OR_RETURN(const etcd::RangeResult read, client_.Range({.key = keys_.Probe()}));
  return read.revision;
}

absl::StatusOr<std::string> ClusterReader::ReadParts(const Parts& parts, std::int64_t revision) const {
  std::string value;
  for (std::uint64_t part = 0; part < parts.count; ++part) {
    WAYSTAR_ASSIGN_OR_RETURN(const etcd::RangeResult read,
                             client_.Range({.key = PartKey(parts.data, part), .revision = revision}));
    if (read.entries.empty()) {
      return absl::DataLossError(absl::StrCat("there is no ", PartKey(parts.data, part), " in etcd"));
    }
    value += read.entries.front().value;
  }
  WAYSTAR_RETURN_IF_ERROR(CheckParts(parts, value));
  return value;
}

absl::StatusOr<std::string> ClusterReader::ReadFile(const MapBase& base) const {
  if (images_ == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("an image of the fleet is the file ", base.file,
                                                      ", and this server is not given --image_dir"));
  }
  absl::StatusOr<std::string> bytes = images_->Read(base.file);
  if (bytes.ok()) {
    WAYSTAR_RETURN_IF_ERROR(CheckParts(base.image, *bytes));
    return bytes;
  }
  const absl::string_view why = bytes.status().message();
  if (absl::IsUnavailable(bytes.status())) {
    return etcd::MakeFailure(etcd::Failure::kUnreachable, why);
  }
  if (absl::IsNotFound(bytes.status())) {
    // A later image may have replaced it.
    WAYSTAR_ASSIGN_OR_RETURN(const etcd::RangeResult key,
                             client_.Range({.key = PartKey(base.image.data, 0)}));
    if (key.entries.empty()) {
      return etcd::MakeFailure(etcd::Failure::kCompacted, why);
    }
  }
  return absl::DataLossError(why);
}

}  // namespace waystar::cluster
