// One search for a watched route query, and what its result means for the answer before it.
#pragma once

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph_search/graph_query.h"
#include "server/core/portal/portal_search.h"
#include "server/core/query/query_scratch.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/map_store.h"
#include "server/core/watch/kept_answer.h"
#include "server/core/watch/path_subscription.h"

namespace waystar::core {

// A watched path stays on its map: portals to other maps are closed to it.
//
// Thread safety: none.
class AnswerRenewal {
 public:
  // All must outlive this. `snapshot` is of the map that is watched.
  AnswerRenewal(const MapStore& store, const MapSnapshot& snapshot, const PathSubscription& subscription);

  // Searches on the snapshot. The route lives until the scratch searches again, and no longer than this.
  // Errors: those of Resolve and Solve.
  absl::StatusOr<Route> Search(const Budget& budget, QueryScratch& scratch);

  // Takes an error for the answer, where there was no search, or what it found cannot be told.
  void TakeError(const absl::Status& error);

  // These are for after a search, or an error. Whether the subscriber is to be told: the answer before does
  // not hold any more.
  bool is_news() const { return is_news_; }
  // Returns the answer to keep: the one before, if that still holds. Null if there was no search yet.
  const KeptAnswerPtr& answer() const { return answer_; }

 private:
  void Judge(const GridMap& map, const PathQuery& query, absl::Span<const std::string> required_tags,
             const absl::StatusOr<PortalPath>& result);
  void Judge(const WaypointGraph& graph, const GraphQuery& query,
             const absl::StatusOr<GraphPathResult>& result);
  void JudgeOnMesh(const absl::StatusOr<Route>& route);

  const MapStore& store_;
  const MapSnapshot& snapshot_;
  const RouteQuery& query_;
  const KeptAnswerPtr last_;
  std::optional<ResolvedRoute> resolved_;
  bool is_news_ = true;
  KeptAnswerPtr answer_;
};

}  // namespace waystar::core
