#include <memory>
#include <string>
#include <vector>

#include "client/cli/answer_picture.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/draw_options.h"
#include "client/cli/find_text.h"
#include "client/cli/graph_text.h"
#include "client/cli/position_argument.h"
#include "client/cli/query_arguments.h"

namespace waystar::cli {
namespace {

struct FindArguments {
  v1::FindPathRequest request;
  DrawOptions draw;
};

bool IsOnGraph(const v1::FindPathRequest& request) {
  return !request.start_node().empty() || !request.goal_node().empty() || request.has_start_position() ||
         request.has_goal_position();
}

// What is missing; empty if nothing is.
std::string Fault(const v1::FindPathRequest& request) {
  if (IsOnGraph(request) && (request.has_start() || request.has_goal())) {
    return "give START and GOAL for a grid, or a start and a goal on a waypoint graph, not both";
  }
  if (!request.has_start() && request.start_node().empty() && !request.has_start_position()) {
    return "START is required, or --from-node or --from on a waypoint graph";
  }
  if (!request.has_goal() && request.goal_node().empty() && !request.has_goal_position()) {
    return "GOAL is required, or --to-node or --to on a waypoint graph";
  }
  return "";
}

ExitCode Find(const FindArguments& arguments, Session& session) {
  if (const std::string fault = Fault(arguments.request); !fault.empty()) {
    return session.FailUsage(fault);
  }
  const auto answer = session.client().FindPath(arguments.request);
  if (!answer.ok()) {
    return session.Fail(answer.status());
  }
  Io& io = session.io();
  if (IsOnGraph(arguments.request) && !session.options().json) {
    io.out << FindText(arguments.request, *answer) << "\n";
    if (answer->positions_size() > 0) {
      io.out << GraphPathText(arguments.request, *answer) << "\n";
    }
    return ExitCodeFor(answer->outcome());
  }
  if (session.options().json) {
    session.PrintJson(*answer);
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
  if (lists && answer->has_end()) {
    io.out << PathText(*answer) << "\n";
  }
  return ExitCodeFor(answer->outcome());
}

void AddGraphEnds(CLI::App& command, v1::FindPathRequest& request) {
  command.get_option("START")->required(false);
  command.get_option("GOAL")->required(false);
  const auto add_node = [&](const char* name, const char* text, std::string* id) {
    command.add_option(name, *id, text)->type_name("NODE");
  };
  add_node("--from-node", "On a waypoint graph, the node to start from", request.mutable_start_node());
  add_node("--to-node", "On a waypoint graph, the node to go to", request.mutable_goal_node());
  AddParsed(
      command, "--from", &ParsePosition,
      [&request](const v1::Position& position) { *request.mutable_start_position() = position; },
      "On a waypoint graph, the position to start from")
      ->type_name("X,Y[,Z]");
  AddParsed(
      command, "--to", &ParsePosition,
      [&request](const v1::Position& position) { *request.mutable_goal_position() = position; },
      "On a waypoint graph, the position to go to")
      ->type_name("X,Y[,Z]");
  command
      .add_option_function<double>(
          "--snap-radius", [&request](double radius) { request.set_snap_radius(radius); },
          "How far a position may be from the node that stands in for it [no limit]")
      ->type_name("R");
  command
      .add_option_function<std::vector<std::string>>(
          "--require-tag",
          [&request](const std::vector<std::string>& tags) {
            request.mutable_required_tags()->Add(tags.begin(), tags.end());
          },
          "On a waypoint graph, only use edges that carry all of these tags")
      ->type_name("TAG");
}

}  // namespace

void AddFindCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<FindArguments>();
  v1::FindPathRequest& request = arguments->request;
  CLI::App& command = *parent.add_subcommand("find", "Finds a cheapest path and draws it");
  AddQuery(command, request);
  AddGraphEnds(command, request);
  AddPathForm(command, request);
  AddDrawOptions(command, arguments->draw);
  command.footer(
      "x grows to the right and y down; 0,0 is the top left cell.\n\n"
      "Examples:\n"
      "  waystar find arena 1,1 60,40\n"
      "  waystar find arena 1,1 60,40 --nearest --corner-rule one-free\n"
      "  waystar find arena 1,1 60,40 --no-picture --form directions\n"
      "  waystar find arena 1,1 60,40 --json | jq .cost\n"
      "  waystar find islands --from-node harbour --to-node lighthouse\n");
  command.callback([arguments, &session] { session.exit_code = Find(*arguments, session); });
}

}  // namespace waystar::cli
