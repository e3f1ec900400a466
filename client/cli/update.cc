#include "client/cli/update.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/arguments.h"
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
    const int larger = mesh.larger_surfaces_size();
    return absl::StrCat(
        Counted(mesh.polygons(), "polygon"), " in ", Counted(mesh.parts(), "connected part"),
        larger == 0 ? "" : absl::StrCat(", ", Counted(larger, "surface"), " for larger agents"));
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
    add_edits("ground");
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

std::string NodeText(const v1::WaypointNode& node) {
  return node.label().empty() ? node.id() : absl::StrCat(node.id(), " \"", node.label(), "\"");
}

}  // namespace waystar::cli
