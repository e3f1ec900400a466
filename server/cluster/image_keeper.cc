#include "server/cluster/image_keeper.h"

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/random_id.h"
#include "server/base/status_macros.h"
#include "server/cluster/cluster_values.h"
#include "server/storage/image_file.h"

namespace waystar::cluster {

void ImageKeeper::Start(Options options) {
  options_ = std::move(options);
  thread_ = std::thread([this] { Run(); });
}

void ImageKeeper::Stop() {
  if (!thread_.joinable()) {
    return;
  }
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    wake_.NotifyOne();
  }
  thread_.join();
}

void ImageKeeper::MakeSoon(absl::string_view id) {
  MutexLock lock(mutex_);
  wanted_.emplace(id);
  wake_.NotifyOne();
}

void ImageKeeper::Run() {
  const auto interval = absl::ToChronoNanoseconds(options_.compaction_interval);
  auto next = std::chrono::steady_clock::now() + interval;
  while (true) {
    std::set<std::string> wanted;
    {
      MutexLock lock(mutex_);
      while (wanted_.empty() && !is_stopping_ && std::chrono::steady_clock::now() < next) {
        wake_.WaitUntil(mutex_, next);
      }
      if (is_stopping_) {
        return;
      }
      wanted.swap(wanted_);
    }
    for (const std::string& id : wanted) {
      Report(Make(id));
    }
    if (std::chrono::steady_clock::now() >= next) {
      Report(Compact());
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
  WAYSTAR_ASSIGN_OR_RETURN(const MapBase before, DecodeBase(read.entries.front().value));
  if (before.version.epoch != version.epoch || before.version.revision >= version.revision) {
    return absl::OkStatus();
  }
  const std::string bytes = storage::EncodeStoredMap(*map);
  const std::string data = keys_.Data(id, version, RandomId());
  std::size_t number = 0;
  for (const absl::string_view part : CutIntoParts(bytes)) {
    etcd::Txn put;
    put.then.emplace_back(etcd::Put{PartKey(data, number++), std::string(part)});
    WAYSTAR_RETURN_IF_ERROR(client_.Commit(put).status());
  }
  etcd::Txn txn;
  // It goes with its map: so this is still the same map if it is still the same base.
  txn.compares.push_back({.key = key, .number = read.entries.front().mod_revision});
  txn.then = {etcd::Put{key, Encode(MapBase{.version = version, .image = PartsOf(bytes, data)})},
              etcd::Delete{keys_.LogBegin(id, version.epoch),
                           keys_.Log(id, {.epoch = version.epoch, .revision = version.revision + 1})},
              etcd::Delete{keys_.DataBegin(id, version.epoch), keys_.DataOf(id, version)}};
  // After an unknown outcome the next image finds out.
  txn.otherwise = {etcd::Delete{data, etcd::EndOfPrefix(data)}};
  WAYSTAR_ASSIGN_OR_RETURN(const etcd::TxnResult result, client_.Commit(txn));
  if (result.succeeded && options_.on_image) {
    options_.on_image(id, version);
  }
  return absl::OkStatus();
}

absl::Status ImageKeeper::Compact() {
  const auto now = std::chrono::steady_clock::now();
  passed_.emplace_back(now, options_.revision());
  std::int64_t revision = 0;
  while (!passed_.empty() && now - passed_.front().first >= absl::ToChronoNanoseconds(options_.kept_time)) {
    revision = passed_.front().second;
    passed_.pop_front();
  }
  return revision > 0 ? client_.Compact(revision) : absl::OkStatus();
}

void ImageKeeper::Report(const absl::Status& status) const {
  if (!status.ok() && options_.on_failure) {
    options_.on_failure(status);
  }
}

}  // namespace waystar::cluster
