#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/completion.h"
#include "client/cli/message_text.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/cli/update.h"

namespace waystar::cli {
namespace {

constexpr char kAtOnce[] = "All cells change at once, as one new revision.\n\nExamples:\n";

using UpdateCommand = Command<v1::UpdateMapRequest>;

// Adds a command that sends a batch of edits of the argument MAP. What `AddUpdateOptions` adds comes last.
UpdateCommand AddUpdate(CLI::App& parent, Session& session, const std::string& name,
                        const std::string& summary, const std::string& footer) {
  UpdateCommand command = AddCommand(parent, session, name, summary, &Update, footer);
  AddMap(command.app, command.arguments);
  return command;
}

void AddShape(CLI::App& command, const std::string& name, google::protobuf::Message& message,
              const std::string& path) {
  AddField(command, name, message, path,
           "Cells X,Y; rectangles by two opposite corners X,Y..X,Y or by the top left cell and the size "
           "X,Y+WxH; disc:X,Y,RADIUS; polygon:X,Y..X,Y..X,Y; line:X,Y..X,Y or line:X,Y..X,Y,WIDTH")
      ->required();
}

// `field` is that of an edit: "block" or "unblock".
void AddBlockCommand(CLI::App& parent, Session& session, const std::string& field,
                     const std::string& summary) {
  const std::string example = absl::StrCat("  waystar ", field, " arena ");
  const UpdateCommand command =
      AddUpdate(parent, session, field, summary,
                absl::StrCat(kAtOnce, example, "3,4\n", example, "3,4..6,9 10,2+1x8\n", example,
                             "disc:20,8,3.5 line:0,0..9,4\n", example, "3,4 --expect-revision 7\n"));
  AddShape(command.app, "CELLS", *command.arguments.add_edits(), field);
  AddUpdateOptions(command.app, command.arguments);
}

void AddTerrainCommand(CLI::App& parent, Session& session) {
  const UpdateCommand command = AddUpdate(parent, session, "terrain", "Gives cells another terrain",
                                          absl::StrCat("Obstacles on the cells stay. ", kAtOnce,
                                                       "  waystar terrain arena '~' 3,4..6,9\n"
                                                       "  waystar terrain arena . polygon:0,0..8,0..4,6\n"));
  v1::Edit& edit = *command.arguments.add_edits();
  AddField(command.app, "SYMBOL", edit, "set_terrain.terrain",
           "The symbol of one of the map's terrains; `waystar map show` tells them")
      ->required();
  AddShape(command.app, "CELLS", edit, "set_terrain.shape");
  AddUpdateOptions(command.app, command.arguments);
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

constexpr char kReplaceHelp[] = "Put it in the place of one of the same name";

void AddPutPortal(CLI::App& group, Session& session) {
  const UpdateCommand command =
      AddUpdate(group, session, "put", "Adds a portal to a map",
                "Examples:\n"
                "  waystar portal put arena ferry 3,9 40,9 --cost 5 --both-ways\n"
                "  waystar portal put arena stairs 12,4 2,2 --to-map cellar --cost 1\n"
                "  waystar portal put keep jump 2,2,4 2,5,0 --cost 2 --width 3\n");
  v1::Edit& edit = *command.arguments.add_edits();
  v1::Portal& portal = *edit.mutable_add_portal();
  AddField(command.app, "ID", portal, "id", "The portal's name")->required();
  AddParsed(
      command.app, "FROM", &ParseEnd, [&portal](const v1::Location& place) { SetFrom(place, portal); },
      "The cell that it leads from: X,Y; on a navigation mesh the position X,Y,Z")
      ->required();
  AddParsed(
      command.app, "TO", &ParseEnd, [&portal](const v1::Location& place) { SetTo(place, portal); },
      "Where it leads to")
      ->required();
  AddFields(command.app, portal,
            {{"--to-map", "to_map", "The map that TO lies on, if it is another", "MAP"},
             {"--cost", "cost", "What it costs to go through [0]"},
             {"--both-ways", "both_ways", "It leads back as well"},
             {"--width", "width",
              "On a navigation mesh, how wide it is: agents cross in five lanes over that width [0]"},
             {"--tag", "tags", "What agents may require of it", "TAG"},
             {"--closed", "closed", "Nobody passes until it is opened"}});
  command.app.add_flag_callback(
      "--replace", [&edit] { edit.set_allocated_put_portal(edit.release_add_portal()); }, kReplaceHelp);
  AddUpdateOptions(command.app, command.arguments);
}

// One edit for each ID.
void AddEach(CLI::App& group, const char* name, const char* summary, const char* type, const char* footer,
             void (*fill)(v1::Edit&, const std::string&), Session& session) {
  const UpdateCommand command = AddUpdate(group, session, name, summary, footer);
  v1::UpdateMapRequest& request = command.arguments;
  AddTexts(
      command.app, "ID", [&request, fill](const std::string& id) { fill(*request.add_edits(), id); },
      absl::StrCat("The names of the ", absl::AsciiStrToLower(type), "s"))
      ->required()
      ->type_name(type);
  AddUpdateOptions(command.app, request);
}

template <typename Request>
struct ListArguments {
  Request request;
  bool names_only = false;
};

// Adds MAP and --names.
template <typename Request>
void AddListArguments(const Command<ListArguments<Request>>& command) {
  AddMap(command.app, command.arguments.request);
  command.app.add_flag("--names", command.arguments.names_only, "Only their names, one per line");
}

template <typename Request, typename Response, typename Item>
ExitCode ListAll(const ListArguments<Request>& arguments,
                 absl::StatusOr<Response> (client::Client::*list)(const Request&) const,
                 const google::protobuf::RepeatedPtrField<Item>& (Response::*items)() const,
                 Session& session) {
  return session.Answer(AllPages(session.client(), arguments.request, list), [&](const Response& answer) {
    session.PrintTable(TableOf((answer.*items)()), arguments.names_only);
  });
}

ExitCode ListPortals(const ListArguments<v1::ListPortalsRequest>& arguments, Session& session) {
  return ListAll(arguments, &client::Client::ListPortals, &v1::ListPortalsResponse::portals, session);
}

ExitCode ListObstacles(const ListArguments<v1::ListObstaclesRequest>& arguments, Session& session) {
  return ListAll(arguments, &client::Client::ListObstacles, &v1::ListObstaclesResponse::obstacles, session);
}

}  // namespace

void AddEditCommands(CLI::App& parent, Session& session) {
  AddBlockCommand(parent, session, "block", "Puts obstacles on cells");
  AddBlockCommand(parent, session, "unblock", "Takes the obstacles off cells");
  AddTerrainCommand(parent, session);
}

void AddPortalCommands(CLI::App& parent, Session& session) {
  CLI::App& group = AddGroup(parent, "portal", "Links cells that lie apart, on one map or on two",
                             "Examples:\n"
                             "  waystar portal put arena stairs 12,4 2,2 --to-map cellar --cost 1\n"
                             "  waystar find arena 1,1 9,9 --goal-map cellar\n");
  AddPutPortal(group, session);
  AddEach(
      group, "remove", "Removes portals from a map", kPortalType,
      "All at once, as one new revision.\n\nExamples:\n  waystar portal remove arena ferry stairs\n",
      [](v1::Edit& edit, const std::string& id) { edit.set_remove_portal(id); }, session);
  AddEach(
      group, "open", "Opens portals", kPortalType,
      "All at once, as one new revision.\n\nExamples:\n  waystar portal open arena stairs\n",
      [](v1::Edit& edit, const std::string& id) { edit.mutable_switch_portal()->set_id(id); }, session);
  AddEach(
      group, "close", "Closes portals: nobody passes", kPortalType,
      "All at once, as one new revision.\n\nExamples:\n  waystar portal close arena stairs\n",
      [](v1::Edit& edit, const std::string& id) {
        edit.mutable_switch_portal()->set_id(id);
        edit.mutable_switch_portal()->set_closed(true);
      },
      session);
  AddListArguments(AddCommand(group, session, "list", "Lists the portals of a map", &ListPortals,
                              "Examples:\n  waystar portal list arena\n"));
}

namespace {

void AddPut(CLI::App& group, Session& session) {
  const UpdateCommand command =
      AddUpdate(group, session, "put", "Lays an obstacle on a map",
                "Obstacles overlap freely: to lift one never uncovers a cell that another still covers.\n\n"
                "Examples:\n"
                "  waystar obstacle put arena gate 10,3..10,12\n"
                "  waystar obstacle put arena fire disc:20,8,3.5 --add 5 --falloff linear --lifetime 30s\n"
                "  waystar obstacle put arena mud polygon:0,0..8,0..4,6 --factor 2.5 --replace\n"
                "  waystar obstacle put keep crate disc:14,12,2 --heights 0:2\n");
  v1::Edit& edit = *command.arguments.add_edits();
  v1::Obstacle& obstacle = *edit.mutable_add_obstacle();
  AddField(command.app, "ID", obstacle, "id", "The obstacle's name")->required();
  AddShape(command.app, "SHAPE", obstacle, "shape");
  AddFields(
      command.app, obstacle,
      {{"--factor", "cost_factor", "It does not block its cells, but multiplies what they cost"},
       {"--add", "cost_addition",
        "It does not block its cells, but adds to what a step into them costs; less than 0 is a reward"},
       {"--falloff", "falloff", "How the effect changes from the centre of a disc to its rim [none]",
        "none|linear"},
       {"--lifetime", "lifetime", "How long it stays [until it is removed]", "TIME"},
       {"--heights", "heights",
        "On a navigation mesh, it blocks only polygons with a point at these heights; either is optional",
        "LOW:HIGH"}});
  command.app.get_option("--add")->excludes("--factor");
  command.app.add_flag_callback(
      "--replace", [&edit] { edit.set_allocated_put_obstacle(edit.release_add_obstacle()); }, kReplaceHelp);
  AddUpdateOptions(command.app, command.arguments);
}

void AddMove(CLI::App& group, Session& session) {
  const UpdateCommand command =
      AddUpdate(group, session, "move", "Shifts an obstacle",
                "What leaves the map is there again when the obstacle comes back.\n\n"
                "Examples:\n"
                "  waystar obstacle move arena fire -0.5,2\n");
  v1::MoveObstacle& move = *command.arguments.add_edits()->mutable_move_obstacle();
  AddField(command.app, "ID", move, "id", "The obstacle's name", kObstacleType)->required();
  AddParsed(
      command.app, "SHIFT", &ParseShift,
      [&move](const v1::Point& shift) {
        move.set_dx(shift.x());
        move.set_dy(shift.y());
      },
      "How many cells to the right and down, DX,DY")
      ->required();
  AddUpdateOptions(command.app, command.arguments);
}

void AddResize(CLI::App& group, Session& session) {
  const UpdateCommand command = AddUpdate(group, session, "resize", "Gives an obstacle another shape",
                                          "What it does to its cells and how long it stays do not change.\n\n"
                                          "Examples:\n"
                                          "  waystar obstacle resize arena fire disc:20,8,5\n");
  v1::ResizeObstacle& resize = *command.arguments.add_edits()->mutable_resize_obstacle();
  AddField(command.app, "ID", resize, "id", "The obstacle's name", kObstacleType)->required();
  AddShape(command.app, "SHAPE", resize, "shape");
  AddUpdateOptions(command.app, command.arguments);
}

void AddList(CLI::App& group, Session& session) {
  const auto command =
      AddCommand(group, session, "list", "Lists the obstacles of a map", &ListObstacles,
                 "Cells that were blocked without a name are not listed; `waystar map show` draws them.\n\n"
                 "Examples:\n"
                 "  waystar obstacle list arena\n"
                 "  waystar obstacle list arena --json | jq '.obstacles[].id'\n");
  AddListArguments(command);
  AddField(command.app, "--region", command.arguments.request, "region",
           "Only those whose bounds overlap this rectangle, X,Y..X,Y or X,Y+WxH", "RECTANGLE");
}

}  // namespace

void AddObstacleCommands(CLI::App& parent, Session& session) {
  CLI::App& group = AddGroup(parent, "obstacle", "Puts, moves and removes obstacles that have names",
                             "Examples:\n"
                             "  waystar obstacle put arena fire disc:20,8,3.5 --add 5 --lifetime 30s\n"
                             "  waystar obstacle list arena\n");
  AddPut(group, session);
  AddMove(group, session);
  AddResize(group, session);
  AddEach(
      group, "remove", "Lifts obstacles off a map", kObstacleType,
      "All go at once, as one new revision.\n\nExamples:\n  waystar obstacle remove arena fire-1 fire-2\n",
      [](v1::Edit& edit, const std::string& id) { edit.set_remove_obstacle(id); }, session);
  AddList(group, session);
}

void AddGroundCommands(CLI::App& parent, Session& session) {
  CLI::App& group = AddGroup(parent, "ground", "Adds ground to a navigation mesh, and takes it away",
                             "Examples:\n"
                             "  waystar ground put keep bridge 3,5..4,5..4,9..3,9\n"
                             "  waystar ground remove keep bridge\n");
  const UpdateCommand command =
      AddUpdate(group, session, "put", "Adds ground, or replaces the ground with this name",
                "It is joined to ground along its edges. `waystar map show` lists what there is.\n\n"
                "Examples:\n"
                "  waystar ground put keep bridge 3,5,1..4,5,1..4,9,2..3,9,2\n"
                "  waystar ground put keep pit --region disc:14,12,2 --heights :2\n"
                "  waystar ground put keep ford water:3,5..4,5..4,9..3,9 --weld 0.1\n");
  v1::Ground& ground = *command.arguments.add_edits()->mutable_put_ground();
  AddField(command.app, "ID", ground, "id", "The ground's name")->required();
  AddField(command.app, "POLYGON", ground, "polygons",
           "Polygons by their corners X,Y..X,Y..X,Y or X,Y,Z..X,Y,Z..X,Y,Z, with TERRAIN: before them if "
           "they are of another terrain than that of area 0");
  AddFields(
      command.app, ground,
      {{"--region", "region", "The polygons of the file with their middle in this shape go", "SHAPE"},
       {"--heights", "heights", "Only those with their middle at these heights go", "LOW:HIGH"},
       {"--weld", "weld", "How far, seen from above, edges are from those that they are joined to [0.01]"}});
  AddUpdateOptions(command.app, command.arguments);
  AddEach(
      group, "remove", "Makes a mesh as if the ground had never been put", "GROUND",
      "All at once, as one new revision.\n\nExamples:\n  waystar ground remove keep bridge\n",
      [](v1::Edit& edit, const std::string& id) { edit.set_remove_ground(id); }, session);
}

namespace {

struct WatchArguments {
  v1::WatchMapRequest request;
  // First revision to print; 0 for the next.
  uint64_t from = 0;
  // Number of revisions to print; 0 for no limit.
  uint64_t count = 0;
};

// Returns " in 3,0+5x6 40,2+1x1", or "" if there are no areas.
std::string AreasClause(const google::protobuf::RepeatedPtrField<v1::ChangedArea>& areas) {
  v1::Shape all;
  for (const v1::ChangedArea& area : areas) {
    if (area.has_disc()) {
      *all.add_discs() = area.disc();
    } else {
      *all.add_rectangles() = area.rectangle();
    }
  }
  return areas.empty() ? "" : " in " + FormatShape(all);
}

std::string RevisionText(const v1::MapRevision& revision) {
  const absl::Time time = absl::FromUnixSeconds(revision.commit_time().seconds()) +
                          absl::Nanoseconds(revision.commit_time().nanos());
  std::string text =
      absl::StrCat("Revision ", revision.version().revision(), " at ",
                   absl::FormatTime("%H:%M:%E3S", time, absl::LocalTimeZone()), ": ",
                   ChangeText(revision.changed_cells(), revision.changed_nodes(), revision.changed_edges(),
                              !revision.changed_areas().empty(), revision.edits()),
                   " changed", AreasClause(revision.changed_areas()), DigestClause(revision.digest()), "\n");
  for (const v1::Edit& edit : revision.edits()) {
    absl::StrAppend(&text, "  ", MessageText(edit), "\n");
  }
  if (revision.edits_omitted()) {
    absl::StrAppend(&text, "  (more edits than fit a message)\n");
  }
  return text;
}

std::string EventText(const std::string& map, const v1::WatchMapResponse& event) {
  const uint64_t digest = event.watching().digest();
  switch (event.event_case()) {
    case v1::WatchMapResponse::kWatching:
      return absl::StrCat("Watching ", map, ", which is at revision ", event.watching().version().revision(),
                          ".", digest == 0 ? "" : absl::StrCat(" Its digest is ", DigestText(digest), "."),
                          "\n");
    case v1::WatchMapResponse::kCommit:
      return RevisionText(event.commit());
    case v1::WatchMapResponse::kResynchronize:
      return absl::StrCat("Revisions up to ", event.resynchronize().version().revision(),
                          " are missing here: the server no longer remembers all of them, or the map is "
                          "not the one that was asked for.\n");
    case v1::WatchMapResponse::EVENT_NOT_SET:
      break;
  }
  return "";
}

ExitCode Watch(const WatchArguments& arguments, Session& session) {
  v1::WatchMapRequest request = arguments.request;
  if (arguments.from > 0) {
    // Complete even where the last known revision is 0.
    v1::Version from = request.after();
    from.set_revision(arguments.from);
    if (const absl::Status status = CompleteVersion(session, request.map(), from); !status.ok()) {
      return session.Fail(status);
    }
    request.mutable_after()->set_epoch(from.epoch());
    request.mutable_after()->set_revision(arguments.from - 1);
  } else {
    request.clear_after();
  }
  const auto watch = session.client().WatchMap(request);
  std::ostream& out = session.io().out;
  uint64_t told = 0;
  v1::WatchMapResponse event;
  while (watch->Next(event)) {
    out << (session.options().json ? ToJson(event, /*pretty=*/false)
                                   : EventText(arguments.request.map(), event))
        << std::flush;
    told += event.has_commit() ? 1 : 0;
    if (!out || (told > 0 && told == arguments.count)) {
      return ExitCode::kOk;
    }
  }
  return session.Fail(watch->Finish());
}

}  // namespace

void AddWatchCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] = AddCommand(
      parent, session, "watch", "Reports every change of a map, until Ctrl-C", &Watch,
      "One line for each revision, and one for each of its edits. With --json, one object a line.\n\n"
      "Examples:\n"
      "  waystar watch arena --from 8 --edits\n"
      "  waystar watch arena --json | jq '.commit.changedAreas'\n");
  v1::WatchMapRequest& request = arguments.request;
  AddMap(command, request);
  command
      .add_option("--from", arguments.from,
                  "The first revision to report, if the server still remembers it [the next one]")
      ->type_name("N");
  AddFields(
      command, request,
      {{"--from-epoch", "after.epoch",
        "The epoch that --from belongs to [the map's]: once the map was created again, the server says so"},
       {"--edits", "with_edits", "Tell what was changed, too"}});
  command.get_option("--from-epoch")->needs("--from");
  command.add_option("--count", arguments.count, "End after so many revisions")->type_name("N");
}

}  // namespace waystar::cli
