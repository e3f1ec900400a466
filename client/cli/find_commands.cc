#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/files.h"
#include "client/cli/find_text.h"
#include "client/cli/map_picture.h"
#include "client/cli/query_arguments.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/cli/update.h"

namespace waystar::cli {
namespace {

struct FindArguments {
  v1::FindPathRequest request;
  DrawOptions draw;
  // File of an inline map.
  std::string map_file;
};

void PrintSummary(const v1::FindPathResponse& answer, Session& session) {
  if (answer.has_summary()) {
    session.io().out << SummaryText(answer.summary(), session.table_width());
  }
}

void PrintPath(const FindArguments& arguments, const v1::FindPathResponse& answer, Session& session) {
  const v1::FindPathRequest& request = arguments.request;
  std::ostream& out = session.io().out;
  if (IsOnMesh(answer) || IsOnGraph(request, answer) || request.has_inline_map()) {
    out << FactsText(request, answer);
    if (answer.path().corridor_size() > 0) {
      out << "Polygons " << absl::StrJoin(answer.path().corridor(), " ") << "\n";
    }
    const auto add = [](std::string* text, const v1::Position& point) {
      absl::StrAppend(text, FormatPosition(point));
    };
    if (answer.path().surface_size() > 0) {
      out << "Surface " << absl::StrJoin(answer.path().surface(), " ", add) << "\n";
    }
    for (const v1::CorridorPolygon& polygon : answer.path().polygons()) {
      out << "Polygon " << polygon.polygon() << ": " << absl::StrJoin(polygon.corners(), " ", add) << "\n";
    }
    PrintSummary(answer, session);
    return;
  }
  ShowAnswerPicture(request, answer, {}, arguments.draw, session);
  out << FindText(request, answer) << "\n";
  const bool lists = !arguments.draw.picture || request.path_form() != v1::PATH_FORM_UNSPECIFIED;
  if ((lists || answer.path().positions_size() > 0) && answer.path().has_end()) {
    out << PathText(request, answer) << "\n";
  }
  PrintSummary(answer, session);
}

// Reads a map that a query is to bring along: the rows of a grid, a line each, or a WaypointGraph in JSON.
// The server judges it. Errors: what keeps the file from being read.
absl::StatusOr<v1::InlineMap> ReadInlineMap(const std::string& file, std::istream& standard_input) {
  const absl::StatusOr<std::string> bytes = ReadInput(file, standard_input);
  if (!bytes.ok()) {
    return bytes.status();
  }
  v1::InlineMap map;
  if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(*bytes), "{")) {
    absl::StatusOr<v1::WaypointGraph> graph = FromJson<v1::WaypointGraph>(*bytes);
    if (!graph.ok()) {
      return graph.status();
    }
    map.mutable_graph()->Swap(&*graph);
    return map;
  }
  for (const absl::string_view line : absl::StrSplit(absl::StripTrailingAsciiWhitespace(*bytes), '\n')) {
    map.add_rows(std::string(absl::StripTrailingAsciiWhitespace(line)));
  }
  return map;
}

ExitCode Find(const FindArguments& given, Session& session) {
  FindArguments arguments = given;
  v1::FindPathRequest& request = arguments.request;
  if (!given.map_file.empty()) {
    absl::StatusOr<v1::InlineMap> map = ReadInlineMap(given.map_file, session.io().in);
    if (!map.ok()) {
      return session.FailUsage(absl::StrCat("cannot read ", given.map_file, ": ", map.status().message()));
    }
    request.mutable_inline_map()->Swap(&*map);
  }
  if (request.view().has_least_version()) {
    v1::Version& least = *request.mutable_view()->mutable_least_version();
    if (const absl::Status status = CompleteVersion(session, request.map(), least); !status.ok()) {
      return session.Fail(status);
    }
  }
  const auto response = session.client().FindPath(request);
  const auto print = [&](const v1::FindPathResponse& answer) { PrintPath(arguments, answer, session); };
  return session.Answer(response, print, response.ok() ? ExitCodeFor(response->outcome()) : ExitCode::kOk);
}

// Says from where on the path cannot be walked, and, on a waypoint graph, what is in the way.
// REQUIRES: the answer is that it cannot.
std::string BlockedText(const v1::Path& path, const v1::PathValidity& validity, uint64_t revision) {
  const int index = validity.blocked_index();
  const bool has_corners = !path.positions().empty();
  if (has_corners && !validity.has_blocked_at()) {
    return absl::StrFormat("Blocked: corner %d is not on the surface, at revision %d.\n", index, revision);
  }
  std::string where;
  std::string end = "the goal";
  if (validity.has_blocked_at()) {
    const v1::Location& at = validity.blocked_at();
    where = absl::StrCat("at ", has_corners ? FormatPosition(at.position()) : FormatCell(at.cell()), ", ");
    end = absl::StrCat(has_corners ? "corner " : "point ", index);
  } else {
    where = validity.blocked_by().empty() ? "" : absl::StrCat("by ", validity.blocked_by(), " ");
    if (index >= 0 && index < path.nodes_size()) {
      end = absl::StrCat("node ", index, ", ", path.nodes(index));
    }
  }
  return absl::StrFormat("Blocked %son the way to %s, after cost %.6g, at revision %d.\n", where, end,
                         validity.cost(), revision);
}

