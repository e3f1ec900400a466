#include <memory>

#include "absl/strings/str_format.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/field_arguments.h"
#include "client/cli/field_picture.h"

namespace waystar::cli {
namespace {

struct ReachArguments {
  v1::FindReachableRequest request;
  DrawOptions draw;
};

std::vector<v1::Cell> CellsOf(const v1::FindReachableResponse& answer) {
  const v1::Rectangle& bounds = answer.bounds();
  const size_t row_bytes = (static_cast<size_t>(bounds.width()) + 7) / 8;
  std::vector<v1::Cell> cells;
  for (int y = 0; y < bounds.height(); ++y) {
    for (int x = 0; x < bounds.width(); ++x) {
      const size_t byte = static_cast<size_t>(y) * row_bytes + static_cast<size_t>(x / 8);
      if (byte < answer.cells().size() &&
          (static_cast<unsigned char>(answer.cells()[byte]) >> (x % 8) & 1) != 0) {
        v1::Cell& cell = cells.emplace_back();
        cell.set_x(bounds.x() + x);
        cell.set_y(bounds.y() + y);
      }
    }
  }
  return cells;
}

ExitCode Reach(const ReachArguments& arguments, Session& session) {
  const auto answer = session.client().FindReachable(arguments.request);
  if (!answer.ok()) {
    return session.Fail(answer.status());
  }
  if (session.options().json) {
    session.PrintJson(*answer);
    return ExitCode::kOk;
  }
  ShowFieldPicture(arguments.request.map(), {.start = arguments.request.start(), .reached = CellsOf(*answer)},
                   answer->revision(), arguments.draw, session);
  const v1::Rectangle& bounds = answer->bounds();
  session.io().out << absl::StreamFormat("%d %s within reach, x %d to %d and y %d to %d (revision %d)\n",
                                         answer->count(), answer->count() == 1 ? "cell" : "cells", bounds.x(),
                                         bounds.x() + bounds.width() - 1, bounds.y(),
                                         bounds.y() + bounds.height() - 1, answer->revision());
  return ExitCode::kOk;
}

}  // namespace

void AddReachCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<ReachArguments>();
  v1::FindReachableRequest& request = arguments->request;
  CLI::App& command = *parent.add_subcommand("reach", "Finds and draws all cells within a cost of one");
  AddFieldQuestion(command, request);
  AddParsed(
      command, "START", &ParseCell, [&request](const v1::Cell& cell) { *request.mutable_start() = cell; },
      "The cell to start from: X,Y")
      ->required();
  AddMaxCost(command, request, "How much the way there may cost [no limit]");
  AddRegion(command, request, "Do not leave this part of the map [all of it]");
  command.add_flag_callback(
      "--towards", [&request] { request.set_towards_start(true); },
      "Cells from which START is within the cost, instead of the other way round");
  AddDrawOptions(command, arguments->draw);
  command.footer(
      "Examples:\n"
      "  waystar reach arena 10,5 --max-cost 6\n"
      "  waystar reach arena 10,5 --max-cost 6 --footprint 2 --no-picture\n");
  command.callback([arguments, &session] { session.exit_code = Reach(*arguments, session); });
}

}  // namespace waystar::cli
