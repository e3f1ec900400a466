#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

constexpr int kMapsPerPage = 1000;

absl::StatusOr<v1::ListMapsResponse> AllMaps(const client::Client& client) {
  v1::ListMapsResponse all;
  v1::ListMapsRequest request;
  request.set_page_size(kMapsPerPage);
  do {
    auto page = client.ListMaps(request);
    if (!page.ok()) {
      return page.status();
    }
    all.mutable_maps()->MergeFrom(page->maps());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return all;
}

TableRow Describe(const v1::MapInfo& info) {
  if (info.has_graph()) {
    const v1::WaypointGraphInfo& graph = info.graph();
    return {info.map(), absl::StrCat(graph.nodes(), " nodes"), absl::StrCat(info.revision()), "-",
            absl::StrCat(graph.named_obstacles())};
  }
  const v1::GridInfo& grid = info.grid();
  return {info.map(), absl::StrCat(grid.width(), " x ", grid.height()), absl::StrCat(info.revision()),
          absl::StrCat(grid.walkable_cells()), absl::StrCat(grid.obstacle_cells())};
}

ExitCode List(bool names_only, Session& session) {
  const auto maps = AllMaps(session.client());
  if (!maps.ok()) {
    return session.Fail(maps.status());
  }
  if (session.options().json) {
    session.PrintJson(*maps);
    return ExitCode::kOk;
  }
  if (names_only) {
    for (const v1::MapInfo& info : maps->maps()) {
      session.io().out << info.map() << "\n";
    }
    return ExitCode::kOk;
  }
  std::vector<TableRow> rows = {{"MAP", "SIZE", "REVISION", "WALKABLE", "OBSTACLES"}};
  for (const v1::MapInfo& info : maps->maps()) {
    rows.push_back(Describe(info));
  }
  session.io().out << FormatTable(rows, session.table_width());
  return ExitCode::kOk;
}

ExitCode Delete(const std::vector<std::string>& maps, Session& session) {
  ExitCode result = ExitCode::kOk;
  for (const std::string& map : maps) {
    v1::DeleteMapRequest request;
    request.set_map(map);
    const auto response = session.client().DeleteMap(request);
    if (!response.ok()) {
      const ExitCode failure = session.Fail(response.status());
      result = result == ExitCode::kOk ? failure : result;
    } else if (session.options().json) {
      session.PrintJson(*response);
    } else {
      session.io().out << "Deleted " << map << " at revision " << response->revision() << ".\n";
    }
  }
  return result;
}

void AddListCommand(CLI::App& parent, Session& session) {
  const auto names_only = std::make_shared<bool>(false);
  CLI::App& command = *parent.add_subcommand("list", "Lists the server's maps");
  command.add_flag("--names", *names_only, "Only their names, one per line");
  command.footer("Examples:\n  waystar map list\n  waystar map list --json | jq '.maps[].map'\n");
  command.callback([names_only, &session] { session.exit_code = List(*names_only, session); });
}

void AddDeleteCommand(CLI::App& parent, Session& session) {
  const auto maps = std::make_shared<std::vector<std::string>>();
  CLI::App& command = *parent.add_subcommand("delete", "Removes maps");
  command.add_option("MAP", *maps, "The names of the maps")->required()->type_name(kMapType);
  command.footer("Examples:\n  waystar map delete arena\n  waystar map delete cave-1 cave-2\n");
  command.callback([maps, &session] { session.exit_code = Delete(*maps, session); });
}

}  // namespace

void AddMapCommands(CLI::App& parent, Session& session) {
  CLI::App& group = *parent.add_subcommand("map", "Imports, shows and removes maps");
  group.require_subcommand(1);
  group.footer("Examples:\n  waystar map import arena.txt\n  waystar map show arena\n");
  AddImportCommand(group, session);
  AddCreateCommand(group, session);
  AddListCommand(group, session);
  AddShowCommand(group, session);
  AddExportCommand(group, session);
  AddDeleteCommand(group, session);
}

}  // namespace waystar::cli
