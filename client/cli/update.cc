#include "client/cli/update.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"

namespace waystar::cli {

void AddExpectedVersion(CLI::App& command, google::protobuf::Message& request) {
  AddFields(command, request,
            {{"--expect-revision", "expected_version.revision",
              "Only if this is the map's latest revision [of the epoch that it has now, which is asked for]"},
             {"--expect-epoch", "expected_version.epoch",
              "Only if this is the map's epoch, which differs once it was created again"}});
}

void AddUpdateOptions(CLI::App& command, v1::UpdateMapRequest& request) {
  AddExpectedVersion(command, request);
  AddFields(
      command, request,
      {{"--request-id", "request_id",
        "A name for this change, such as a UUID: made again under the same name, it is not applied twice",
        "ID"},
       {"--request-time", "request_time",
        "When this was first made under its --request-id; too long ago to know, it is refused [now]",
        "TIME"}});
}

absl::Status CompleteVersion(Session& session, const std::string& map, v1::Version& version) {
  if (version.revision() == 0 || version.epoch() != 0) {
    return absl::OkStatus();
  }
  const absl::StatusOr<v1::MapInfo>& info = session.InfoOf(map);
  if (info.ok()) {
    version.set_epoch(info->version().epoch());
  }
  return info.status();
}

std::string SizeText(const v1::MapInfo& info) {
  const v1::MeshInfo& mesh = info.mesh();
  if (info.has_graph()) {
    return absl::StrCat(info.graph().nodes(), " nodes, ", info.graph().edges(), " one-way edges");
  }
  if (info.has_mesh()) {
    return absl::StrCat(Counted(mesh.polygons(), "polygon"), " in ", Counted(mesh.parts(), "connected part"));
  }
  return absl::StrCat(info.grid().width(), " x ", info.grid().height(), " cells");
}

std::string NewMapText(const v1::MapInfo& info, const std::string& more) {
  return absl::StrCat(info.map(), ": ", SizeText(info), info.has_graph() || info.has_mesh() ? "" : more,
                      ", revision ", info.version().revision(), ".\n");
}

std::string DigestClause(uint64_t digest) {
  return digest == 0 ? "" : absl::StrCat(", digest ", DigestText(digest));
}

std::string ChangeText(int64_t cells, int64_t nodes, int64_t edges, bool has_area,
                       const google::protobuf::RepeatedPtrField<v1::Edit>& edits) {
  std::vector<std::string> counts;
  const auto add = [&](int64_t count, absl::string_view noun) {
    if (count != 0) {
      counts.push_back(Counted(count, noun));
    }
  };
  // The fields of an edit are named after what they change, such as put_portal.
  const auto add_edits = [&](absl::string_view noun) {
    const auto* const kinds = v1::Edit::descriptor()->FindOneofByName("edit");
    add(absl::c_count_if(edits,
                         [&](const v1::Edit& edit) {
                           const auto* const kind =
                               edit.GetReflection()->GetOneofFieldDescriptor(edit, kinds);
                           return kind != nullptr && absl::EndsWith(kind->name(), noun);
                         }),
        noun);
  };
  add(nodes, "node");
  add(edges, "edge");
  if (counts.empty()) {
    add(cells, "cell");
    if (cells == 0 && has_area) {
      add_edits("obstacle");
    }
    add_edits("portal");
    add_edits("profile");
  }
  return counts.empty() ? Counted(0, "cell") : absl::StrJoin(counts, ", ");
}

ExitCode Update(const v1::UpdateMapRequest& given, Session& session) {
  v1::UpdateMapRequest request = given;
  if (request.has_expected_version()) {
    const absl::Status status = CompleteVersion(session, request.map(), *request.mutable_expected_version());
    if (!status.ok()) {
      return session.Fail(status);
    }
  }
  return session.Answer(session.client().UpdateMap(request), [&](const auto& response) {
    std::ostream& out = session.io().out;
    if (response.already_applied()) {
      out << "That was applied already: it made revision " << response.version().revision() << " of "
          << request.map() << DigestClause(response.digest()) << ".\n";
      return;
    }
    out << request.map() << " is now at revision " << response.version().revision() << ": "
        << ChangeText(response.changed_cells(), response.changed_nodes(), response.changed_edges(),
                      response.changed_bounds().width() > 0, request.edits())
        << " changed";
    if (response.clipped_cells() > 0) {
      out << ", " << Counted(response.clipped_cells(), "cell") << " off the map dropped";
    }
    out << DigestClause(response.digest()) << ".\n";
  });
}

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

std::string HeightsText(const v1::Obstacle& obstacle) {
  if (!obstacle.has_heights()) {
    return "";
  }
  const v1::HeightRange& heights = obstacle.heights();
  return absl::StrCat(" at heights ", heights.has_low() ? absl::StrCat(heights.low()) : "", ":",
                      heights.has_high() ? absl::StrCat(heights.high()) : "");
}

std::string NodeText(const v1::WaypointNode& node) {
  return node.label().empty() ? node.id() : absl::StrCat(node.id(), " \"", node.label(), "\"");
}

std::string PortalText(const v1::Portal& portal) {
  return absl::StrCat(portal.id(), " ", FormatCell(portal.from()), portal.both_ways() ? " <-> " : " -> ",
                      portal.to_map(), portal.to_map().empty() ? "" : " ", FormatCell(portal.to()), " cost ",
                      portal.cost(), portal.closed() ? " closed" : "");
}

std::string ObstacleText(const v1::Obstacle& obstacle) {
  const std::string lifetime = LifetimeText(obstacle);
  return absl::StrCat(obstacle.id(), " ", FormatShape(obstacle.shape()), HeightsText(obstacle), " ",
                      EffectText(obstacle), lifetime.empty() ? "" : " for ", lifetime);
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
    case v1::Edit::kAddObstacle:
      return absl::StrCat("add ", ObstacleText(edit.add_obstacle()));
    case v1::Edit::kPutObstacle:
      return absl::StrCat("put ", ObstacleText(edit.put_obstacle()));
    case v1::Edit::kMoveObstacle:
      return absl::StrCat("move ", edit.move_obstacle().id(), " by ", edit.move_obstacle().dx(), ",",
                          edit.move_obstacle().dy());
    case v1::Edit::kResizeObstacle:
      return absl::StrCat("resize ", edit.resize_obstacle().id(), " ",
                          FormatShape(edit.resize_obstacle().shape()));
    case v1::Edit::kRemoveObstacle:
      return absl::StrCat("remove ", edit.remove_obstacle());
    case v1::Edit::kAddPortal:
      return absl::StrCat("portal add ", PortalText(edit.add_portal()));
    case v1::Edit::kPutPortal:
      return absl::StrCat("portal put ", PortalText(edit.put_portal()));
    case v1::Edit::kRemovePortal:
      return absl::StrCat("portal remove ", edit.remove_portal());
    case v1::Edit::kSwitchPortal:
      return absl::StrCat("portal ", edit.switch_portal().closed() ? "close " : "open ",
                          edit.switch_portal().id());
    case v1::Edit::kPutProfile:
      return absl::StrCat("profile put ", edit.put_profile().name());
    case v1::Edit::kRemoveProfile:
      return absl::StrCat("profile remove ", edit.remove_profile());
    case v1::Edit::kAddNodes:
      return absl::StrCat("add nodes", NamesOf(edit.add_nodes().nodes(), NodeText));
    case v1::Edit::kPutNodes:
      return absl::StrCat("put nodes", NamesOf(edit.put_nodes().nodes(), NodeText));
    case v1::Edit::kRemoveNodes:
      return absl::StrCat("remove nodes", NamesOf(edit.remove_nodes().nodes(), ItselfOf));
    case v1::Edit::kAddEdges:
      return absl::StrCat("add edges", NamesOf(edit.add_edges().edges(), EdgeOf));
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
