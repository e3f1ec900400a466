#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"

namespace waystar::cli {
namespace {

struct EditCommand {
  const char* name;
  const char* summary;
  v1::Shape* (v1::Edit::*shape)();
};

constexpr EditCommand kEditCommands[] = {
    {"block", "Puts obstacles on cells", &v1::Edit::mutable_block},
    {"unblock", "Takes the obstacles off cells", &v1::Edit::mutable_unblock},
};

std::string Cells(int64_t count) { return absl::StrCat(count, count == 1 ? " cell" : " cells"); }

ExitCode Update(const v1::UpdateObstaclesRequest& request, Session& session) {
  const auto response = session.client().UpdateObstacles(request);
  if (!response.ok()) {
    return session.Fail(response.status());
  }
  if (session.options().json) {
    session.PrintJson(*response);
    return ExitCode::kOk;
  }
  session.io().out << request.map() << " is now at revision " << response->revision() << ": "
                   << Cells(response->changed_cells()) << " changed";
  if (response->clipped_cells() > 0) {
    session.io().out << ", " << Cells(response->clipped_cells()) << " off the map left out";
  }
  session.io().out << ".\n";
  return ExitCode::kOk;
}

void AddEditCommand(CLI::App& parent, Session& session, const EditCommand& edit) {
  const auto request = std::make_shared<v1::UpdateObstaclesRequest>();
  v1::Shape* const shape = (request->add_edits()->*edit.shape)();
  CLI::App& command = *parent.add_subcommand(edit.name, edit.summary);
  AddMap(command, *request->mutable_map());
  AddParsedList(
      command, "CELLS", &ParseShape, [shape](const v1::Shape& part) { shape->MergeFrom(part); },
      "Cells X,Y; rectangles by two opposite corners X,Y..X,Y or by the top left cell and the size X,Y+WxH")
      ->required();
  command
      .add_option_function<uint64_t>(
          "--expect-revision", [request](uint64_t revision) { request->set_expected_revision(revision); },
          "Only if this is the map's latest revision")
      ->type_name("N");
  command.footer(absl::StrCat("All cells change at once, as one new revision.\n\nExamples:\n  waystar ",
                              edit.name, " arena 3,4\n  waystar ", edit.name,
                              " arena 3,4..6,9 10,2+1x8\n  waystar ", edit.name,
                              " arena 3,4 --expect-revision 7\n"));
  command.callback([request, &session] { session.exit_code = Update(*request, session); });
}

}  // namespace

void AddEditCommands(CLI::App& parent, Session& session) {
  for (const EditCommand& edit : kEditCommands) {
    AddEditCommand(parent, session, edit);
  }
}

}  // namespace waystar::cli
