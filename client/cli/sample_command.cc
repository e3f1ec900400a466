#include <cstdint>
#include <memory>

#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/field_arguments.h"

namespace waystar::cli {
namespace {

ExitCode Sample(const v1::SampleCellsRequest& request, Session& session) {
  const auto answer = session.client().SampleCells(request);
  if (!answer.ok()) {
    return session.Fail(answer.status());
  }
  if (session.options().json) {
    session.PrintJson(*answer);
    return ExitCode::kOk;
  }
  for (const v1::Cell& cell : answer->cells()) {
    session.io().out << FormatCell(cell) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace

void AddSampleCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::SampleCellsRequest>();
  request->set_count(1);
  CLI::App& command = *parent.add_subcommand("sample", "Draws random cells that an agent can be on");
  AddFieldQuestion(command, *request);
  command
      .add_option_function<int32_t>(
          "--count", [request](int32_t count) { request->set_count(count); }, "How many cells to draw [1]")
      ->type_name("N");
  command
      .add_option_function<uint64_t>(
          "--seed", [request](uint64_t seed) { request->set_seed(seed); },
          "The same seed draws the same cells, as long as the map does not change [0]")
      ->type_name("N");
  AddParsed(
      command, "--reachable-from", &ParseCell,
      [request](const v1::Cell& cell) { *request->mutable_reachable_from() = cell; },
      "Only cells that a path leads to from here: X,Y");
  AddRegion(command, *request, "Only cells of this part of the map [all of it]");
  command.add_flag_callback(
      "--distinct", [request] { request->set_distinct(true); }, "No cell twice");
  command.footer(
      "Examples:\n"
      "  waystar sample arena --count 5 --seed 7\n"
      "  waystar sample arena --count 5 --distinct --reachable-from 1,1 --region 0,0..20,20\n");
  command.callback([request, &session] { session.exit_code = Sample(*request, session); });
}

}  // namespace waystar::cli
