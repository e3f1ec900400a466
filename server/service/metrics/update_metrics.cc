#include "server/service/metrics/update_metrics.h"

#include "absl/status/status.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

void Increase(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

double Value(const std::atomic<std::uint64_t>& counter) {
  return static_cast<double>(counter.load(std::memory_order_relaxed));
}

}  // namespace

void UpdateMetrics::CountAnswer(const absl::StatusOr<core::UpdateResult>& answer) {
  if (answer.ok()) {
    Increase(answer->already_applied ? repeated_ : applied_);
    return;
  }
  std::string reason = ErrorReasonOf(answer.status());
  if (reason.empty()) {
    reason = absl::StatusCodeToString(answer.status().code());
  }
  MutexLock lock(mutex_);
  ++refused_[reason];
}

void UpdateMetrics::OnCommit(const core::PinnedSnapshot& /*snapshot*/,
                             absl::Span<const core::SharedCommit> commits,
                             const core::MapChanges& /*changes*/) {
  Increase(snapshots_);
  Increase(commits_, commits.size());
  for (const core::SharedCommit& commit : commits) {
    Increase(edits_, commit->edits.size());
    Increase(changed_cells_, static_cast<std::uint64_t>(commit->summary.changed_cells));
  }
}

void UpdateMetrics::Collect(runtime::MetricSink& sink) const {
  constexpr char kBatches[] = "waystar_update_batches_total";
  constexpr char kBatchesHelp[] =
      "Batches of edits from clients that were applied, or answered as before under the same request_id.";
  sink.AddCounter(kBatches, kBatchesHelp, {{"result", "applied"}}, Value(applied_));
  sink.AddCounter(kBatches, kBatchesHelp, {{"result", "repeated"}}, Value(repeated_));
  constexpr char kRefused[] = "waystar_update_refusals_total";
  constexpr char kRefusedHelp[] = "Batches of edits from clients that were refused, by the reason.";
  MutexLock lock(mutex_);
  for (const auto& [reason, count] : refused_) {
    sink.AddCounter(kRefused, kRefusedHelp, {{"reason", reason}}, static_cast<double>(count));
  }
  sink.AddCounter("waystar_commits_total",
                  "Revisions of maps that were committed, by clients or at the end of a lifetime.", {},
                  Value(commits_));
  sink.AddCounter("waystar_snapshots_total",
                  "Snapshots that were published; commits that wait together become one.", {},
                  Value(snapshots_));
  sink.AddCounter("waystar_edits_total", "Edits in those commits.", {}, Value(edits_));
  sink.AddCounter("waystar_changed_cells_total", "Cells that those commits changed.", {},
                  Value(changed_cells_));
}

}  // namespace waystar::rpc
