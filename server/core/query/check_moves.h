// Judges whether moves of agents were possible in the time that they took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/query/resolve.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/query/route_query.h"
#include "server/core/query/solve.h"
#include "server/core/search/query.h"

namespace waystar::core {

inline constexpr std::size_t kMaxMoves = 10'000;

struct Move {
  Location from;
  Location to;
  // Time that the move took, with any tolerance: not negative.
  absl::Duration time;
  // Cost that the agent pays per second: finite and above 0.
  double speed = 1.0;
};

enum class MoveVerdict : std::uint8_t { kOk, kTooFast, kNotReachable, kBlocked };

// See MoveJudgement in path_service.proto.
struct MoveJudgement {
  MoveVerdict verdict = MoveVerdict::kOk;
  // Lower bound of the cost of all ways; 0 if unknown.
  double least_cost = 0.0;
  std::optional<Location> blocked_at;
  // Empty if no named obstacle of a waypoint graph is on the line.
  std::string obstacle;
  std::optional<Location> nearest;
  // Age of the snapshot on which the move is legal; 0 for the latest.
  absl::Duration judged_back;
};

struct CheckedMoves {
  // One for each move, in order.
  std::vector<MoveJudgement> judgements;
  std::uint64_t expanded = 0;
};

struct MovesQuery {
  const AgentQuery& agent;
  const std::optional<Snap>& snap;
  // 1 to kMaxMoves.
  absl::Span<const Move> moves;
};

// Judges each move on the latest snapshot. A move that is not OK there is then judged on those of
// MapStore::AskPast, as far as these are not older than its time: it is OK if it is legal as a whole on one
// of them.
//
// A straight line of sight that is cheap enough is OK without a search. If components, or a lower bound of
// the cost, do not decide either, a search does, which ends at the cost that the time can pay. On a mesh with
// costs, a move is also OK if the search has the budget that it needs and cannot prove that no way is cheap
// enough.
//
// The budget limits the expansions of all searches together.
//
// Returns the errors of CheckListed with "moves"; those of PlaceOf and FindSeat with fields such as
// "moves[3].from", except OFF_MAP, NODE_NOT_FOUND and NO_NODE_NEAR, which make a place blocked;
// RESOURCE_EXHAUSTED / REGION_TOO_LARGE with "moves[3]" for a search beyond the limit of expansions or
// memory; and the errors of InterruptionError, except SNAPSHOT_EVICTED for a past snapshot, which ends the
// look back.
// REQUIRES: `agent` was resolved for query.agent on `latest`; CheckSnap(query.snap) is OK.
absl::StatusOr<CheckedMoves> CheckMoves(const SharedAgent& agent, const MapSnapshot& latest,
                                        const MovesQuery& query, const OtherMaps& others,
                                        const Budget& budget, QueryScratch& scratch);

}  // namespace waystar::core
