#include <memory>
#include <string>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"

namespace waystar::cli {
namespace {

ExitCode Create(const v1::CreateMapRequest& request, Session& session) {
  const auto response = session.client().CreateMap(request);
  if (!response.ok()) {
    return session.Fail(response.status());
  }
  if (session.options().json) {
    session.PrintJson(*response);
    return ExitCode::kOk;
  }
  const v1::GridInfo& grid = response->info().grid();
  session.io().out << "Created " << response->info().map() << ": " << grid.width() << " x " << grid.height()
                   << " cells, revision " << response->info().revision() << ".\n";
  return ExitCode::kOk;
}

}  // namespace

void AddCreateCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::CreateMapRequest>();
  CLI::App& command = *parent.add_subcommand("create", "Creates a map whose cells are all alike");
  command
      .add_option_function<std::string>(
          "MAP", [request](const std::string& map) { request->set_map(map); }, "The new map's name")
      ->required();
  AddParsed(
      command, "SIZE", &ParseSize,
      [request](const v1::BlankGrid& size) { request->mutable_blank()->MergeFrom(size); },
      "Its width and height in cells, such as 64x48")
      ->required();
  command
      .add_option_function<std::string>(
          "--fill", [request](const std::string& fill) { request->mutable_blank()->set_fill(fill); },
          "The symbol of every cell: of a terrain, or '#' for an obstacle [.]")
      ->type_name("SYMBOL");
  AddGridOptions(command, *request->mutable_grid());
  command.footer(
      "Examples:\n"
      "  waystar map create field 64x48\n"
      "  waystar map create lake 200x100 --terrain '~=water:4' --fill '~'\n");
  command.callback([request, &session] { session.exit_code = Create(*request, session); });
}

}  // namespace waystar::cli
