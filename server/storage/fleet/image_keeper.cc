#include "server/storage/fleet/image_keeper.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "server/base/error.h"
#include "server/base/random_id.h"
#include "server/storage/folder/folder.h"
#include "server/storage/folder/image_file.h"
#include "server/storage/folder/record_file.h"

namespace waystar::cluster {

void ImageKeeper::Start(Options options) {
  options_ = std::move(options);
  thread_.Start("image-keeper", [this] { Run(); });
}

void ImageKeeper::MakeSoon(absl::string_view id) {
  MutexLock lock(mutex_);
  wanted_.emplace(id);
  thread_.Wake();
}

void ImageKeeper::Run() {
  const auto interval = absl::ToChronoNanoseconds(options_.compaction_interval);
  auto next = std::chrono::steady_clock::now() + interval;
  while (true) {
    std::set<std::string> wanted;
    {
      MutexLock lock(mutex_);
      while (wanted_.empty() && !thread_.is_stopping() && std::chrono::steady_clock::now() < next) {
        thread_.WaitUntil(mutex_, next);
      }
      if (thread_.is_stopping()) {
        return;
      }
      wanted.swap(wanted_);
    }
    for (const std::string& id : wanted) {
      Report(Make(id));
    }
    if (std::chrono::steady_clock::now() >= next) {
      Report(Compact());
      Report(RemoveFiles());
      if (compacted_ > 0 && std::chrono::steady_clock::now() >= next_sweep_) {
        Report(Sweep());
        next_sweep_ = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(options_.sweep_interval);
      }
      next = std::chrono::steady_clock::now() + interval;
    }
  }
}

absl::Status ImageKeeper::Make(const std::string& id) {
  const absl::StatusOr<core::StoredMap> map = store_.Store(id);
  if (absl::IsNotFound(map.status())) {
    return absl::OkStatus();
  }
  WAYSTAR_RETURN_IF_ERROR(map.status());
  const core::MapVersion version = map->snapshot->version();
  const std::string key = keys_.Base(id);
  WAYSTAR_ASSIGN_OR_RETURN(const etcd::RangeResult read, client_.Range({.key = key}));
  if (read.entries.empty()) {
    return absl::OkStatus();
  }
  WAYSTAR_ASSIGN_OR_RETURN(const MapBase before, Decode<MapBase>(read.entries.front().value));
  if (before.version.epoch != version.epoch || before.version.revision >= version.revision) {
    return absl::OkStatus();
  }
  // The store publishes only durable revisions, so the head is at least as new unless etcd was restored.
  WAYSTAR_ASSIGN_OR_RETURN(const etcd::RangeResult newest, client_.Range({.key = keys_.Head(id)}));
  if (newest.entries.empty()) {
    return absl::OkStatus();
  }
  WAYSTAR_ASSIGN_OR_RETURN(const MapHead head, Decode<MapHead>(newest.entries.front().value));
  if (head.version.epoch != version.epoch || head.version.revision < version.revision) {
    return absl::OkStatus();
  }
  const std::string image = storage::EncodeStoredMap(*map);
  const std::int64_t replaced = read.entries.front().mod_revision;
  const bool is_large =
      options_.images.folder != nullptr && CutIntoParts(image).size() > options_.images.max_parts;
  WAYSTAR_ASSIGN_OR_RETURN(const bool is_put, is_large ? PutInFile(id, version, image, replaced)
                                                       : PutInParts(id, version, image, replaced));
  if (is_put && options_.on_image) {
    options_.on_image(id, version);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ImageKeeper::PutInParts(const std::string& id, core::MapVersion version,
                                             absl::string_view image, std::int64_t replaced) {
  const std::string data = keys_.Data(id, version, RandomId());
  std::size_t number = 0;
  for (const absl::string_view part : CutIntoParts(image)) {
    etcd::Txn put;
    put.then.emplace_back(etcd::Put{PartKey(data, number++), std::string(part)});
    WAYSTAR_RETURN_IF_ERROR(client_.Commit(put).status());
  }
  return PutBase(id, {.version = version, .image = PartsOf(image, data)}, replaced);
}

absl::StatusOr<bool> ImageKeeper::PutInFile(const std::string& id, core::MapVersion version,
                                            absl::string_view image, std::int64_t replaced) {
  const MapBase base = BaseInFile(keys_, id, version, image);
  const std::string key = PartKey(base.image.data, 0);
  WAYSTAR_RETURN_IF_ERROR(client_.Commit({.then = {etcd::Put{key, base.file}}}).status());
  if (const absl::Status status = WriteImage(*options_.images.folder, base.file, image); !status.ok()) {
    static_cast<void>(client_.Commit({.then = {etcd::Delete{key}}}));
    return status;
  }
  return PutBase(id, base, replaced);
}

absl::StatusOr<bool> ImageKeeper::PutBase(const std::string& id, const MapBase& base, std::int64_t replaced) {
  const core::MapVersion version = base.version;
  etcd::Txn txn;
  // The base is deleted with its map: if it is unchanged, so is the map.
  txn.compares.push_back({.key = keys_.Base(id), .number = replaced});
  txn.compares.push_back({.key = PartKey(base.image.data, 0),
                          .target = etcd::Compare::Target::kCreateRevision,
                          .relation = etcd::Compare::Relation::kGreater});
  txn.then = {etcd::Put{keys_.Base(id), Encode(base)},
              etcd::Delete{keys_.LogBegin(id, version.epoch),
                           keys_.Log(id, {.epoch = version.epoch, .revision = version.revision + 1})},
              etcd::Delete{keys_.DataBegin(id, version.epoch), keys_.DataOf(id, version)}};
  // If the outcome is unknown, the next image finds out.
  txn.otherwise = {etcd::Delete{base.image.data, etcd::EndOfPrefix(base.image.data)}};
  WAYSTAR_ASSIGN_OR_RETURN(const etcd::TxnResult result, client_.Commit(txn));
  return result.succeeded;
}

absl::Status ImageKeeper::RemoveFiles() {
  storage::Folder* const folder = options_.images.folder;
  if (folder == nullptr) {
    return absl::OkStatus();
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder->List());
  const auto now = std::chrono::steady_clock::now();
  std::map<std::string, std::chrono::steady_clock::time_point> unnamed;
  for (const std::string& name : names) {
    const std::optional<ImageFileName> parsed =
        ParseImageFileName(storage::IsTemporary(name) ? storage::NameOfTemporary(name) : name);
    if (!parsed) {
      continue;
    }
    WAYSTAR_ASSIGN_OR_RETURN(const etcd::RangeResult key,
                             client_.Range({.key = KeyOf(keys_, *parsed), .keys_only = true}));
    if (!key.entries.empty()) {
      continue;
    }
    const auto seen = unnamed_.find(name);
    const auto since = seen == unnamed_.end() ? now : seen->second;
    if (now - since < absl::ToChronoNanoseconds(options_.kept_time)) {
      unnamed.emplace(name, since);
    } else {
      // Another server may have removed it.
      WAYSTAR_RETURN_IF_ERROR(storage::RemoveIfThere(*folder, name));
    }
  }
  unnamed_ = std::move(unnamed);
  return absl::OkStatus();
}

absl::Status ImageKeeper::Sweep() {
  constexpr std::int64_t kKeysInPage = 10'000;
  // Values by key prefix, and whether all of their parts are old.
  std::map<std::string, std::pair<ClusterKeys::DataKey, bool>> values;
  WAYSTAR_RETURN_IF_ERROR(client_
                              .ReadPages({.key = keys_.AllData(),
                                          .range_end = etcd::EndOfPrefix(keys_.AllData()),
                                          .limit = kKeysInPage,
                                          .keys_only = true},
                                         [&](const etcd::KeyValue& entry) {
                                           if (const auto key = keys_.ParseDataKey(entry.key)) {
                                             auto& value =
                                                 values.try_emplace(key->data, *key, true).first->second;
                                             value.second &= entry.mod_revision <= compacted_;
                                           }
                                           return absl::OkStatus();
                                         })
                              .status());
  for (const auto& [data, value] : values) {
    if (value.second) {
      WAYSTAR_RETURN_IF_ERROR(DeleteUnnamed(value.first));
    }
  }
  return absl::OkStatus();
}

absl::Status ImageKeeper::DeleteUnnamed(const ClusterKeys::DataKey& parts) {
  // Only these two keys can refer to the parts.
  const std::string base_key = keys_.Base(parts.id);
  const std::string record_key = keys_.Log(parts.id, parts.version);
  etcd::Txn txn;
  WAYSTAR_ASSIGN_OR_RETURN(const etcd::RangeResult bases, client_.Range({.key = base_key}));
  if (!bases.entries.empty()) {
    const absl::StatusOr<MapBase> base = Decode<MapBase>(bases.entries.front().value);
    if (!base.ok() || base->image.data == parts.data) {
      return absl::OkStatus();
    }
  }
  WAYSTAR_ASSIGN_OR_RETURN(const etcd::RangeResult records, client_.Range({.key = record_key}));
  if (!records.entries.empty()) {
    const absl::StatusOr<LogRecord> record = Decode<LogRecord>(records.entries.front().value);
    if (!record.ok() || record->parts.data == parts.data) {
      return absl::OkStatus();
    }
  }
  // A transaction that refers to them later compares that they exist, and puts them again if not.
  const auto revision_of = [](const etcd::RangeResult& read) {
    return read.entries.empty() ? 0 : read.entries.front().mod_revision;
  };
  txn.compares = {{.key = base_key, .number = revision_of(bases)},
                  {.key = record_key, .number = revision_of(records)}};
  txn.then = {etcd::Delete{parts.data, etcd::EndOfPrefix(parts.data)}};
  return client_.Commit(txn).status();
}

absl::Status ImageKeeper::Compact() {
  const auto now = std::chrono::steady_clock::now();
  passed_.emplace_back(now, options_.revision());
  std::int64_t revision = 0;
  while (!passed_.empty() && now - passed_.front().first >= absl::ToChronoNanoseconds(options_.kept_time)) {
    revision = passed_.front().second;
    passed_.pop_front();
  }
  compacted_ = std::max(compacted_, revision);
  return revision > 0 ? client_.Compact(revision) : absl::OkStatus();
}

void ImageKeeper::Report(const absl::Status& status) const {
  if (!status.ok() && options_.on_failure) {
    options_.on_failure(status);
  }
}

}  // namespace waystar::cluster
