#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/arguments.h"
#include "client/cli/query_arguments.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/cli/update.h"

namespace waystar::cli {
namespace {

using RequestPtr = std::shared_ptr<v1::UpdateMapRequest>;

constexpr char kAtOnce[] = "All cells change at once, as one new revision.\n\nExamples:\n";

struct EditCommand {
  const char* name;
  const char* summary;
  v1::Shape* (v1::Edit::*shape)();
};

constexpr EditCommand kEditCommands[] = {
    {"block", "Puts obstacles on cells", &v1::Edit::mutable_block},
    {"unblock", "Takes the obstacles off cells", &v1::Edit::mutable_unblock},
};

// The last arguments of a command, and what it does.
void AddCells(CLI::App& command, Session& session, const RequestPtr& request, v1::Shape& shape) {
  AddParsedList(
      command, "CELLS", &ParseShape, [&shape](const v1::Shape& part) { shape.MergeFrom(part); }, kShapeHelp)
      ->required();
  RunsUpdate(command, request, session);
}

void AddEditCommand(CLI::App& parent, Session& session, const EditCommand& edit) {
  const auto request = std::make_shared<v1::UpdateMapRequest>();
  v1::Shape& shape = *(request->add_edits()->*edit.shape)();
  CLI::App& command = *parent.add_subcommand(edit.name, edit.summary);
  AddMap(command, *request->mutable_map());
  AddCells(command, session, request, shape);
  command.footer(absl::StrCat(kAtOnce, "  waystar ", edit.name, " arena 3,4\n  waystar ", edit.name,
                              " arena 3,4..6,9 10,2+1x8\n  waystar ", edit.name,
                              " arena disc:20,8,3.5 line:0,0..9,4\n  waystar ", edit.name,
                              " arena 3,4 --expect-revision 7\n"));
}

void AddTerrainCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::UpdateMapRequest>();
  v1::SetTerrain& edit = *request->add_edits()->mutable_set_terrain();
  CLI::App& command = *parent.add_subcommand("terrain", "Gives cells another terrain");
  AddMap(command, *request->mutable_map());
  AddValue<std::string>(
      command, "SYMBOL", [&edit](const std::string& symbol) { edit.set_terrain(symbol); },
      "The symbol of one of the map's terrains; `waystar map show` tells them")
      ->required();
  AddCells(command, session, request, *edit.mutable_shape());
  command.footer(absl::StrCat("Obstacles on the cells stay. ", kAtOnce,
                              "  waystar terrain arena '~' 3,4..6,9\n"
                              "  waystar terrain arena . polygon:0,0..8,0..4,6\n"));
}

void SetFrom(const v1::Location& place, v1::Portal& portal) {
  if (place.has_position()) {
    *portal.mutable_from_position() = place.position();
  } else {
    *portal.mutable_from() = place.cell();
  }
}

// One end with three numbers, or with a fraction, makes positions of both.
void SetTo(const v1::Location& place, v1::Portal& portal) {
  if (place.has_cell() && portal.has_from()) {
    *portal.mutable_to() = place.cell();
    return;
  }
  *portal.mutable_to_position() = place.has_position() ? place.position() : PositionOf(place.cell());
  if (portal.has_from()) {
    *portal.mutable_from_position() = PositionOf(portal.from());
    portal.clear_from();
  }
}

absl::StatusOr<v1::Location> ParseEnd(absl::string_view text) {
  absl::StatusOr<v1::Location> place = ParsePlace(text);
  if (place.ok() && !place->has_cell() && !place->has_position()) {
    return ParseCell(text).status();
  }
  return place;
}

void AddPutPortal(CLI::App& group, Session& session) {
  const auto request = std::make_shared<v1::UpdateMapRequest>();
  const auto made = std::make_shared<v1::Portal>();
  v1::Portal& portal = *made;
  CLI::App& command = *group.add_subcommand("put", "Adds a portal to a map");
  AddMap(command, *request->mutable_map());
  command.add_option("ID", *portal.mutable_id(), "The portal's name")->required();
  AddParsed(
      command, "FROM", &ParseEnd, [&portal](const v1::Location& place) { SetFrom(place, portal); },
      "The cell that it leads from: X,Y; on a navigation mesh the position X,Y,Z")
      ->required();
  AddParsed(
      command, "TO", &ParseEnd, [&portal](const v1::Location& place) { SetTo(place, portal); },
      "Where it leads to")
      ->required();
  command.add_option("--to-map", *portal.mutable_to_map(), "The map that TO lies on, if it is another")
      ->type_name("MAP");
  AddField(command, "--cost", portal, &v1::Portal::set_cost, "What it costs to go through [0]");
  AddField(command, "--both-ways", portal, &v1::Portal::set_both_ways, "It leads back as well");
  AddField(command, "--width", portal, &v1::Portal::set_width,
           "On a navigation mesh, how wide it is: agents cross in five lanes over that width [0]");
  AddTexts(
      command, "--tag", [&portal](const std::string& tag) { portal.add_tags(tag); },
      "What agents may require of it")
      ->type_name("TAG");
  AddField(command, "--closed", portal, &v1::Portal::set_closed, "Nobody passes until it is opened");
  RunsAddOrPut(command, request, made, &v1::Edit::mutable_add_portal, &v1::Edit::mutable_put_portal, session);
  command.footer(
      "Examples:\n"
      "  waystar portal put arena ferry 3,9 40,9 --cost 5 --both-ways\n"
      "  waystar portal put arena stairs 12,4 2,2 --to-map cellar --cost 1\n"
      "  waystar portal put keep jump 2,2,4 2,5,0 --cost 2 --width 3\n");
}

// One edit for each ID.
void AddEach(CLI::App& group, const char* name, const char* summary, const char* examples,
             const std::function<void(v1::Edit&, const std::string&)>& fill, Session& session) {
  const auto request = std::make_shared<v1::UpdateMapRequest>();
  CLI::App& command = *group.add_subcommand(name, summary);
  AddMap(command, *request->mutable_map());
  AddTexts(
      command, "ID", [request, fill](const std::string& id) { fill(*request->add_edits(), id); },
      "The names of the portals")
      ->required();
  RunsUpdate(command, request, session);
  command.footer(absl::StrCat("All at once, as one new revision.\n\nExamples:\n  ", examples, "\n"));
}

ExitCode ListPortals(const v1::ListPortalsRequest& request, Session& session) {
  const auto all = AllPages(session.client(), request, &client::Client::ListPortals);
  return session.Answer(all, [&](const v1::ListPortalsResponse& answer) {
    std::vector<TableRow> rows = {{"PORTAL", "FROM", "TO", "COST", "WAYS", "STATE", "TAGS"}};
    for (const v1::Portal& portal : answer.portals()) {
      const bool is_on_mesh = portal.has_from_position();
      rows.push_back(
          {portal.id(), is_on_mesh ? FormatPosition(portal.from_position()) : FormatCell(portal.from()),
           absl::StrCat(is_on_mesh ? FormatPosition(portal.to_position()) : FormatCell(portal.to()),
                        portal.to_map().empty() ? "" : " of ", portal.to_map()),
           absl::StrCat(portal.cost()),
           absl::StrCat(portal.both_ways() ? "both" : "one",
                        portal.width() > 0.0 ? absl::StrCat(", ", portal.width(), " wide") : ""),
           portal.closed() ? "closed" : "open",
           portal.tags().empty() ? "-" : absl::StrJoin(portal.tags(), " ")});
    }
    session.PrintTable(rows);
  });
}

void AddListPortals(CLI::App& group, Session& session) {
  const auto request = std::make_shared<v1::ListPortalsRequest>();
  CLI::App& command = AddCommand(group, session, "list", "Lists the portals of a map", request, &ListPortals);
  AddMap(command, *request->mutable_map());
  command.footer("Examples:\n  waystar portal list arena\n");
}

}  // namespace

