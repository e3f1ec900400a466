#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/draw/hex_cells.h"
#include "client/cli/graph_text.h"
#include "client/cli/map_picture.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

struct ShowArguments {
  std::string map;
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
  if (profile.no_diagonals()) {
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

std::string Facts(const v1::MapInfo& info, std::size_t width) {
  if (info.has_graph()) {
    return GraphFacts(info, width);
  }
  if (info.has_mesh()) {
    return MeshFacts(info, width);
  }
  const v1::GridInfo& grid = info.grid();
  std::vector<TableRow> rows = {
      {"map", info.map()},
      {"size", absl::StrCat(grid.width(), " x ", grid.height(), " cells")},
      {"revision", absl::StrCat(info.version().revision())},
      {"digest", DigestText(info.digest())},
      {"created", absl::FormatTime("%Y-%m-%d %H:%M:%S UTC",
                                   absl::FromUnixSeconds(info.create_time().seconds()), absl::UTCTimeZone())},
      {"neighbours", NeighboursText(grid)},
  };
  if (grid.has_hexagons()) {
    rows.push_back({"hexagons", LayoutText(grid.hexagons().layout())});
  } else {
    rows.push_back({"diagonal cost", absl::StrCat(grid.squares().diagonal_cost())});
  }
  rows.push_back({"walkable", absl::StrCat(grid.walkable_cells(), " cells")});
  rows.push_back({"obstacles", absl::StrCat(grid.obstacle_cells(), " cells")});
  rows.push_back({"memory", absl::StrCat(info.memory_bytes(), " bytes")});
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
  return FormatTable(rows, width);
}

ExitCode ShowFacts(const ShowArguments& arguments, Session& session) {
  v1::GetMapRequest request;
  request.set_map(arguments.map);
  return session.Answer(session.client().GetMap(request), [&](const auto& response) {
    session.io().out << Facts(response.info(), session.table_width());
  });
}

ExitCode ShowNodes(const v1::MapInfo& info, Session& session) {
  const auto table = NodeTable(session.client(), info.map(), session.table_width());
  if (!table.ok()) {
    return session.Fail(table.status());
  }
  session.io().out << Facts(info, session.table_width()) << "\n" << *table;
  return ExitCode::kOk;
}

ExitCode ShowMesh(const v1::MapInfo& info, Session& session) {
  v1::RenderMapRequest request;
  request.set_map(info.map());
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  const auto picture = session.client().RenderMap(request);
  if (!picture.ok()) {
    return session.Fail(picture.status());
  }
  session.io().out << Facts(info, session.table_width()) << "\n" << picture->image();
  return ExitCode::kOk;
}

ExitCode ShowPicture(const ShowArguments& arguments, Session& session) {
  v1::ExportMapRequest request;
  request.set_map(arguments.map);
  request.set_format(v1::MAP_FORMAT_TEXT);
  const auto map = session.client().ExportMap(request);
  if (!map.ok() && client::ReasonOf(map.status()) == "WRONG_MAP_KIND") {
    v1::GetMapRequest other;
    other.set_map(arguments.map);
    const auto response = session.client().GetMap(other);
    if (!response.ok()) {
      return session.Fail(response.status());
    }
    return response->info().has_mesh() ? ShowMesh(response->info(), session)
                                       : ShowNodes(response->info(), session);
  }
  if (!map.ok()) {
    return session.Fail(map.status());
  }
  const auto picture = MapPicture(*map, {}, WindowFor(arguments.draw, session.io()), session.UsesColor());
  if (!picture.ok()) {
    return session.Fail(picture.status());
  }
  session.io().out << Facts(map->header.info(), session.table_width()) << "\n" << *picture;
  return ExitCode::kOk;
}

ExitCode Show(const ShowArguments& arguments, Session& session) {
  const bool draws = arguments.draw.picture && !session.options().json;
  return draws ? ShowPicture(arguments, session) : ShowFacts(arguments, session);
}

}  // namespace

void AddShowCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<ShowArguments>();
  CLI::App& command =
      AddCommand(parent, session, "show", "Shows the facts about a map and draws it", arguments, &Show);
  AddMap(command, arguments->map);
  AddDrawOptions(command, arguments->draw);
  command.footer(
      "Examples:\n"
      "  waystar map show arena\n"
      "  waystar map show arena --no-picture\n"
      "  waystar map show arena --json | jq .info.revision\n");
}

}  // namespace waystar::cli
