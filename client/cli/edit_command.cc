#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/shape_argument.h"
#include "client/cli/update.h"

namespace waystar::cli {
namespace {

using RequestPtr = std::shared_ptr<v1::UpdateObstaclesRequest>;

constexpr char kAtOnce[] = "All cells change at once, as one new revision.\n\nExamples:\n";

struct EditCommand {
  const char* name;
  const char* summary;
  v1::Shape* (v1::Edit::*shape)();
};

constexpr EditCommand kEditCommands[] = {
    {"block", "Puts obstacles on cells", &v1::Edit::mutable_block},
    {"unblock", "Takes the obstacles off cells", &v1::Edit::mutable_unblock},
};

// The last arguments of a command, and what it does.
void AddCells(CLI::App& command, Session& session, const RequestPtr& request, v1::Shape& shape) {
  AddParsedList(
      command, "CELLS", &ParseShape, [&shape](const v1::Shape& part) { shape.MergeFrom(part); }, kShapeHelp)
      ->required();
  RunsUpdate(command, request, session);
}

void AddEditCommand(CLI::App& parent, Session& session, const EditCommand& edit) {
  const auto request = std::make_shared<v1::UpdateObstaclesRequest>();
  v1::Shape& shape = *(request->add_edits()->*edit.shape)();
  CLI::App& command = *parent.add_subcommand(edit.name, edit.summary);
  AddMap(command, *request->mutable_map());
  AddCells(command, session, request, shape);
  command.footer(absl::StrCat(kAtOnce, "  waystar ", edit.name, " arena 3,4\n  waystar ", edit.name,
                              " arena 3,4..6,9 10,2+1x8\n  waystar ", edit.name,
                              " arena disc:20,8,3.5 line:0,0..9,4\n  waystar ", edit.name,
                              " arena 3,4 --expect-revision 7\n"));
}

void AddTerrainCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::UpdateObstaclesRequest>();
  v1::SetTerrain& edit = *request->add_edits()->mutable_set_terrain();
  CLI::App& command = *parent.add_subcommand("terrain", "Gives cells another terrain");
  AddMap(command, *request->mutable_map());
  command
      .add_option_function<std::string>(
          "SYMBOL", [&edit](const std::string& symbol) { edit.set_terrain(symbol); },
          "The symbol of one of the map's terrains; `waystar map show` tells them")
      ->required();
  AddCells(command, session, request, *edit.mutable_shape());
  command.footer(absl::StrCat("Obstacles on the cells stay. ", kAtOnce,
                              "  waystar terrain arena '~' 3,4..6,9\n"
                              "  waystar terrain arena . polygon:0,0..8,0..4,6\n"));
}

}  // namespace

void AddEditCommands(CLI::App& parent, Session& session) {
  for (const EditCommand& edit : kEditCommands) {
    AddEditCommand(parent, session, edit);
  }
  AddTerrainCommand(parent, session);
}

}  // namespace waystar::cli
