#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/field_arguments.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

ExitCode CheckReachability(const v1::CheckReachabilityRequest& request, Session& session) {
  if (!request.pairs().empty() && !request.pairs().rbegin()->has_goal()) {
    return session.FailUsage("cells come in pairs, START GOAL: the last one has no GOAL");
  }
  const auto answer = session.client().CheckReachability(request);
  if (!answer.ok()) {
    return session.Fail(answer.status());
  }
  const bool are_all =
      std::find(answer->reachable().begin(), answer->reachable().end(), false) == answer->reachable().end();
  const ExitCode code = are_all ? ExitCode::kOk : ExitCode::kNoPath;
  if (session.options().json) {
    session.PrintJson(*answer);
    return code;
  }
  std::vector<TableRow> rows = {{"START", "GOAL", "REACHABLE"}};
  for (int i = 0; i < request.pairs_size() && i < answer->reachable_size(); ++i) {
    rows.push_back({FormatCell(request.pairs(i).start()), FormatCell(request.pairs(i).goal()),
                    answer->reachable(i) ? "yes" : "no"});
  }
  session.io().out << FormatTable(rows, session.table_width());
  return code;
}

}  // namespace

void AddReachableCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::CheckReachabilityRequest>();
  CLI::App& command = *parent.add_subcommand(
      "reachable", "Tells whether paths lead between pairs of cells, without a search");
  AddFieldQuestion(command, *request);
  AddParsedList(
      command, "CELLS", &ParseCell,
      [request](const v1::Cell& cell) {
        const bool is_goal = !request->pairs().empty() && !request->pairs().rbegin()->has_goal();
        *(is_goal ? request->mutable_pairs()->rbegin()->mutable_goal()
                  : request->add_pairs()->mutable_start()) = cell;
      },
      "START GOAL, X,Y each; any number of such pairs")
      ->required();
  command.footer(
      "Examples:\n"
      "  waystar reachable arena 1,1 60,40\n"
      "  waystar reachable arena 1,1 60,40 9,30 12,7 --footprint 2\n");
  command.callback([request, &session] { session.exit_code = CheckReachability(*request, session); });
}

}  // namespace waystar::cli