void AddEditCommands(CLI::App& parent, Session& session) {
  for (const EditCommand& edit : kEditCommands) {
    AddEditCommand(parent, session, edit);
  }
  AddTerrainCommand(parent, session);
}

void AddPortalCommands(CLI::App& parent, Session& session) {
  CLI::App& group = *parent.add_subcommand("portal", "Links cells that lie apart, on one map or on two");
  group.require_subcommand(1);
  group.footer(
      "Examples:\n"
      "  waystar portal put arena stairs 12,4 2,2 --to-map cellar --cost 1\n"
      "  waystar find arena 1,1 9,9 --goal-map cellar\n");
  AddPutPortal(group, session);
  AddEach(
      group, "remove", "Removes portals from a map", "waystar portal remove arena ferry stairs",
      [](v1::Edit& edit, const std::string& id) { edit.set_remove_portal(id); }, session);
  AddEach(
      group, "open", "Opens portals", "waystar portal open arena stairs",
      [](v1::Edit& edit, const std::string& id) { edit.mutable_switch_portal()->set_id(id); }, session);
  AddEach(
      group, "close", "Closes portals: nobody passes", "waystar portal close arena stairs",
      [](v1::Edit& edit, const std::string& id) {
        edit.mutable_switch_portal()->set_id(id);
        edit.mutable_switch_portal()->set_closed(true);
      },
      session);
  AddListPortals(group, session);
}

