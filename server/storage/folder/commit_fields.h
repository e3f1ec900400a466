// Fields of commits and the requests that caused them, in the order of logs and image files.
#pragma once

#include <type_traits>
#include <variant>

#include "server/core/codec/fields.h"
#include "server/core/elements/area_collector.h"
#include "server/core/elements/waypoint.h"
#include "server/core/map/map_version.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/update_batch.h"

namespace waystar::core {

// The index of an edit is stored before its fields, so Edit may only grow at its end.
static_assert(std::variant_size_v<Edit> == 22 &&
              std::is_same_v<std::variant_alternative_t<16, Edit>, SetEnabled> &&
              std::is_same_v<std::variant_alternative_t<17, Edit>, PutMeshPortal> &&
              std::is_same_v<std::variant_alternative_t<18, Edit>, PutMeshObstacle> &&
              std::is_same_v<std::variant_alternative_t<20, Edit>, RemoveGround> &&
              std::is_same_v<std::variant_alternative_t<21, Edit>, PutMeshProfile>);

auto MapIdField(auto& id) { return AtMost(id, kMaxMapIdBytes); }

void Fields(Is<MapVersion> auto& version, const auto& visit) { visit(version.epoch, version.revision); }

// `work` is not stored: it counts only for the log's own decisions.
void Fields(Is<ChangeSummary> auto& summary, const auto& visit) {
  visit(summary.changed_cells, summary.changed_bounds, summary.clipped_cells, summary.changed_nodes,
        summary.changed_edges);
}

void Fields(Is<Fingerprint> auto& fingerprint, const auto& visit) {
  visit(fingerprint.high, fingerprint.low);
}

void Fields(Is<Commit> auto& commit, const auto& visit) {
  visit(commit.revision, commit.time, commit.edits, commit.summary,
        AtMost(commit.changed_areas, AreaCollector::kMost), commit.digest);
}

void Fields(Is<LoggedCommit> auto& logged, const auto& visit) {
  visit(logged.commit, AtMost(logged.request_id, kMaxRequestIdBytes));
  if (!logged.request_id.empty()) {
    visit(logged.fingerprint, logged.request_time);
  }
}

// The epoch of the result is that of the map.
void Fields(Is<AppliedRequest> auto& request, const auto& visit) {
  visit(AtMost(request.request_id, kMaxRequestIdBytes), request.fingerprint, request.request_time,
        request.result.revision, request.result.summary, request.result.digest, request.time);
}

}  // namespace waystar::core
