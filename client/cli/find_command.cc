#include <memory>
#include <string>
#include <vector>

#include "client/cli/answer_picture.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/draw_options.h"
#include "client/cli/find_text.h"
#include "client/cli/graph_text.h"
#include "client/cli/query_arguments.h"

namespace waystar::cli {
namespace {

struct FindArguments {
  v1::FindPathRequest request;
  DrawOptions draw;
};

ExitCode Find(const FindArguments& arguments, Session& session) {
  const auto answer = session.client().FindPath(arguments.request);
  if (!answer.ok()) {
    return session.Fail(answer.status());
  }
  Io& io = session.io();
  if (session.options().json) {
    session.PrintJson(*answer);
    return ExitCodeFor(answer->outcome());
  }
  if (IsOnGraph(arguments.request, *answer)) {
    io.out << FindText(arguments.request, *answer) << "\n";
    if (answer->positions_size() > 0) {
      io.out << GraphPathText(arguments.request, *answer) << "\n";
    }
    return ExitCodeFor(answer->outcome());
  }
  if (arguments.draw.picture) {
    const auto picture = AnswerPicture(arguments.request, *answer, {}, arguments.draw, session);
    if (picture.ok()) {
      io.out << *picture;
    } else {
      session.Fail(picture.status());
    }
  }
  io.out << FindText(arguments.request, *answer) << "\n";
  const bool lists = !arguments.draw.picture || arguments.request.path_form() != v1::PATH_FORM_UNSPECIFIED;
  if ((lists || answer->positions_size() > 0) && answer->has_end()) {
    io.out << PathText(*answer) << "\n";
  }
  if (answer->has_summary()) {
    io.out << SummaryText(answer->summary(), session.table_width());
  }
  return ExitCodeFor(answer->outcome());
}

}  // namespace

void AddFindCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<FindArguments>();
  v1::FindPathRequest& request = arguments->request;
  CLI::App& command = *parent.add_subcommand("find", "Finds a cheapest path and draws it");
  AddQueryOfGoals(command, request);
  AddGraphOptions(command, request);
  AddPathForm(command, request);
  AddExtras(command, request);
  AddDrawOptions(command, arguments->draw);
  command.footer(
      "x grows to the right and y down; 0,0 is the top left cell.\n\n"
      "Examples:\n"
      "  waystar find arena 1,1 60,40\n"
      "  waystar find arena 1,1 60,40 --nearest --corner-rule one-free\n"
      "  waystar find arena 1,1 60,40 9,30 12,7\n"
      "  waystar find arena 1,1 60,40 --no-picture --form directions\n"
      "  waystar find arena --start-position 3.5,-2 --goal-position 12,8 --snap 1.5\n"
      "  waystar find arena 1,1 --goal-position 12,8 --goal-position -3,4.5\n"
      "  waystar find arena 1,1 60,40 --profile tank --summary\n"
      "  waystar find arena 1,1 60,40 --json | jq .cost\n"
      "  waystar find islands --start-node harbour --goal-node lighthouse --require-tag dry\n");
  command.callback([arguments, &session] { session.exit_code = Find(*arguments, session); });
}

}  // namespace waystar::cli
