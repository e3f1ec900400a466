// Metrics of the server's maps, snapshots, watches and transfers.
#pragma once

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/runtime/metric_sink.h"
#include "server/service/admission/call_slots.h"

namespace waystar::rpc {

// Reports the kMaxMaps largest maps by name. Only the first kMaxNames names that get this far are used as
// labels, however many maps clients create and delete.
//
// Thread safety: any.
class StoreMetrics final : public runtime::MetricSource {
 public:
  static constexpr std::size_t kMaxMaps = 20;
  static constexpr std::size_t kMaxNames = 100;

  // All must outlive this.
  StoreMetrics(const core::MapStore& store, const CallSlots& transfers, const CallSlots& watches,
               const CallSlots& streams)
      : store_(store), transfers_(transfers), watches_(watches), streams_(streams) {}

  // Takes time proportional to the number of maps and their bands of rows: a few milliseconds for thousands.
  void Collect(runtime::MetricSink& sink) const override;

 private:
  bool MayBeNamed(const std::string& map) const;

  const core::MapStore& store_;
  const CallSlots& transfers_;
  const CallSlots& watches_;
  const CallSlots& streams_;
  mutable Mutex mutex_;
  mutable absl::flat_hash_set<std::string> names_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
