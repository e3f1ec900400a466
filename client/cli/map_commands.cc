#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/completion.h"
#include "client/cli/files.h"
#include "client/cli/map_picture.h"
#include "client/cli/message_text.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/cli/update.h"

namespace waystar::cli {
namespace {

struct CreateArguments {
  v1::CreateMapRequest request;
  // File of a waypoint graph; empty for a grid.
  std::string graph_file;
};

ExitCode Create(const v1::CreateMapRequest& request, Session& session) {
  return session.Answer(session.client().CreateMap(request), [&](const auto& response) {
    session.io().out << (response.already_created() ? "Already created " : "Created ")
                     << NewMapText(response.info(), "");
  });
}

ExitCode CreateAny(const CreateArguments& arguments, Session& session) {
  v1::CreateMapRequest request = arguments.request;
  if (arguments.graph_file.empty()) {
    if (request.blank().width() == 0) {
      return session.FailUsage("a map needs a SIZE, such as 64x48, or a --graph");
    }
    return Create(request, session);
  }
  if (request.has_blank() || request.grid().ByteSizeLong() > 0) {
    return session.FailUsage("a waypoint graph has no cells: give --graph alone");
  }
  request.clear_grid();
  const auto json = ReadInput(arguments.graph_file, session.io().in);
  absl::StatusOr<v1::WaypointGraph> graph = json.ok() ? FromJson<v1::WaypointGraph>(*json) : json.status();
  if (!graph.ok()) {
    return session.FailUsage(
        absl::StrCat("cannot read ", arguments.graph_file, ": ", graph.status().message()));
  }
  request.mutable_graph()->Swap(&*graph);
  return Create(request, session);
}

ExitCode ListMaps(const bool& names_only, Session& session) {
  const auto all = AllPages(session.client(), v1::ListMapsRequest(), &client::Client::ListMaps);
  return session.Answer(all, [&](const v1::ListMapsResponse& answer) {
    std::vector<TableRow> rows = {{"MAP", "SIZE", "REVISION", "WALKABLE", "OBSTACLES"}};
    for (const v1::MapInfo& info : answer.maps()) {
      const std::int64_t obstacles =
          info.grid().obstacle_cells() + info.graph().named_obstacles() + info.mesh().named_obstacles();
      rows.push_back({info.map(), info.unloaded() ? "not in memory" : SizeText(info),
                      absl::StrCat(info.version().revision()),
                      info.has_grid() ? absl::StrCat(info.grid().walkable_cells()) : "-",
                      info.unloaded() ? "-" : absl::StrCat(obstacles)});
    }
    session.PrintTable(rows, names_only);
  });
}

struct DeleteArguments {
  // All but the map.
  v1::DeleteMapRequest request;
  std::vector<std::string> maps;
};

ExitCode Delete(const DeleteArguments& arguments, Session& session) {
  v1::DeleteMapRequest request = arguments.request;
  if (request.has_expected_version() && arguments.maps.size() > 1) {
    return session.FailUsage("--expect-revision and --expect-epoch are about one MAP");
  }
  ExitCode result = ExitCode::kOk;
  for (const std::string& map : arguments.maps) {
    request.set_map(map);
    if (request.has_expected_version()) {
      if (const absl::Status status = CompleteVersion(session, map, *request.mutable_expected_version());
          !status.ok()) {
        return session.Fail(status);
      }
    }
    const ExitCode code = session.Answer(session.client().DeleteMap(request), [&](const auto& response) {
      session.io().out << "Deleted " << map << " at revision " << response.version().revision() << ".\n";
    });
    result = result == ExitCode::kOk ? code : result;
  }
  return result;
}

struct ShowArguments {
  v1::GetMapRequest request;
  DrawOptions draw;
};

// "b 3.5, c 2 (closed)".
std::string EdgesText(const v1::WaypointNodeInfo& info) {
  return absl::StrJoin(info.edges(), ", ", [](std::string* out, const auto& edge) {
    absl::StrAppend(out, edge.to(), " ", absl::StrFormat("%.6g", edge.cost()),
                    edge.open() ? "" : " (closed)");
  });
}

absl::StatusOr<std::string> NodeTable(const client::Client& client, const std::string& map,
                                      std::size_t width) {
  v1::ListNodesRequest request;
  request.set_map(map);
  constexpr int kNodesInTable = 50;
  request.set_page_size(kNodesInTable);
  const auto page = client.ListNodes(request);
  if (!page.ok()) {
    return page.status();
  }
  std::vector<TableRow> rows = {{"NODE", "POSITION", "EDGES"}};
  for (const v1::WaypointNodeInfo& info : page->nodes()) {
    const bool is_disabled = info.node().has_enabled() && !info.node().enabled();
    rows.push_back({NodeText(info.node()) + (is_disabled ? " (disabled)" : ""),
                    FormatPosition(info.node().position()), EdgesText(info)});
  }
  const std::string rest = page->next_page_token().empty() ? "" : "and more: ask ListNodes\n";
  return FormatTable(rows, width) + rest;
}

// Returns a picture of the map, or the nodes of a waypoint graph.
absl::StatusOr<std::string> LooksOf(const v1::MapInfo& info, const ShowArguments& arguments,
                                    Session& session) {
  if (info.has_graph()) {
    return NodeTable(session.client(), arguments.request.map(), session.table_width());
  }
  MapPicture picture;
  picture.request.set_map(arguments.request.map());
  const absl::StatusOr<DrawnPicture> drawn = DrawPicture(picture, arguments.draw, session);
  return drawn.ok() ? absl::StatusOr<std::string>(drawn->text) : drawn.status();
}

void HideCostsOfImpassable(auto& terrains) {
  for (auto& terrain : terrains) {
    if (terrain.impassable()) {
      terrain.clear_cost();
    }
  }
}

// Shows the facts, and below them the looks, if both can be had.
ExitCode Show(const ShowArguments& arguments, Session& session) {
  const auto response = session.client().GetMap(arguments.request);
  absl::StatusOr<std::string> looks = std::string();
  if (response.ok() && arguments.draw.picture && !session.options().json) {
    looks = LooksOf(response->info(), arguments, session);
  }
  if (!looks.ok()) {
    return session.Fail(looks.status());
  }
  return session.Answer(response, [&](const auto& answer) {
    v1::MapInfo info = answer.info();
    if (info.has_grid()) {
      HideCostsOfImpassable(*info.mutable_grid()->mutable_terrains());
    } else if (info.has_mesh()) {
      HideCostsOfImpassable(*info.mutable_mesh()->mutable_terrains());
    }
    session.io().out << FactsText(info, session.table_width()) << (looks->empty() ? "" : "\n") << *looks;
  });
}

void AddCreateCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] = AddCommand(
      parent, session, "create", "Creates a map whose cells are all alike, or a waypoint graph", &CreateAny,
      "Examples:\n"
      "  waystar map create lake 200x100 --terrain '~=water:4' --fill '~'\n"
      "  waystar map create islands --graph islands.json\n");
  v1::CreateMapRequest& request = arguments.request;
  AddFields(command, request,
            {{"MAP", "map", "The new map's name"},
             {"SIZE", "blank", "Its width and height in cells, such as 64x48"}});
  command.get_option("MAP")->required();
  AddFile(command, "--graph", arguments.graph_file,
          "The nodes and edges of a waypoint graph: a file of a WaypointGraph in JSON; - is standard input");
  AddField(command, "--fill", request, "blank.fill",
           "The symbol of every cell: of a terrain, or '#' for an obstacle [.]", "SYMBOL");
  AddGridOptions(command, *request.mutable_grid());
  AddField(command, "--request-id", request, "request_id",
           "A name for this creation, such as a UUID: made again under the same name, it succeeds again",
           "ID");
}

}  // namespace

