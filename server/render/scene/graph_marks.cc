#include "server/render/scene/graph_marks.h"

#include <algorithm>
#include <cstddef>

#include "server/base/status_macros.h"
#include "server/render/canvas/color.h"

namespace waystar::core {
namespace {

constexpr std::size_t kEventsBetweenChecks = 1 << 12;

}  // namespace

absl::StatusOr<NodeVisits> NodeVisits::Of(absl::Span<const NodeEvent> events, const StopCheck& stop) {
  NodeVisits result;
  std::vector<NodeVisit>& visits = result.visits_;
  visits.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i % kEventsBetweenChecks == 0) {
      WAYSTAR_RETURN_IF_ERROR(stop.Check());
    }
    const NodeEvent& event = events[i];
    const bool is_expanded = event.kind == SearchEvent::Kind::kExpanded;
    visits.push_back({event.node, event.parent, event.g, is_expanded});
    if (is_expanded) {
      result.dearest_ = std::max(result.dearest_, event.g);
    }
  }
  // Stable, so that the visits of one node stay in search order.
  std::ranges::stable_sort(visits, {}, &NodeVisit::node);
  std::size_t kept = 0;
  for (const NodeVisit& visit : visits) {
    if (kept == 0 || visits[kept - 1].node != visit.node) {
      visits[kept++] = visit;
      continue;
    }
    NodeVisit& known = visits[kept - 1];
    known.parent = visit.is_expanded ? known.parent : visit.parent;
    known.is_expanded |= visit.is_expanded;
    known.g = visit.g;
  }
  visits.resize(kept);
  return result;
}

const NodeVisit* NodeVisits::Find(NodeNumber node) const {
  const auto found = std::ranges::lower_bound(visits_, node, {}, &NodeVisit::node);
  return found != visits_.end() && found->node == node ? &*found : nullptr;
}

picture::Color NodeVisits::ColorOf(const NodeVisit& visit) const {
  return visit.is_expanded ? picture::SearchColor(ShareOf(visit)) : picture::kOpenColor;
}

char NodeVisits::SymbolOf(const NodeVisit& visit) const {
  return visit.is_expanded ? static_cast<char>('0' + std::min(9, static_cast<int>(ShareOf(visit) * 10)))
                           : 'O';
}

}  // namespace waystar::core