ExitCode Validate(const v1::ValidatePathsRequest& request, Session& session) {
  const auto response = session.client().ValidatePaths(request);
  const bool is_walkable = response.ok() && response->results_size() == 1 && response->results(0).walkable();
  const auto print = [&](const v1::ValidatePathsResponse& answer) {
    const uint64_t revision = answer.info().version().revision();
    for (const v1::PathValidity& validity : answer.results()) {
      if (validity.walkable()) {
        session.io().out << absl::StreamFormat("Walkable at cost %.6g, at revision %d.\n", validity.cost(),
                                               revision);
      } else {
        session.io().out << BlockedText(request.paths(0), validity, revision);
      }
    }
  };
  return session.Answer(response, print, is_walkable ? ExitCode::kOk : ExitCode::kNoPath);
}

// Adds a cell or a position to a path. A corner at height 0 is written as a cell is, so beside positions
// cells are corners.
void AddPoint(const v1::Location& place, v1::Path& path) {
  if (place.has_position()) {
    for (const v1::Cell& cell : path.points()) {
      *path.add_positions() = PositionOf(cell);
    }
    path.clear_points();
    *path.add_positions() = place.position();
  } else if (!path.positions().empty()) {
    *path.add_positions() = PositionOf(place.cell());
  } else {
    *path.add_points() = place.cell();
  }
}

// With a file there is no map argument, so the first positional is the start, and so on.
void AddMapFile(CLI::App& command, FindArguments& arguments) {
  command
      .add_option("--map-file", arguments.map_file,
                  "In place of MAP: a small map that the query brings along, as rows of text or as a "
                  "WaypointGraph in JSON; - is standard input")
      ->type_name(kFileType);
  CLI::Option* const map = command.get_option("MAP")->required(false);
  command.parse_complete_callback([&arguments, map] {
    v1::FindPathRequest& request = arguments.request;
    if (arguments.map_file.empty()) {
      CheckPlace(!request.map().empty(), map->get_name());
    } else if (!request.map().empty()) {
      TakeMapForStart(request);
    }
    CheckEnds(request);
  });
}

}  // namespace

void AddFindCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<FindArguments>();
  v1::FindPathRequest& request = arguments->request;
  CLI::App& command =
      AddCommand(parent, session, "find", "Finds a cheapest path and draws it", arguments, &Find);
  AddQueryOfGoals(command, request);
  AddMapFile(command, *arguments);
  AddValue<uint64_t>(
      command, "--least-revision",
      [&request](uint64_t revision) {
        request.mutable_view()->mutable_least_version()->set_revision(revision);
      },
      "Wait until the map has this revision [of the epoch that it has now, which is asked for]", "N");
  AddPathForm(command, request);
  AddExtras(command, request);
  AddDrawOptions(command, arguments->draw);
  command.footer(
      "x grows to the right and y down; 0,0 is the top left cell.\n\n"
      "Examples:\n"
      "  waystar find arena 1,1 60,40\n"
      "  waystar find arena 1,1 60,40 9,30 12,7\n"
      "  waystar find arena --start-position 3.5,-2 --goal-position 12,8 --snap 1.5\n"
      "  waystar find arena 1,1 60,40 --profile tank --summary\n"
      "  waystar find --map-file room.txt 0,0 7,7\n"
      "  waystar find temple 12.5,3,0 40,22.5,4 --snap 1 --snap-height 2\n"
      "  waystar find islands harbour lighthouse --block-node ford --block-edge harbour,bridge\n");
}

void AddValidateCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::ValidatePathsRequest>();
  v1::Path* const path = request->add_paths();
  CLI::App& command =
      AddCommand(parent, session, "validate", "Tells whether a path can still be walked, and what it costs",
                 request, &Validate);
  AddMap(command, *request->mutable_map());
  AddParsedList(
      command, "POINTS", &ParsePlace,
      [path](const v1::Location& place) {
        if (place.has_node()) {
          path->add_nodes(place.node());
        } else {
          AddPoint(place, *path);
        }
      },
      "The path: its cells, X,Y, each of them or those that straight lines lead between, its nodes on a "
      "waypoint graph, or its corners on a navigation mesh, at least one as X,Y,Z");
  AddParsed(
      command, "--start-position", &ParsePosition,
      [path](const v1::Position& start) { *path->mutable_start()->mutable_position() = start; },
      "On a waypoint graph, where the path begins before its first node: X,Y or X,Y,Z")
      ->type_name("X,Y");
  AddParsed(
      command, "--goal-position", &ParsePosition,
      [path](const v1::Position& goal) { *path->mutable_end()->mutable_position() = goal; },
      "On a waypoint graph, where the path ends behind its last node: X,Y or X,Y,Z")
      ->type_name("X,Y");
  command.parse_complete_callback([path] {
    const bool has_points = !path->points().empty() || !path->positions().empty();
    CheckPlace(has_points || !path->nodes().empty() || (path->has_start() && path->has_end()), "POINTS");
    if (has_points && !path->nodes().empty()) {
      throw CLI::ArgumentMismatch("POINTS are cells or nodes, not both");
    }
  });
  command.add_flag_callback(
      "--smoothed", [path] { path->set_form(v1::PATH_FORM_SMOOTHED); },
      "The path is a smoothed one, whose lines cost their length");
  AddQuestion(command, *request);
  command.footer(
      "Points, nodes and corners are counted from 0.\n\n"
      "Examples:\n"
      "  waystar validate arena 1,1 1,9 4,12\n"
      "  waystar validate islands harbour ford lighthouse\n"
      "  waystar validate keep 2,10,0 4,12 20,12 23,2,4\n");
}

}  // namespace waystar::cli
