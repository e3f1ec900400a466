#include "server/service/metrics/residence_statistics.h"

#include <cstdint>

namespace waystar::rpc {

void ResidenceStatistics::Fill(v1::GetServerStatisticsResponse& out) const {
  if (!store_.CanMakeRoom()) {
    return;
  }
  const core::MapStore::ResidenceCounts maps = store_.CountResidence();
  const maintenance::MapKeeper::Statistics done = keeper_.GetStatistics();
  v1::ResidenceStatistics& residence = *out.mutable_residence();
  residence.set_loaded_maps(static_cast<std::int64_t>(maps.loaded));
  residence.set_unloaded_maps(static_cast<std::int64_t>(maps.unloaded));
  residence.set_hits(maps.hits);
  residence.set_loads(done.loads);
  residence.set_failed_loads(done.failed_loads);
  residence.set_evictions(done.evictions);
}

void ResidenceStatistics::Collect(runtime::MetricSink& sink) const {
  if (!store_.CanMakeRoom()) {
    return;
  }
  const core::MapStore::ResidenceCounts maps = store_.CountResidence();
  const maintenance::MapKeeper::Statistics done = keeper_.GetStatistics();
  sink.AddGauge("waystar_unloaded_maps",
                "Maps that are not in memory, and are loaded when they are asked for.", {},
                static_cast<double>(maps.unloaded));
  sink.AddCounter("waystar_map_hits_total", "How often a map was asked for that was in memory.", {},
                  static_cast<double>(maps.hits));
  sink.AddCounter("waystar_map_loads_total", "Maps that were loaded because they were asked for.", {},
                  static_cast<double>(done.loads));
  sink.AddCounter("waystar_map_load_failures_total", "Maps that were asked for and could not be loaded.", {},
                  static_cast<double>(done.failed_loads));
  sink.AddCounter("waystar_map_evictions_total", "Maps that were let go of to make room for others.", {},
                  static_cast<double>(done.evictions));
}

}  // namespace waystar::rpc
