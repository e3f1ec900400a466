#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/field_arguments.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

std::string Entry(double cost) { return cost < 0 ? "-" : absl::StrFormat("%.10g", cost); }

ExitCode Matrix(const v1::ComputeCostMatrixRequest& request, Session& session) {
  const auto answer = session.client().ComputeCostMatrix(request);
  if (!answer.ok()) {
    return session.Fail(answer.status());
  }
  if (session.options().json) {
    session.PrintJson(*answer);
    return ExitCode::kOk;
  }
  std::vector<TableRow> rows(1, {"FROM"});
  for (const v1::Cell& target : request.targets()) {
    rows.front().push_back(FormatCell(target));
  }
  int next = 0;
  for (const v1::Cell& source : request.sources()) {
    TableRow& row = rows.emplace_back(1, FormatCell(source));
    for (int i = 0; i < request.targets_size() && next < answer->costs_size(); ++i) {
      row.push_back(Entry(answer->costs(next++)));
    }
  }
  session.io().out << FormatTable(rows, session.table_width());
  return ExitCode::kOk;
}

}  // namespace

void AddMatrixCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::ComputeCostMatrixRequest>();
  CLI::App& command =
      *parent.add_subcommand("matrix", "Tells what it costs to go from each of some cells to each of others");
  AddFieldQuestion(command, *request);
  AddParsedList(
      command, "--from", &ParseCell, [request](const v1::Cell& cell) { *request->add_sources() = cell; },
      "The cells to start from, X,Y")
      ->required();
  AddParsedList(
      command, "--to", &ParseCell, [request](const v1::Cell& cell) { *request->add_targets() = cell; },
      "The cells to go to, X,Y")
      ->required();
  command.footer(
      "A - stands where no path leads.\n\n"
      "Examples:\n"
      "  waystar matrix arena --from 1,1 9,9 --to 60,40 12,7 3,30\n");
  command.callback([request, &session] { session.exit_code = Matrix(*request, session); });
}

}  // namespace waystar::cli
