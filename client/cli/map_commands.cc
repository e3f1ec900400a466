#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/completion.h"
#include "client/cli/files.h"
#include "client/cli/map_picture.h"
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

TableRow Describe(const v1::MapInfo& info) {
  const v1::GridInfo& grid = info.grid();
  std::string size = absl::StrCat(grid.width(), " x ", grid.height());
  std::string walkable = absl::StrCat(grid.walkable_cells());
  std::string obstacles = absl::StrCat(grid.obstacle_cells());
  if (info.unloaded() || info.has_graph() || info.has_mesh()) {
    size = info.unloaded()    ? "not in memory"
           : info.has_graph() ? absl::StrCat(info.graph().nodes(), " nodes")
                              : absl::StrCat(info.mesh().polygons(), " polygons");
    walkable = "-";
    obstacles = info.has_graph() && !info.unloaded() ? absl::StrCat(info.graph().named_obstacles()) : "-";
  }
  return {info.map(), size, absl::StrCat(info.version().revision()), walkable, obstacles};
}

ExitCode ListMaps(const bool& names_only, Session& session) {
  const auto all = AllPages(session.client(), v1::ListMapsRequest(), &client::Client::ListMaps);
  return session.Answer(all, [&](const v1::ListMapsResponse& answer) {
    std::vector<TableRow> rows = {{"MAP", "SIZE", "REVISION", "WALKABLE", "OBSTACLES"}};
    for (const v1::MapInfo& info : answer.maps()) {
      rows.push_back(Describe(info));
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

std::string ProfileText(const v1::NamedProfile& named) {
  const v1::MovementProfile& profile = named.profile();
  std::string text = named.name();
  if (profile.footprint() > 1) {
    absl::StrAppend(&text, ", ", profile.footprint(), " x ", profile.footprint(), " cells");
  }
  for (const v1::TerrainCost& terrain : profile.terrain_costs()) {
    absl::StrAppend(&text, ", ", terrain.terrain(), " cost ", terrain.cost());
  }
  for (const std::string& terrain : profile.forbidden_terrains()) {
    absl::StrAppend(&text, ", ", terrain, " forbidden");
  }
  if (profile.has_diagonals() && !profile.diagonals()) {
    text += ", no diagonals";
  }
  return text;
}

std::string NeighboursText(const v1::GridInfo& grid) {
  if (grid.has_hexagons()) {
    return "6";
  }
  return grid.squares().connectivity() == v1::CONNECTIVITY_FOUR ? "4" : "8";
}

// Such as "odd rows".
std::string LayoutText(v1::HexLayout layout) {
  absl::string_view name = v1::HexLayout_Name(layout);
  absl::ConsumePrefix(&name, "HEX_LAYOUT_");
  return absl::AsciiStrToLower(absl::StrReplaceAll(name, {{"_", " "}}));
}

// Adds what a map of squares or hexagons has besides its head.
void AddGridFacts(const v1::GridInfo& grid, std::vector<TableRow>& rows) {
  rows.push_back({"neighbours", NeighboursText(grid)});
  if (grid.has_hexagons()) {
    rows.push_back({"hexagons", LayoutText(grid.hexagons().layout())});
  } else {
    rows.push_back({"diagonal cost", absl::StrCat(grid.squares().diagonal_cost())});
  }
  rows.push_back({"walkable", absl::StrCat(grid.walkable_cells(), " cells")});
  rows.push_back({"obstacles", absl::StrCat(grid.obstacle_cells(), " cells")});
}

void AddGridDetails(const v1::GridInfo& grid, std::vector<TableRow>& rows) {
  for (const v1::Terrain& terrain : grid.terrains()) {
    const std::string cost = terrain.impassable() ? "impassable" : absl::StrCat("cost ", terrain.cost());
    rows.push_back({"terrain", absl::StrCat(terrain.symbol(), " ", terrain.name(), ", ", cost)});
  }
  for (const v1::NamedProfile& profile : grid.profiles()) {
    rows.push_back({"profile", ProfileText(profile)});
  }
  const v1::Position& origin = grid.origin();
  if (origin.x() != 0 || origin.y() != 0 || origin.z() != 0 ||
      (grid.cell_size() != 0 && grid.cell_size() != 1)) {
    rows.push_back({"origin", absl::StrCat(origin.x(), ",", origin.y(), ",", origin.z())});
    rows.push_back({"cell size", absl::StrCat(grid.cell_size())});
  }
}

std::string Facts(const v1::MapInfo& info, std::size_t width) {
  const v1::GridInfo& grid = info.grid();
  const v1::WaypointGraphInfo& graph = info.graph();
  const v1::MeshInfo& mesh = info.mesh();
  std::vector<TableRow> rows = {
      {"map", info.map()},
      {"size", SizeText(info)},
      {"revision", absl::StrCat(info.version().revision())},
      {"digest", DigestText(info.digest())},
      {"created", absl::FormatTime("%Y-%m-%d %H:%M:%S UTC",
                                   absl::FromUnixSeconds(info.create_time().seconds()), absl::UTCTimeZone())},
  };
  if (info.has_graph()) {
    rows.push_back({"obstacles", absl::StrCat(graph.named_obstacles())});
  } else if (info.has_mesh()) {
    rows.insert(rows.end(), {{"from", FormatPosition(mesh.low())}, {"to", FormatPosition(mesh.high())}});
  } else {
    AddGridFacts(grid, rows);
  }
  rows.push_back({"memory", absl::StrCat(info.memory_bytes(), " bytes")});
  if (info.has_graph() && graph.max_distance() > 0.0) {
    rows.push_back({"connected", absl::StrFormat("by sight, up to %.10g", graph.max_distance())});
  }
  if (info.has_graph() && graph.tags_size() > 0) {
    rows.push_back({"tags", absl::StrJoin(graph.tags(), " ")});
  }
  if (mesh.agent_radius() > 0.0) {
    rows.push_back({"agent radius", absl::StrCat(mesh.agent_radius())});
  }
  if (mesh.named_obstacles() > 0) {
    rows.push_back({"obstacles", absl::StrCat(mesh.named_obstacles())});
  }
  if (info.has_mesh() && mesh.portals() > 0) {
    rows.push_back({"portals", absl::StrCat(mesh.portals())});
  }
  if (!info.has_graph() && !info.has_mesh()) {
    AddGridDetails(grid, rows);
  }
  return FormatTable(rows, width);
}

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

ExitCode ShowFacts(const ShowArguments& arguments, Session& session) {
  return session.Answer(session.client().GetMap(arguments.request), [&](const auto& response) {
    session.io().out << Facts(response.info(), session.table_width());
  });
}

// Shows the facts, and below them a picture, or the nodes of a waypoint graph.
ExitCode ShowAll(const ShowArguments& arguments, Session& session) {
  const std::string& map = arguments.request.map();
  const absl::StatusOr<v1::MapInfo>& info = session.InfoOf(map);
  if (!info.ok()) {
    return session.Fail(info.status());
  }
  absl::StatusOr<std::string> looks;
  if (info->has_graph()) {
    looks = NodeTable(session.client(), map, session.table_width());
  } else {
    MapPicture picture;
    picture.request.set_map(map);
    const absl::StatusOr<DrawnPicture> drawn = DrawPicture(picture, arguments.draw, session);
    looks = drawn.ok() ? absl::StatusOr<std::string>(drawn->text) : drawn.status();
  }
  if (!looks.ok()) {
    return session.Fail(looks.status());
  }
  session.io().out << Facts(*info, session.table_width()) << "\n" << *looks;
  return ExitCode::kOk;
}

ExitCode Show(const ShowArguments& arguments, Session& session) {
  const bool draws = arguments.draw.picture && !session.options().json;
  return draws ? ShowAll(arguments, session) : ShowFacts(arguments, session);
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
                               "  waystar map show arena --json | jq .info.revision\n");
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
