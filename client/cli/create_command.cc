#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/graph_text.h"
#include "client/cli/input.h"

namespace waystar::cli {
namespace {

struct CreateArguments {
  v1::CreateMapRequest request;
  // Of a waypoint graph; empty for a grid.
  std::string graph_file;
};

ExitCode Create(const v1::CreateMapRequest& request, Session& session) {
  const auto response = session.client().CreateMap(request);
  if (!response.ok()) {
    return session.Fail(response.status());
  }
  if (session.options().json) {
    session.PrintJson(*response);
    return ExitCode::kOk;
  }
  if (response->info().has_graph()) {
    const v1::WaypointGraphInfo& graph = response->info().graph();
    session.io().out << "Created " << response->info().map() << ": " << graph.nodes() << " nodes, "
                     << graph.edges() << " one-way edges, revision " << response->info().revision() << ".\n";
    return ExitCode::kOk;
  }
  const v1::GridInfo& grid = response->info().grid();
  session.io().out << "Created " << response->info().map() << ": " << grid.width() << " x " << grid.height()
                   << " cells, revision " << response->info().revision() << ".\n";
  return ExitCode::kOk;
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

}  // namespace

void AddCreateCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<CreateArguments>();
  v1::CreateMapRequest* const request = &arguments->request;
  CLI::App& command =
      *parent.add_subcommand("create", "Creates a map whose cells are all alike, or a waypoint graph");
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
  command.footer(
      "Examples:\n"
      "  waystar map create field 64x48\n"
      "  waystar map create lake 200x100 --terrain '~=water:4' --fill '~'\n"
      "  waystar map create islands --graph islands.json\n");
  command.callback([arguments, &session] { session.exit_code = CreateAny(*arguments, session); });
}

}  // namespace waystar::cli