namespace {

using RequestPtr = std::shared_ptr<v1::UpdateMapRequest>;

absl::StatusOr<v1::Point> ParseShift(absl::string_view text) {
  auto shift = ParsePoint(text);
  if (!shift) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a shift: write DX,DY such as 2,0 or -1.5,3"));
  }
  return *std::move(shift);
}

// A command of the group that sends one edit of the obstacle "ID".
CLI::App& AddEdit(CLI::App& group, const char* name, const char* summary, const RequestPtr& request,
                  std::string& id) {
  CLI::App& command = *group.add_subcommand(name, summary);
  AddMap(command, *request->mutable_map());
  command.add_option("ID", id, "The obstacle's name")->required();
  return command;
}

void AddShape(CLI::App& command, v1::Shape& shape) {
  AddParsedList(
      command, "SHAPE", &ParseShape, [&shape](const v1::Shape& part) { shape.MergeFrom(part); }, kShapeHelp)
      ->required();
}

void AddPut(CLI::App& group, Session& session) {
  const auto request = std::make_shared<v1::UpdateMapRequest>();
  const auto made = std::make_shared<v1::Obstacle>();
  v1::Obstacle& obstacle = *made;
  CLI::App& command = AddEdit(group, "put", "Lays an obstacle on a map", request, *obstacle.mutable_id());
  AddShape(command, *obstacle.mutable_shape());
  CLI::Option* const factor = AddField(command, "--factor", obstacle, &v1::Obstacle::set_cost_factor,
                                       "It does not block its cells, but multiplies what they cost");
  AddField(command, "--add", obstacle, &v1::Obstacle::set_cost_addition,
           "It does not block its cells, but adds to what a step into them costs; less than 0 is a reward")
      ->excludes(factor);
  AddChoice<v1::Falloff>(
      command, "--falloff", [&obstacle](v1::Falloff falloff) { obstacle.set_falloff(falloff); },
      {{"none", v1::FALLOFF_NONE}, {"linear", v1::FALLOFF_LINEAR}},
      "How the effect changes from the centre of a disc to its rim [none]");
  AddParsed(
      command, "--lifetime", &ParseTimeout,
      [&obstacle](absl::Duration lifetime) { *obstacle.mutable_lifetime() = ToMessage(lifetime); },
      "How long it stays [until it is removed]")
      ->type_name("TIME");
  AddParsed(
      command, "--heights", &ParseHeights,
      [&obstacle](const v1::HeightRange& heights) { *obstacle.mutable_heights() = heights; },
      "On a navigation mesh, it blocks only polygons with a point at these heights; either is optional")
      ->type_name("LOW:HIGH");
  RunsAddOrPut(command, request, made, &v1::Edit::mutable_add_obstacle, &v1::Edit::mutable_put_obstacle,
               session);
  command.footer(
      "Obstacles overlap freely: to lift one never uncovers a cell that another still covers.\n\n"
      "Examples:\n"
      "  waystar obstacle put arena gate 10,3..10,12\n"
      "  waystar obstacle put arena fire disc:20,8,3.5 --add 5 --falloff linear --lifetime 30s\n"
      "  waystar obstacle put arena mud polygon:0,0..8,0..4,6 --factor 2.5 --replace\n"
      "  waystar obstacle put keep crate disc:14,12,2 --heights 0:2\n");
}

