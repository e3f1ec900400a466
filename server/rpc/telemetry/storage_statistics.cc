#include "server/rpc/telemetry/storage_statistics.h"

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "server/rpc/wire/convert.h"

namespace waystar::rpc {

void StorageStatistics::Fill(v1::GetServerStatisticsResponse& out) const {
  const storage::DataFolder* const folder = folder_.load(std::memory_order_acquire);
  if (folder == nullptr) {
    return;
  }
  const storage::DataStatistics statistics = folder->Statistics();
  v1::StorageStatistics& storage = *out.mutable_storage();
  FillDuration(statistics.loss_window, *storage.mutable_loss_window());
  storage.set_commits(statistics.entries);
  FillDuration(statistics.commit_time, *storage.mutable_commit_time());
  storage.set_refusals(statistics.refusals);
  storage.set_written_bytes(statistics.written_bytes);
  storage.set_syncs(statistics.syncs);
  FillDuration(statistics.sync_time, *storage.mutable_sync_time());
  FillDuration(statistics.unsynced_age, *storage.mutable_unsynced_age());
  storage.set_log_bytes(static_cast<std::int64_t>(statistics.log_bytes));
  storage.set_images(static_cast<std::int64_t>(statistics.images));
  storage.set_image_bytes(static_cast<std::int64_t>(statistics.image_bytes));
  storage.set_refuses(!statistics.log_status.ok());
  storage.set_error(std::string(statistics.log_status.message()));
  storage.set_image_error(std::string(statistics.image_status.message()));
}

void StorageStatistics::Collect(runtime::MetricSink& sink) const {
  const storage::DataFolder* const folder = folder_.load(std::memory_order_acquire);
  if (folder == nullptr) {
    return;
  }
  const storage::DataStatistics statistics = folder->Statistics();
  sink.AddCounter("waystar_storage_commits_total",
                  "Creations, deletions and groups of updates of a map that were written to the log.", {},
                  static_cast<double>(statistics.entries));
  sink.AddCounter("waystar_storage_commit_seconds_total",
                  "How long these took together, from the log's hearing of each to its being durable.", {},
                  absl::ToDoubleSeconds(statistics.commit_time));
  sink.AddCounter("waystar_storage_refusals_total",
                  "Creations, deletions and groups of updates that could not be written, and were refused.",
                  {}, static_cast<double>(statistics.refusals));
  sink.AddCounter("waystar_storage_written_bytes_total", "Bytes written to the log.", {},
                  static_cast<double>(statistics.written_bytes));
  sink.AddCounter("waystar_storage_syncs_total", "Syncs of the log.", {},
                  static_cast<double>(statistics.syncs));
  sink.AddCounter("waystar_storage_sync_seconds_total", "How long these took together.", {},
                  absl::ToDoubleSeconds(statistics.sync_time));
  sink.AddGauge("waystar_storage_unsynced_seconds",
                "Age of the oldest commit that was acknowledged and is not on stable storage.", {},
                absl::ToDoubleSeconds(statistics.unsynced_age));
  sink.AddGauge("waystar_storage_log_bytes", "Size of the log's files.", {},
                static_cast<double>(statistics.log_bytes));
  sink.AddGauge("waystar_storage_images", "Images of maps in the data folder.", {},
                static_cast<double>(statistics.images));
  sink.AddGauge("waystar_storage_image_bytes", "Size of these.", {},
                static_cast<double>(statistics.image_bytes));
  sink.AddGauge("waystar_storage_refuses", "1 while changes are refused because the log cannot be written.",
                {}, statistics.log_status.ok() ? 0 : 1);
  sink.AddGauge("waystar_storage_images_fail", "1 if the last images could not be made.", {},
                statistics.image_status.ok() ? 0 : 1);
}

}  // namespace waystar::rpc