void AddMapCommands(CLI::App& parent, Session& session) {
  CLI::App& group = AddGroup(parent, "map", "Imports, shows and removes maps",
                             "Examples:\n  waystar map import arena.txt\n  waystar map show arena\n");
  AddImportCommand(group, session);
  AddCreateCommand(group, session);
  const auto list =
      AddCommand(group, session, "list", "Lists the server's maps", &ListMaps,
                 "Examples:\n  waystar map list\n  waystar map list --json | jq '.maps[].map'\n");
  list.app.add_flag("--names", list.arguments, "Only their names, one per line");
  const auto show = AddCommand(group, session, "show", "Shows the facts about a map and draws it", &Show,
                               "Examples:\n"
                               "  waystar map show arena\n"
                               "  waystar map show arena --json | jq .info.version.revision\n");
  AddMap(show.app, show.arguments.request);
  AddDrawOptions(show.app, show.arguments.draw);
  AddExportCommand(group, session);
  const auto remove =
      AddCommand(group, session, "delete", "Removes maps", &Delete,
                 "Examples:\n  waystar map delete arena\n  waystar map delete cave-1 cave-2\n");
  remove.app.add_option("MAP", remove.arguments.maps, "The names of the maps")
      ->required()
      ->type_name(kMapType);
  AddExpectedVersion(remove.app, remove.arguments.request);
}

}  // namespace waystar::cli