void AddMove(CLI::App& group, Session& session) {
  const auto request = std::make_shared<v1::UpdateMapRequest>();
  v1::MoveObstacle& move = *request->add_edits()->mutable_move_obstacle();
  CLI::App& command = AddEdit(group, "move", "Shifts an obstacle", request, *move.mutable_id());
  AddParsed(
      command, "SHIFT", &ParseShift,
      [&move](const v1::Point& shift) {
        move.set_dx(shift.x());
        move.set_dy(shift.y());
      },
      "How many cells to the right and down, DX,DY")
      ->required();
  RunsUpdate(command, request, session);
  command.footer(
      "What leaves the map is there again when the obstacle comes back.\n\n"
      "Examples:\n"
      "  waystar obstacle move arena fire -0.5,2\n");
}

void AddResize(CLI::App& group, Session& session) {
  const auto request = std::make_shared<v1::UpdateMapRequest>();
  v1::ResizeObstacle& resize = *request->add_edits()->mutable_resize_obstacle();
  CLI::App& command =
      AddEdit(group, "resize", "Gives an obstacle another shape", request, *resize.mutable_id());
  AddShape(command, *resize.mutable_shape());
  RunsUpdate(command, request, session);
  command.footer(
      "What it does to its cells and how long it stays do not change.\n\n"
      "Examples:\n"
      "  waystar obstacle resize arena fire disc:20,8,5\n");
}

void AddRemove(CLI::App& group, Session& session) {
  const auto request = std::make_shared<v1::UpdateMapRequest>();
  CLI::App& command = *group.add_subcommand("remove", "Lifts obstacles off a map");
  AddMap(command, *request->mutable_map());
  AddTexts(
      command, "ID", [request](const std::string& id) { request->add_edits()->set_remove_obstacle(id); },
      "The names of the obstacles")
      ->required();
  RunsUpdate(command, request, session);
  command.footer(
      "All go at once, as one new revision.\n\n"
      "Examples:\n"
      "  waystar obstacle remove arena fire-1 fire-2\n");
}

struct ListObstaclesArguments {
  v1::ListObstaclesRequest request;
  bool names_only = false;
};

ExitCode ListObstacles(const ListObstaclesArguments& arguments, Session& session) {
  const auto all = AllPages(session.client(), arguments.request, &client::Client::ListObstacles);
  return session.Answer(all, [&](const v1::ListObstaclesResponse& answer) {
    std::vector<TableRow> rows = {{"OBSTACLE", "EFFECT", "STAYS", "SHAPE"}};
    for (const v1::Obstacle& obstacle : answer.obstacles()) {
      const std::string lifetime = LifetimeText(obstacle);
      rows.push_back({obstacle.id(), EffectText(obstacle), lifetime.empty() ? "-" : lifetime,
                      absl::StrCat(FormatShape(obstacle.shape()), HeightsText(obstacle))});
    }
    session.PrintTable(rows, arguments.names_only);
  });
}

void AddList(CLI::App& group, Session& session) {
  const auto arguments = std::make_shared<ListObstaclesArguments>();
  v1::ListObstaclesRequest& request = arguments->request;
  CLI::App& command =
      AddCommand(group, session, "list", "Lists the obstacles of a map", arguments, &ListObstacles);
  AddMap(command, *request.mutable_map());
  AddRegion(command, request, "Only those whose bounds overlap this rectangle, X,Y..X,Y or X,Y+WxH",
            "RECTANGLE");
  command.add_flag("--names", arguments->names_only, "Only their names, one per line");
  command.footer(
      "Cells that were blocked without a name are not listed; `waystar map show` draws them.\n\n"
      "Examples:\n"
      "  waystar obstacle list arena\n"
      "  waystar obstacle list arena --json | jq '.obstacles[].id'\n");
}

}  // namespace

void AddObstacleCommands(CLI::App& parent, Session& session) {
  CLI::App& group = *parent.add_subcommand("obstacle", "Puts, moves and removes obstacles that have names");
  group.require_subcommand(1);
  group.footer(
      "Examples:\n"
      "  waystar obstacle put arena fire disc:20,8,3.5 --add 5 --lifetime 30s\n"
      "  waystar obstacle list arena\n");
  AddPut(group, session);
  AddMove(group, session);
  AddResize(group, session);
  AddRemove(group, session);
  AddList(group, session);
}

}  // namespace waystar::cli
