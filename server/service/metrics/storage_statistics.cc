#include "server/service/metrics/storage_statistics.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/service/convert/convert.h"

namespace waystar::rpc {
namespace {

// A disk with a battery-backed cache syncs in tens of microseconds; a failing one may take many seconds.
std::vector<double> DiskSecondsBounds() {
  return {1e-5, 3e-5, 1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10};
}

}  // namespace

StorageStatistics::StorageStatistics()
    : sync_seconds_(DiskSecondsBounds()), commit_seconds_(DiskSecondsBounds()) {}

void StorageStatistics::Fill(v1::GetServerStatisticsResponse& out) const {
  const storage::DataFolder* const folder = folder_.load(std::memory_order_acquire);
  if (folder == nullptr) {
    return;
  }
  const storage::DataStatistics statistics = folder->Statistics();
  const runtime::HistogramCounts commits = commit_seconds_.Counts();
  const runtime::HistogramCounts syncs = sync_seconds_.Counts();
  v1::StorageStatistics& storage = *out.mutable_storage();
  FillDuration(statistics.log.loss_window, *storage.mutable_loss_window());
  storage.set_commits(commits.count);
  FillDuration(absl::Seconds(commits.sum), *storage.mutable_commit_time());
  storage.set_refusals(statistics.log.refusals);
  storage.set_written_bytes(statistics.log.written_bytes);
  storage.set_syncs(syncs.count);
  FillDuration(absl::Seconds(syncs.sum), *storage.mutable_sync_time());
  FillDuration(statistics.log.unsynced_age, *storage.mutable_unsynced_age());
  storage.set_log_bytes(static_cast<std::int64_t>(statistics.log.bytes));
  storage.set_images(static_cast<std::int64_t>(statistics.images.count));
  storage.set_image_bytes(static_cast<std::int64_t>(statistics.images.bytes));
  storage.set_refuses(!statistics.log.status.ok());
  storage.set_error(std::string(statistics.log.status.message()));
  storage.set_image_error(std::string(statistics.images.status.message()));
}

void StorageStatistics::Collect(runtime::MetricSink& sink) const {
  const storage::DataFolder* const folder = folder_.load(std::memory_order_acquire);
  if (folder == nullptr) {
    return;
  }
  const storage::DataStatistics statistics = folder->Statistics();
  sink.AddHistogram("waystar_storage_commit_seconds",
                    "How long creations, deletions and groups of updates of a map waited for the log, from "
                    "the end of their computation.",
                    {}, commit_seconds_.Counts());
  sink.AddCounter("waystar_storage_refusals_total",
                  "Creations, deletions and groups of updates that could not be written, and were refused.",
                  {}, static_cast<double>(statistics.log.refusals));
  sink.AddCounter("waystar_storage_written_bytes_total", "Bytes written to the log.", {},
                  static_cast<double>(statistics.log.written_bytes));
  sink.AddHistogram("waystar_storage_sync_seconds", "How long syncs of the log took.", {},
                    sync_seconds_.Counts());
  sink.AddGauge("waystar_storage_unsynced_seconds",
                "Age of the oldest commit that was acknowledged and is not on stable storage.", {},
                absl::ToDoubleSeconds(statistics.log.unsynced_age));
  sink.AddGauge("waystar_storage_log_bytes", "Size of the log's files.", {},
                static_cast<double>(statistics.log.bytes));
  sink.AddGauge("waystar_storage_images", "Images of maps in the data folder.", {},
                static_cast<double>(statistics.images.count));
  sink.AddGauge("waystar_storage_image_bytes", "Size of these.", {},
                static_cast<double>(statistics.images.bytes));
  sink.AddGauge("waystar_storage_refuses", "1 while changes are refused because the log cannot be written.",
                {}, statistics.log.status.ok() ? 0 : 1);
  sink.AddGauge("waystar_storage_images_fail", "1 if the last images could not be made.", {},
                statistics.images.status.ok() ? 0 : 1);
}

}  // namespace waystar::rpc
