#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/draw/path_cells.h"
#include "client/cli/draw_options.h"
#include "client/cli/find_text.h"
#include "client/cli/map_picture.h"

namespace waystar::cli {
namespace {

struct FindArguments {
  v1::FindPathRequest request;
  DrawOptions draw;
};

bool IsOn(const v1::GridInfo& grid, const v1::Cell& cell) {
  return cell.x() >= 0 && cell.y() >= 0 && cell.x() < grid.width() && cell.y() < grid.height();
}

Overlay OverlayOf(const v1::FindPathRequest& request, const v1::FindPathResponse& answer,
                  const v1::GridInfo& grid) {
  Overlay overlay;
  overlay.start = request.start();
  overlay.goal = request.goal();
  overlay.path = PathCells(request.start(), answer);
  if (answer.has_end()) {
    overlay.end = answer.end();
  }
  // A map that was replaced since the search may be smaller.
  std::erase_if(overlay.path, [&](const v1::Cell& cell) { return !IsOn(grid, cell); });
  for (auto* cell : {&overlay.start, &overlay.goal, &overlay.end}) {
    if (*cell && !IsOn(grid, **cell)) {
      cell->reset();
    }
  }
  return overlay;
}

absl::StatusOr<std::string> DrawAnswer(const FindArguments& arguments, const v1::FindPathResponse& answer,
                                       Session& session) {
  v1::ExportMapRequest request;
  request.set_map(arguments.request.map());
  request.set_format(v1::MAP_FORMAT_TEXT);
  const auto map = session.client().ExportMap(request);
  if (!map.ok()) {
    return map.status();
  }
  const v1::MapInfo& info = map->header.info();
  auto picture = MapPicture(*map, OverlayOf(arguments.request, answer, info.grid()),
                            WindowFor(arguments.draw, session.io()), session.UsesColor());
  if (picture.ok() && info.revision() != answer.revision()) {
    absl::StrAppend(&*picture, "The picture shows revision ", info.revision(), ", the path is for revision ",
                    answer.revision(), ".\n");
  }
  return picture;
}

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
  if (arguments.draw.picture) {
    if (const auto picture = DrawAnswer(arguments, *answer, session); picture.ok()) {
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

void AddQueryOptions(CLI::App& command, v1::FindPathRequest& request) {
  AddChoice<v1::CornerRule>(
      command, "--corner-rule", [&request](v1::CornerRule rule) { request.set_corner_rule(rule); },
      {{"both-free", v1::CORNER_RULE_NO_CORNER_CUTTING},
       {"one-free", v1::CORNER_RULE_ONE_SIDE_FREE},
       {"always", v1::CORNER_RULE_ALWAYS}},
      "When a diagonal step is allowed: if both cells beside it are walkable, if one of them is, or always "
      "[both-free]");
  AddChoice<v1::Algorithm>(
      command, "--algorithm", [&request](v1::Algorithm algorithm) { request.set_algorithm(algorithm); },
      {{"auto", v1::ALGORITHM_AUTO}, {"astar", v1::ALGORITHM_ASTAR}, {"dijkstra", v1::ALGORITHM_DIJKSTRA}},
      "How to search; all find paths of the same cost [auto]");
  command.add_flag_callback(
      "--nearest", [&request] { request.set_unreachable_policy(v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE); },
      "If the goal cannot be reached, go to the nearest cell that can");
  command
      .add_option_function<uint64_t>(
          "--max-expansions", [&request](uint64_t cells) { request.set_max_expansions(cells); },
          "Give up after looking around from so many cells [no limit]")
      ->type_name("N");
  AddChoice<v1::PathForm>(
      command, "--form", [&request](v1::PathForm form) { request.set_path_form(form); },
      {{"cells", v1::PATH_FORM_EVERY_CELL},
       {"corners", v1::PATH_FORM_CORNERS},
       {"directions", v1::PATH_FORM_DIRECTIONS}},
      "Also list the path: every cell, the cells where it turns, or the direction of each step");
}

}  // namespace

void AddFindCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<FindArguments>();
  v1::FindPathRequest& request = arguments->request;
  CLI::App& command = *parent.add_subcommand("find", "Finds a cheapest path and draws it");
  AddMap(command, *request.mutable_map());
  AddParsed(
      command, "START", &ParseCell, [&request](const v1::Cell& cell) { *request.mutable_start() = cell; },
      "The cell to start from: X,Y")
      ->required();
  AddParsed(
      command, "GOAL", &ParseCell, [&request](const v1::Cell& cell) { *request.mutable_goal() = cell; },
      "The cell to go to: X,Y")
      ->required();
  AddQueryOptions(command, request);
  AddDrawOptions(command, arguments->draw);
  command.footer(
      "x grows to the right and y down; 0,0 is the top left cell.\n\n"
      "Examples:\n"
      "  waystar find arena 1,1 60,40\n"
      "  waystar find arena 1,1 60,40 --nearest --corner-rule one-free\n"
      "  waystar find arena 1,1 60,40 --no-picture --form directions\n"
      "  waystar find arena 1,1 60,40 --json | jq .cost\n");
  command.callback([arguments, &session] { session.exit_code = Find(*arguments, session); });
}

}  // namespace waystar::cli
