#include "client/cli/edit_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/cell_argument.h"
#include "client/cli/shape_argument.h"

namespace waystar::cli {
namespace {

std::string ItselfOf(const std::string& id) { return id; }
std::string EndsOf(const v1::EdgeName& name) {
  return absl::StrCat(name.from(), name.one_way() ? ">" : "-", name.to());
}
std::string EdgeOf(const v1::WaypointEdge& edge) { return EndsOf(edge.edge()); }

// " a b c", and how many more there are.
template <typename List, typename Item>
std::string NamesOf(const List& items, std::string (*name_of)(const Item&)) {
  constexpr int kMost = 10;
  std::string names;
  for (int i = 0; i < std::min(items.size(), kMost); ++i) {
    absl::StrAppend(&names, " ", name_of(items.Get(i)));
  }
  return items.size() <= kMost ? names : absl::StrCat(names, " and ", items.size() - kMost, " more");
}

}  // namespace

std::string EffectText(const v1::Obstacle& obstacle) {
  const char* const falloff = obstacle.falloff() == v1::FALLOFF_LINEAR ? " falling off" : "";
  switch (obstacle.effect_case()) {
    case v1::Obstacle::kCostFactor:
      return absl::StrCat("cost x ", obstacle.cost_factor(), falloff);
    case v1::Obstacle::kCostAddition:
      return absl::StrCat("cost ", obstacle.cost_addition() < 0 ? "- " : "+ ",
                          std::abs(obstacle.cost_addition()), falloff);
    case v1::Obstacle::EFFECT_NOT_SET:
      break;
  }
  return "blocks";
}

std::string LifetimeText(const v1::Obstacle& obstacle) {
  if (!obstacle.has_lifetime()) {
    return "";
  }
  return absl::FormatDuration(absl::Trunc(DurationOf(obstacle.lifetime()), absl::Milliseconds(1)));
}

std::string NodeText(const v1::WaypointNode& node) {
  return node.label().empty() ? node.id() : absl::StrCat(node.id(), " \"", node.label(), "\"");
}

std::string PortalText(const v1::Portal& portal) {
  return absl::StrCat(portal.id(), " ", FormatCell(portal.from()), portal.both_ways() ? " <-> " : " -> ",
                      portal.to_map(), portal.to_map().empty() ? "" : " ", FormatCell(portal.to()), " cost ",
                      portal.cost(), portal.closed() ? " closed" : "");
}

std::string EditText(const v1::Edit& edit) {
  switch (edit.edit_case()) {
    case v1::Edit::kBlock:
      return absl::StrCat("block ", FormatShape(edit.block()));
    case v1::Edit::kUnblock:
      return absl::StrCat("unblock ", FormatShape(edit.unblock()));
    case v1::Edit::kSetTerrain:
      return absl::StrCat("terrain ", edit.set_terrain().terrain(), " ",
                          FormatShape(edit.set_terrain().shape()));
    case v1::Edit::kPutObstacle: {
      const v1::Obstacle& obstacle = edit.put_obstacle().obstacle();
      const std::string lifetime = LifetimeText(obstacle);
      return absl::StrCat("put ", obstacle.id(), " ", FormatShape(obstacle.shape()), " ",
                          EffectText(obstacle), lifetime.empty() ? "" : " for ", lifetime);
    }
    case v1::Edit::kMoveObstacle:
      return absl::StrCat("move ", edit.move_obstacle().id(), " by ", edit.move_obstacle().dx(), ",",
                          edit.move_obstacle().dy());
    case v1::Edit::kResizeObstacle:
      return absl::StrCat("resize ", edit.resize_obstacle().id(), " ",
                          FormatShape(edit.resize_obstacle().shape()));
    case v1::Edit::kRemoveObstacle:
      return absl::StrCat("remove ", edit.remove_obstacle().id());
    case v1::Edit::kPutPortal:
      return absl::StrCat("portal put ", PortalText(edit.put_portal().portal()));
    case v1::Edit::kRemovePortal:
      return absl::StrCat("portal remove ", edit.remove_portal().id());
    case v1::Edit::kSwitchPortal:
      return absl::StrCat("portal ", edit.switch_portal().closed() ? "close " : "open ",
                          edit.switch_portal().id());
    case v1::Edit::kPutProfile:
      return absl::StrCat("profile put ", edit.put_profile().named().name());
    case v1::Edit::kRemoveProfile:
      return absl::StrCat("profile remove ", edit.remove_profile().name());
    case v1::Edit::kPutNodes:
      return absl::StrCat("put nodes", NamesOf(edit.put_nodes().nodes(), NodeText));
    case v1::Edit::kRemoveNodes:
      return absl::StrCat("remove nodes", NamesOf(edit.remove_nodes().nodes(), ItselfOf));
    case v1::Edit::kPutEdges:
      return absl::StrCat("put edges", NamesOf(edit.put_edges().edges(), EdgeOf));
    case v1::Edit::kRemoveEdges:
      return absl::StrCat("remove edges", NamesOf(edit.remove_edges().edges(), EndsOf));
    case v1::Edit::kSetEnabled:
      return absl::StrCat(edit.set_enabled().enabled() ? "enable" : "disable",
                          NamesOf(edit.set_enabled().nodes(), ItselfOf),
                          NamesOf(edit.set_enabled().edges(), EndsOf));
    case v1::Edit::EDIT_NOT_SET:
      break;
  }
  return "an edit this tool does not know";
}

}  // namespace waystar::cli
