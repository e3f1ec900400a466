#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
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
      "  waystar portal put keep jump 2,2,4 2,5,0 --cost 2\n");
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
           absl::StrCat(portal.cost()), portal.both_ways() ? "both" : "one",
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

}  // namespace waystar::cli
