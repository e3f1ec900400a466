#include "server/service/handlers/watch/list_agents.h"

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/convert/page.h"

namespace waystar::rpc {
namespace {

v1::AgentStatus StatusOf(const core::MapSubscriptions::Look& look) {
  if (look.is_waiting) {
    return v1::AGENT_STATUS_SEARCHING;
  }
  return look.ahead.points.empty() ? v1::AGENT_STATUS_STUCK : v1::AGENT_STATUS_WALKING;
}

void FillAgent(const PathWatch& watch, const core::MapSubscriptions::Look& look, const Caller& caller,
               const HexCoordinates& coordinates, v1::FollowedAgent& out) {
  const v1::FindPathRequest& query = watch.request;
  watch.FillName(out);
  if (look.place) {
    FillLocation(*look.place, coordinates, *out.mutable_at());
  } else {
    *out.mutable_at() = query.start();
  }
  if (query.goal_map().empty() || caller.MayRead(query.goal_map())) {
    *out.mutable_goal() = query.goals(0);
    out.set_goal_map(query.goal_map());
  }
  out.set_status(StatusOf(look));
  for (const core::WorldPoint& point : look.ahead.points) {
    FillPosition(point, *out.add_path());
  }
  out.mutable_arrivals()->Add(look.ahead.leaps.begin(), look.ahead.leaps.end());
}

}  // namespace

absl::Status ListFollowedAgents(const PathWatchScheduler& watches, const Caller& caller,
                                std::size_t max_bytes, const v1::ListAgentsRequest& request,
                                v1::ListAgentsResponse& response) {
  std::uint64_t last = 0;
  const bool is_token = request.page_token().empty() || absl::SimpleAtoi(request.page_token(), &last);
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t size, PageSizeOf(request, "agent", is_token));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, watches.store().Pin(request.map()));
  FillVersion(snapshot->version(), *response.mutable_version());
  const std::shared_ptr<core::MapSubscriptions> map = watches.SubscriptionsOf(snapshot->epoch);
  if (map == nullptr) {
    return absl::OkStatus();
  }
  Page page(size, max_bytes, *response.mutable_agents());
  const HexCoordinates coordinates(*snapshot);
  // One more than the page holds shows that another follows.
  for (const auto& entry : map->ListAfter(last, size + 1)) {
    const bool has_room = page.Add([&](v1::FollowedAgent& out) {
      const core::PathSubscription& subscription = *entry.second;
      FillAgent(static_cast<const PathWatch&>(subscription), map->LookAt(subscription), caller, coordinates,
                out);
    });
    if (!has_room) {
      response.set_next_page_token(absl::StrCat(last));
      break;
    }
    last = entry.first;
  }
  return absl::OkStatus();
}

}  // namespace waystar::rpc
