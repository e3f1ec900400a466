#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/field_arguments.h"
#include "client/cli/field_picture.h"

namespace waystar::cli {
namespace {

struct FlowArguments {
  v1::ComputeFlowFieldRequest request;
  DrawOptions draw;
};

// Every cell of the field that has a direction, with it.
std::vector<std::pair<v1::Cell, v1::Direction>> ArrowsOf(const v1::ComputeFlowFieldResponse& answer) {
  const v1::Rectangle& region = answer.region();
  std::vector<std::pair<v1::Cell, v1::Direction>> arrows;
  for (size_t i = 0; i < answer.directions().size() && region.width() > 0; ++i) {
    const int direction = answer.directions()[i];
    if (direction == v1::DIRECTION_UNSPECIFIED || !v1::Direction_IsValid(direction)) {
      continue;
    }
    v1::Cell cell;
    cell.set_x(region.x() + static_cast<int>(i % static_cast<size_t>(region.width())));
    cell.set_y(region.y() + static_cast<int>(i / static_cast<size_t>(region.width())));
    arrows.emplace_back(cell, static_cast<v1::Direction>(direction));
  }
  return arrows;
}

// "Portals: 2,1 -stairs-> 4,1".
std::string PortalsText(const v1::ComputeFlowFieldResponse& answer) {
  return absl::StrCat(
      "Portals: ", absl::StrJoin(answer.portals(), ", ", [](std::string* out, const auto& step) {
        absl::StrAppend(out, FormatCell(step.cell()), " -", step.portal(), "-> ", FormatCell(step.arrival()));
      }));
}

ExitCode Flow(const FlowArguments& arguments, Session& session) {
  const auto answer = session.client().ComputeFlowField(arguments.request);
  if (!answer.ok()) {
    return session.Fail(answer.status());
  }
  if (session.options().json) {
    session.PrintJson(*answer);
    return ExitCode::kOk;
  }
  Overlay overlay{.arrows = ArrowsOf(*answer)};
  const size_t cells = overlay.arrows.size() + static_cast<size_t>(answer->portals_size());
  for (const v1::PortalStep& step : answer->portals()) {
    overlay.portals.push_back(step.cell());
  }
  overlay.goals.assign(arguments.request.goals().begin(), arguments.request.goals().end());
  ShowFieldPicture(arguments.request.map(), std::move(overlay), answer->revision(), arguments.draw, session);
  session.io().out << absl::StreamFormat("Ways to a goal from %d %s of %d x %d (revision %d)\n", cells,
                                         cells == 1 ? "cell" : "cells", answer->region().width(),
                                         answer->region().height(), answer->revision());
  if (answer->portals_size() > 0) {
    session.io().out << PortalsText(*answer) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace

void AddFlowCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<FlowArguments>();
  v1::ComputeFlowFieldRequest& request = arguments->request;
  CLI::App& command = *parent.add_subcommand(
      "flow", "Computes and draws which way each cell goes to the nearest of some goals");
  AddFieldQuestion(command, request);
  AddParsedList(
      command, "GOAL", &ParseCell, [&request](const v1::Cell& cell) { *request.add_goals() = cell; },
      "The cells to go to, X,Y")
      ->required();
  AddMaxCost(command, request, "Leave out cells whose way costs more [no limit]");
  AddRegion(command, request, "Look at this part of the map, and do not leave it [all of it]");
  AddDrawOptions(command, arguments->draw);
  command.footer(
      "In the picture / leads up to the right or down to the left, and \\ up to the left or down to the "
      "right:\n"
      "whichever comes nearer to a goal.\n\n"
      "Examples:\n"
      "  waystar flow arena 10,5\n"
      "  waystar flow arena 10,5 40,12 --region 0,0..63,31\n");
  command.callback([arguments, &session] { session.exit_code = Flow(*arguments, session); });
}

}  // namespace waystar::cli
