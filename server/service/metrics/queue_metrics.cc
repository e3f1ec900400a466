#include "server/service/metrics/queue_metrics.h"

#include <chrono>
#include <string>

#include "server/runtime/worker_pool.h"

namespace waystar::rpc {
namespace {

double SecondsOf(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

void CollectLane(const std::string& lane, const runtime::WorkerPoolCounts& counts,
                 runtime::MetricSink& sink) {
  const runtime::MetricLabels labels = {{"lane", lane}};
  sink.AddGauge("waystar_queue_depth", "Jobs that wait for a worker: calls, or parts of them.", labels,
                static_cast<double>(counts.queued));
  sink.AddGauge("waystar_queue_running", "Workers that are at work.", labels,
                static_cast<double>(counts.running));
  sink.AddGauge("waystar_queue_overloaded", "1 while jobs may only wait for a short time, else 0.", labels,
                counts.is_overloaded ? 1 : 0);
  sink.AddCounter("waystar_queue_started_total", "Jobs that workers have started.", labels,
                  static_cast<double>(counts.started));
  constexpr char kRefused[] = "waystar_queue_refused_total";
  constexpr char kRefusedHelp[] =
      "Jobs that were refused: the queue was too full for them to be done in time, or they had waited too "
      "long.";
  sink.AddCounter(kRefused, kRefusedHelp, {{"lane", lane}, {"reason", "full"}},
                  static_cast<double>(counts.refused_full));
  sink.AddCounter(kRefused, kRefusedHelp, {{"lane", lane}, {"reason", "late"}},
                  static_cast<double>(counts.refused_late));
  sink.AddCounter("waystar_queue_wait_seconds_total", "What the started jobs waited, together.", labels,
                  SecondsOf(counts.waited));
  sink.AddCounter("waystar_queue_run_seconds_total", "What workers were at work, together.", labels,
                  SecondsOf(counts.ran));
}

}  // namespace

void QueueMetrics::Collect(runtime::MetricSink& sink) const {
  CollectLane("small", executor_.counts(Lane::kSmall), sink);
  CollectLane("large", executor_.counts(Lane::kLarge), sink);
  CollectLane("updates", executor_.counts(Lane::kUpdates), sink);
  CollectLane("imports", executor_.counts(Lane::kImports), sink);
  const ClientCalls::Counts clients = client_calls_.counts();
  sink.AddGauge("waystar_clients", "Clients that have calls waiting or running.", {},
                static_cast<double>(clients.clients));
  sink.AddGauge("waystar_client_calls", "Calls of all of these.", {}, static_cast<double>(clients.calls));
  sink.AddCounter("waystar_client_calls_refused_total",
                  "Calls that were refused because their client had too many.", {},
                  static_cast<double>(clients.refused));
}

}  // namespace waystar::rpc
