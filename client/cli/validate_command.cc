#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/query_arguments.h"

namespace waystar::cli {
namespace {

ExitCode Validate(const v1::ValidatePathRequest& request, Session& session) {
  const auto response = session.client().ValidatePath(request);
  if (!response.ok()) {
    return session.Fail(response.status());
  }
  if (session.options().json) {
    session.PrintJson(*response);
  } else if (response->walkable()) {
    session.io().out << absl::StreamFormat("Walkable at cost %.6g, at revision %d.\n", response->cost(),
                                           response->revision());
  } else {
    session.io().out << absl::StreamFormat(
        "Blocked at %s, on the way to point %d, after cost %.6g, at revision %d.\n",
        FormatCell(response->blocked_cell()), response->blocked_index(), response->cost(),
        response->revision());
  }
  return response->walkable() ? ExitCode::kOk : ExitCode::kNoPath;
}

}  // namespace

void AddValidateCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::ValidatePathRequest>();
  CLI::App& command =
      *parent.add_subcommand("validate", "Tells whether a path can still be walked, and what it costs");
  AddMap(command, *request->mutable_map());
  AddParsedList(
      command, "POINTS", &ParseCell, [request](const v1::Cell& cell) { *request->add_points() = cell; },
      "The cells of the path, X,Y: each of them, or those that straight lines lead between")
      ->required();
  AddCornerRule(command, [request](v1::CornerRule rule) { request->set_corner_rule(rule); });
  AddFootprint(command, [request](int32_t cells) { request->set_footprint(cells); });
  AddProfile(command, [request](const std::string& name) { request->set_profile_name(name); });
  command.add_flag_callback(
      "--smoothed", [request] { request->set_path_form(v1::PATH_FORM_SMOOTHED); },
      "The path is a smoothed one, whose lines cost their length");
  AddOverlay(command, [request]() -> v1::Overlay& { return *request->mutable_overlay(); });
  command.footer(
      "Points are counted from 0.\n\n"
      "Examples:\n"
      "  waystar validate arena 1,1 1,9 4,12\n"
      "  waystar validate arena 1,1 60,40 --smoothed --footprint 2\n");
  command.callback([request, &session] { session.exit_code = Validate(*request, session); });
}

}  // namespace waystar::cli
