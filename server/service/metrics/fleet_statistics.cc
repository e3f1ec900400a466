#include "server/service/metrics/fleet_statistics.h"

#include <string>
#include <vector>

#include "server/service/convert/convert.h"

namespace waystar::rpc {
namespace {

// A change waits for a network, three disks and earlier changes.
std::vector<double> CommitSecondsBounds() {
  return {0.0003, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.1, 0.3, 1, 3, 10};
}

}  // namespace

FleetStatistics::FleetStatistics() : commit_seconds_(CommitSecondsBounds()) {}

void FleetStatistics::Fill(v1::GetServerStatisticsResponse& out) const {
  const cluster::Fleet* const part = fleet();
  if (part == nullptr) {
    return;
  }
  const cluster::ClusterLogStatistics statistics = part->Statistics();
  const runtime::HistogramCounts commits = commit_seconds_.Counts();
  v1::FleetStatistics& told = *out.mutable_fleet();
  told.set_etcd_revision(statistics.revision);
  FillDuration(part->Staleness(), *told.mutable_staleness());
  told.set_landed(statistics.landed);
  told.set_commits(commits.count);
  FillDuration(absl::Seconds(commits.sum), *told.mutable_commit_time());
  told.set_conflicts(statistics.conflicts);
  told.set_followed(statistics.followed);
  told.set_broken_maps(statistics.broken);
  told.set_refuses(!statistics.status.ok());
  told.set_error(std::string(statistics.status.message()));
  told.set_lag(statistics.lag);
}

void FleetStatistics::Collect(runtime::MetricSink& sink) const {
  const cluster::Fleet* const part = fleet();
  if (part == nullptr) {
    return;
  }
  const cluster::ClusterLogStatistics statistics = part->Statistics();
  sink.AddHistogram("waystar_fleet_commit_seconds",
                    "How long creations, deletions and groups of updates of a map waited for etcd, from the "
                    "end of their computation.",
                    {}, commit_seconds_.Counts());
  sink.AddCounter("waystar_fleet_landed_total", "Transactions of this server that became durable.", {},
                  static_cast<double>(statistics.landed));
  sink.AddCounter("waystar_fleet_conflicts_total",
                  "How often another server was first, and changes of a map were tried again.", {},
                  static_cast<double>(statistics.conflicts));
  sink.AddCounter("waystar_fleet_followed_total", "Transactions of other servers that were applied.", {},
                  static_cast<double>(statistics.followed));
  sink.AddGauge("waystar_fleet_etcd_revision", "Revision of etcd up to which this server has followed it.",
                {}, static_cast<double>(statistics.revision));
  sink.AddGauge("waystar_fleet_lag", "Revisions of etcd that this server was told of and has not applied.",
                {}, static_cast<double>(statistics.lag));
  sink.AddGauge("waystar_fleet_staleness_seconds", "How long ago this server last had all that etcd has.", {},
                absl::ToDoubleSeconds(part->Staleness()));
  sink.AddGauge("waystar_fleet_clock_offset_seconds",
                "How far this server's clock is ahead of those of the other servers.", {},
                absl::ToDoubleSeconds(part->ClockOffset()));
  sink.AddGauge("waystar_fleet_broken_maps", "Maps that did not come out as the log says.", {},
                static_cast<double>(statistics.broken));
  sink.AddGauge("waystar_fleet_gone_back",
                "1 once etcd is another one than before, or at an earlier revision, until the server is "
                "started again.",
                {}, statistics.has_gone_back ? 1 : 0);
  sink.AddGauge("waystar_fleet_refuses", "1 while changes are refused because etcd cannot be reached.", {},
                statistics.status.ok() ? 0 : 1);
}

}  // namespace waystar::rpc
