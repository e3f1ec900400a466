// One search for a subscribed route query, and its effect on the previous answer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/map/map_version.h"
#include "server/core/query/resolve.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/query/route.h"
#include "server/core/query/solve.h"
#include "server/core/store/map_store.h"
#include "server/core/watch/course.h"
#include "server/core/watch/grid_answer.h"
#include "server/core/watch/held_path.h"
#include "server/core/watch/kept_answer.h"
#include "server/core/watch/map_subscriptions.h"

namespace waystar::core {

// Searches again for a subscription and compares the result with its last answer. Portals to other maps are
// closed to queries whose goal is on the subscribed map. An answer on several maps may end with any change.
//
// Thread safety: none.
class AnswerRenewal {
 public:
  // The subscription and the snapshot, which is of the subscribed map, must outlive this.
  AnswerRenewal(OtherMaps others, const MapSnapshot& snapshot, const PathSubscription& subscription);
  AnswerRenewal(const AnswerRenewal&) = delete;
  AnswerRenewal& operator=(const AnswerRenewal&) = delete;

  // Searches on the snapshot. The route is valid until the scratch is used again, and no longer than this
  // object. Errors: those of Resolve and Solve.
  absl::StatusOr<Route> Search(const Budget& budget, QueryScratch& scratch);

  // Searches for all of these, which differ in nothing but their starts, on one snapshot, and shares work as
  // SolveMany does. Calls the sink for each that it resolves, once its renewal has judged the route. Returns
  // the errors of ResolveAgent and SolveMany.
  static absl::Status SearchAll(absl::Span<AnswerRenewal* const> renewals, const Budget& budget,
                                QueryScratch& scratch, RouteSink sink);

  // Takes a path as the answer, from its own start. Returns false if it does not lead to the goal, cannot be
  // walked at its cost, or the subscriber is not on it. Errors: those of Resolve and of validation.
  absl::StatusOr<bool> Adopt(const HeldPath& held, const Budget& budget);

  // Takes an error as the answer, when no search was made or its result cannot be sent.
  void TakeError(const absl::Status& error);

  // Another map that the subscriber may visit, and that the search has looked for.
  struct Visit {
    std::string map;
    // Its version before that; nullopt if it could not be read.
    std::optional<MapVersion> version;
  };
  const std::vector<Visit>& visits() const { return visits_; }
  // Returns the version of a map; nullopt if it cannot be read.
  static std::optional<MapVersion> VersionOf(const MapStore& store, absl::string_view map);

  // Valid after Search or TakeError. True if the previous answer no longer holds, so that the subscriber must
  // be notified.
  bool is_news() const { return is_news_; }
  // Returns the answer to keep: the previous one if it still holds. Null before the first search.
  const KeptAnswerPtr& answer() const { return answer_; }

 private:
  // Notes how the query was resolved. Only an optimal answer shows which changes leave it in force.
  const ResolvedRoute& TakeQuery(ResolvedRoute resolved);
  // Judges the answer to that. The path must be read before the scratch is used again.
  void Judge(const absl::StatusOr<Route>& route);
  void Judge(const GridMap& map, const PathQuery& query, const GridAnswer::Ways& ways,
             const absl::StatusOr<PortalPath>& result);
  void Judge(const WaypointGraph& graph, const GraphQuery& query,
             const absl::StatusOr<GraphPathResult>& result);
  void JudgeOnMesh(const absl::StatusOr<Route>& route);

  // Returns true if the route may leave the map.
  bool Roams() const { return !query_.goal_map.empty() && query_.goal_map != snapshot_.id; }
  OtherMaps MapsToVisit();

  const OtherMaps others_;
  const MapSnapshot& snapshot_;
  const RouteQuery& query_;
  const std::optional<Course::Place> walked_;
  const std::optional<PathSubscription::Move> at_;
  // Null if the subscriber needs an answer in any case.
  const KeptAnswerPtr last_;
  std::vector<Visit> visits_;
  std::optional<ResolvedRoute> resolved_;
  bool is_news_ = true;
  KeptAnswerPtr answer_;
};

}  // namespace waystar::core
