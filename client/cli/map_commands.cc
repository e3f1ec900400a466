#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/files.h"
#include "client/cli/graph_text.h"
#include "client/cli/known_version.h"
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
  absl::StatusOr<v1::WaypointGraph> graph = json.ok() ? ParseGraph(*json) : json.status();
  if (!graph.ok()) {
    return session.FailUsage(
        absl::StrCat("cannot read ", arguments.graph_file, ": ", graph.status().message()));
  }
  request.mutable_graph()->Swap(&*graph);
  return Create(request, session);
}

TableRow Describe(const v1::MapInfo& info) {
  if (info.unloaded()) {
    return {info.map(), "not in memory", absl::StrCat(info.version().revision()), "-", "-"};
  }
  if (info.has_graph()) {
    const v1::WaypointGraphInfo& graph = info.graph();
    return {info.map(), absl::StrCat(graph.nodes(), " nodes"), absl::StrCat(info.version().revision()), "-",
            absl::StrCat(graph.named_obstacles())};
  }
  if (info.has_mesh()) {
    return {info.map(), absl::StrCat(info.mesh().polygons(), " polygons"),
            absl::StrCat(info.version().revision()), "-", "-"};
  }
  const v1::GridInfo& grid = info.grid();
  return {info.map(), absl::StrCat(grid.width(), " x ", grid.height()),
          absl::StrCat(info.version().revision()), absl::StrCat(grid.walkable_cells()),
          absl::StrCat(grid.obstacle_cells())};
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
  std::vector<std::string> maps;
  std::optional<v1::Version> expected;
};

ExitCode Delete(const DeleteArguments& arguments, Session& session) {
  if (arguments.expected && arguments.maps.size() > 1) {
    return session.FailUsage("--expect-revision and --expect-epoch are about one MAP");
  }
  ExitCode result = ExitCode::kOk;
  for (const std::string& map : arguments.maps) {
    v1::DeleteMapRequest request;
    request.set_map(map);
    if (arguments.expected) {
      *request.mutable_expected_version() = *arguments.expected;
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

void AddListCommand(CLI::App& parent, Session& session) {
  const auto names_only = std::make_shared<bool>(false);
  CLI::App& command = AddCommand(parent, session, "list", "Lists the server's maps", names_only, &ListMaps);
  command.add_flag("--names", *names_only, "Only their names, one per line");
  command.footer("Examples:\n  waystar map list\n  waystar map list --json | jq '.maps[].map'\n");
}

void AddDeleteCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<DeleteArguments>();
  CLI::App& command = AddCommand(parent, session, "delete", "Removes maps", arguments, &Delete);
  command.add_option("MAP", arguments->maps, "The names of the maps")->required()->type_name(kMapType);
  AddExpectedVersion(command, [arguments]() -> v1::Version& {
    return arguments->expected ? *arguments->expected : arguments->expected.emplace();
  });
  command.footer("Examples:\n  waystar map delete arena\n  waystar map delete cave-1 cave-2\n");
}

void AddCreateCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<CreateArguments>();
  v1::CreateMapRequest* const request = &arguments->request;
  CLI::App& command =
      AddCommand(parent, session, "create", "Creates a map whose cells are all alike, or a waypoint graph",
                 arguments, &CreateAny);
  command
      .add_option_function<std::string>(
          "MAP", [request](const std::string& map) { request->set_map(map); }, "The new map's name")
      ->required();
  AddParsed(
      command, "SIZE", &ParseSize,
      [request](const v1::BlankGrid& size) { request->mutable_blank()->MergeFrom(size); },
      "Its width and height in cells, such as 64x48");
  command
      .add_option(
          "--graph", arguments->graph_file,
          "The nodes and edges of a waypoint graph: a file of a WaypointGraph in JSON; - is standard input")
      ->type_name("FILE");
  command
      .add_option_function<std::string>(
          "--fill", [request](const std::string& fill) { request->mutable_blank()->set_fill(fill); },
          "The symbol of every cell: of a terrain, or '#' for an obstacle [.]")
      ->type_name("SYMBOL");
  AddGridOptions(command, *request->mutable_grid());
  command
      .add_option(
          "--request-id", *request->mutable_request_id(),
          "A name for this creation, such as a UUID: made again under the same name, it succeeds again")
      ->type_name("ID");
  command.footer(
      "Examples:\n"
      "  waystar map create field 64x48\n"
      "  waystar map create lake 200x100 --terrain '~=water:4' --fill '~'\n"
      "  waystar map create islands --graph islands.json\n");
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
