#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/cli/arguments.h"
#include "client/cli/files.h"
#include "client/cli/find_text.h"
#include "client/cli/map_picture.h"
#include "client/cli/message_text.h"
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

// Has the path of a query drawn on its map.
void SetQuery(const v1::FindPathRequest& query, MapPicture& picture) {
  picture.request.set_map(query.map());
  *picture.request.mutable_query() = query;
}

// `picture` is of the path, if there is one.
void PrintPath(const FindArguments& arguments, const v1::FindPathResponse& answer, const std::string& picture,
               Session& session) {
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
  } else {
    out << picture << FindText(request, answer) << "\n";
    const bool lists = !arguments.draw.picture || request.path_form() != v1::PATH_FORM_UNSPECIFIED;
    if ((lists || answer.path().positions_size() > 0) && answer.path().has_end()) {
      out << PathText(request, answer) << "\n";
    }
  }
  if (answer.has_summary()) {
    out << SummaryText(answer.summary(), session.table_width());
  }
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

// Returns true if the query is about a grid, which has a picture.
bool IsOnCells(const v1::FindPathRequest& request, Session& session) {
  if (request.has_inline_map() || !request.start().has_position()) {
    return !request.has_inline_map() && request.start().has_cell();
  }
  const auto& info = session.InfoOf(request.map());
  return info.ok() && info->has_grid();
}

// Finds a path by drawing it. Where that is refused, it is found alone, and the user is told.
absl::StatusOr<v1::FindPathResponse> FindAndDraw(const FindArguments& arguments, DrawnPicture& picture,
                                                 Session& session) {
  MapPicture wanted;
  SetQuery(arguments.request, wanted);
  absl::StatusOr<DrawnPicture> drawn = DrawPicture(wanted, arguments.draw, session);
  if (drawn.ok()) {
    picture = *std::move(drawn);
    return picture.answer;
  }
  if (ExitCodeFor(drawn.status()) == ExitCode::kUnavailable) {
    return drawn.status();
  }
  absl::StatusOr<v1::FindPathResponse> found = session.client().FindPath(arguments.request);
  if (found.ok()) {
    session.Fail(drawn.status());
  }
  return found;
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
  DrawnPicture drawn;
  const bool draws = arguments.draw.picture && !session.options().json && IsOnCells(request, session);
  const absl::StatusOr<v1::FindPathResponse> response =
      draws ? FindAndDraw(arguments, drawn, session) : session.client().FindPath(request);
  const auto print = [&](const v1::FindPathResponse& answer) {
    PrintPath(arguments, answer, drawn.text, session);
  };
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

// Adds a node, a cell or a position to a path. A corner at height 0 is written as a cell is, so beside
// positions cells are corners.
void AddPoint(const v1::Location& place, v1::Path& path) {
  if (place.has_node()) {
    path.add_nodes(place.node());
  } else if (place.has_position()) {
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

// Shifts the positionals: takes MAP as START, START as the first GOAL, and so on. Throws a usage error if MAP
// is not a place.
void TakeMapForStart(v1::FindPathRequest& request) {
  const absl::StatusOr<v1::Location> start = ParsePlace(request.map());
  if (!start.ok()) {
    throw CLI::ValidationError("START", std::string(start.status().message()));
  }
  request.clear_map();
  if (request.has_start()) {
    request.add_goals()->Swap(request.mutable_start());
    std::rotate(request.mutable_goals()->begin(), request.mutable_goals()->end() - 1,
                request.mutable_goals()->end());
  }
  *request.mutable_start() = *start;
}

// With a file there is no map argument, so the first positional is the start, and so on.
void AddMapFile(CLI::App& command, FindArguments& arguments) {
  AddFile(command, "--map-file", arguments.map_file,
          "In place of MAP: a small map that the query brings along, as rows of text or as a "
          "WaypointGraph in JSON; - is standard input");
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
  const auto [command, arguments] =
      AddCommand(parent, session, "find", "Finds a cheapest path and draws it", &Find,
                 "x grows to the right and y down; 0,0 is the top left cell.\n\n"
                 "Examples:\n"
                 "  waystar find arena 1,1 60,40\n"
                 "  waystar find arena 1,1 60,40 9,30 12,7\n"
                 "  waystar find arena --start-position 3.5,-2 --goal-position 12,8 --snap 1.5\n"
                 "  waystar find arena 1,1 60,40 --profile tank --summary\n"
                 "  waystar find --map-file room.txt 0,0 7,7\n"
                 "  waystar find temple 12.5,3,0 40,22.5,4 --snap 1 --snap-height 2\n"
                 "  waystar find islands harbour lighthouse --block-node ford --block-edge harbour,bridge\n");
  v1::FindPathRequest& request = arguments.request;
  AddQuery(command, request, kAnyNumber);
  AddMapFile(command, arguments);
  AddField(command, "--least-revision", request, "view.least_version.revision",
           "Wait until the map has this revision [of the epoch that it has now, which is asked for]");
  AddPathForm(command, request);
  AddFields(
      command, request,
      {{"--positions", "with_positions", "List the path by the centres of its cells, in units of the game"},
       {"--summary", "with_summary",
        "Tell how long the path is, how often it turns, and on a grid which terrains it crosses"},
       {"--corridor", "with_corridor", "List the polygons of a navigation mesh that the path leads through"},
       {"--surface", "with_surface",
        "List where the path crosses the edges of these polygons, with their heights"},
       {"--polygons", "with_polygons",
        "List these polygons with their corners, and where obstacles cut them, the pieces passed"}});
  AddDrawOptions(command, arguments.draw);
}

void AddValidateCommand(CLI::App& parent, Session& session) {
  const auto [command, request] = AddCommand(
      parent, session, "validate", "Tells whether a path can still be walked, and what it costs", &Validate,
      "Points, nodes and corners are counted from 0.\n\n"
      "Examples:\n"
      "  waystar validate arena 1,1 1,9 4,12\n"
      "  waystar validate islands harbour ford lighthouse\n"
      "  waystar validate keep 2,10,0 4,12 20,12 23,2,4\n");
  v1::Path& path = *request.add_paths();
  AddMap(command, request);
  AddParsedList(
      command, "POINTS", &ParsePlace, [&path](const v1::Location& place) { AddPoint(place, path); },
      "The path: its cells, X,Y, each of them or those that straight lines lead between, its nodes on a "
      "waypoint graph, or its corners on a navigation mesh, at least one as X,Y,Z");
  AddFields(command, path,
            {{"--start-position", "start.position",
              "On a waypoint graph, where the path begins before its first node: X,Y or X,Y,Z", "X,Y"},
             {"--goal-position", "end.position",
              "On a waypoint graph, where the path ends behind its last node: X,Y or X,Y,Z", "X,Y"}});
  command.parse_complete_callback([&path] {
    const bool has_points = !path.points().empty() || !path.positions().empty();
    CheckPlace(has_points || !path.nodes().empty() || (path.has_start() && path.has_end()), "POINTS");
    if (has_points && !path.nodes().empty()) {
      throw CLI::ArgumentMismatch("POINTS are cells or nodes, not both");
    }
  });
  command.add_flag_callback(
      "--smoothed", [&path] { path.set_form(v1::PATH_FORM_SMOOTHED); },
      "The path is a smoothed one, whose lines cost their length");
  AddQuestion(command, request);
}

namespace {

struct TraceArguments {
  v1::TraceSearchRequest request;
  // List the events instead of drawing them.
  bool events = false;
  DrawOptions draw;
};

// Returns a name that is unique to the place of an event within its search.
std::string PlaceOf(const v1::SearchEvent& event) {
  if (event.has_interval()) {
    return absl::StrCat(event.interval().id());
  }
  return event.node().empty() ? FormatCell(event.cell()) : event.node();
}

// "expanded 1,0 g=1 f=14", "generated ford from harbour g=6 f=12", or, with all about an interval, "generated
// 3 parent 1 polygon 12 left 8,10 right 8,12,1 root 4,10 g=2 f=14".
std::string EventText(const v1::SearchEvent& event) {
  const std::string parent = event.has_parent() ? FormatCell(event.parent()) : event.parent_node();
  const std::string place = event.has_interval()
                                ? MessageText(event.interval())
                                : absl::StrCat(PlaceOf(event), parent.empty() ? "" : " from ", parent);
  return absl::StrFormat("%s %s g=%.10g f=%.10g", EnumText(event.kind()), place, event.g(), event.f());
}

// Returns the number of entries put on the open list, and of places left on it: `place` is "cell", "node" or
// "interval". If the trace was truncated, says how to get more instead of the number left.
std::string TraceText(const v1::TraceSearchResult& result, std::size_t open, const std::string& place) {
  const std::uint64_t generated = result.answer().info().statistics().generated();
  const std::string entries =
      absl::StrCat("Put on the open list: ", generated, generated == 1 ? " entry" : " entries");
  if (result.truncated()) {
    return absl::StrCat(entries, ". Only the first events are shown: --max-events allows up to 1000000.");
  }
  return absl::StrCat(entries, "; left open: ", Counted(static_cast<std::int64_t>(open), place));
}

std::string JsonLine(const google::protobuf::Message& message) {
  return std::string(absl::StripSuffix(ToJson(message, /*pretty=*/false), "\n"));
}

// One document, written while it arrives: an event a line, then the result.
ExitCode TraceAsJson(const TraceArguments& arguments, Session& session) {
  constexpr char kOpening[] = "{\"events\":[\n";
  std::ostream& out = session.io().out;
  std::string separator = kOpening;
  const auto result =
      session.client().TraceSearch(arguments.request, [&out, &separator](const v1::SearchEvent& event) {
        out << separator << JsonLine(event);
        separator = ",\n";
      });
  if (!result.ok()) {
    return session.Fail(result.status());
  }
  out << (separator == kOpening ? separator : "\n") << "],\"result\":" << JsonLine(*result) << "}\n";
  return ExitCodeFor(result->answer().outcome());
}

// The places of a search, gathered from its events: cells of a grid, nodes of a waypoint graph, or intervals
// of edges of a navigation mesh.
class SearchedPlaces {
 public:
  struct Place {
    // The event that last reached it, with the costs of the last event about it.
    v1::SearchEvent event;
    // Counts the places as they are expanded; the largest number for one that is open.
    std::size_t order = kOpen;
  };

  // Takes the next event.
  void Add(const v1::SearchEvent& event) {
    const auto [entry, is_new] = indices_.try_emplace(PlaceOf(event), places_.size());
    if (is_new) {
      places_.push_back({.event = event});
    }
    Place& place = places_[entry->second];
    if (event.kind() != v1::SearchEvent::KIND_EXPANDED) {
      place.event = event;
      return;
    }
    place.event.set_g(event.g());
    place.event.set_f(event.f());
    if (place.order == kOpen) {
      place.order = ++expanded_;
    }
  }

  // Returns how many were generated and not expanded.
  std::size_t open() const { return places_.size() - expanded_; }

  // Returns those that were expanded, in the order of their expansion, and then the open ones, in the order
  // in which they were first generated.
  std::vector<Place> Sorted() const {
    std::vector<Place> sorted = places_;
    std::ranges::stable_sort(sorted, {}, &Place::order);
    return sorted;
  }

  static constexpr std::size_t kOpen = std::numeric_limits<std::size_t>::max();

 private:
  std::vector<Place> places_;
  std::size_t expanded_ = 0;
  absl::flat_hash_map<std::string, std::size_t> indices_;
};

// The places that a table lists, unless all are asked for.
constexpr std::size_t kPlacesInTable = 50;

// Lists the nodes or intervals of a search, the expanded ones first.
std::string PlaceTable(const SearchedPlaces& places, bool is_on_mesh, std::size_t most, std::size_t width) {
  std::vector<TableRow> rows(1, {"ORDER", "NODE", "COST", "TOTAL", "FROM"});
  if (is_on_mesh) {
    rows[0] = {"ORDER", "ID", "THROUGH", "POLYGON", "LEFT", "RIGHT", "ROOT", "COST", "TOTAL"};
  }
  const std::vector<SearchedPlaces::Place> sorted = places.Sorted();
  for (const auto& [event, number] : sorted) {
    if (rows.size() > most) {
      break;
    }
    const std::string order = number == SearchedPlaces::kOpen ? "open" : absl::StrCat(number);
    const std::string cost = absl::StrFormat("%.6g", event.g());
    const std::string total = absl::StrFormat("%.6g", event.f());
    const v1::MeshInterval& interval = event.interval();
    if (is_on_mesh) {
      rows.push_back({order, absl::StrCat(interval.id()),
                      interval.parent() == 0 ? "" : absl::StrCat(interval.parent()),
                      absl::StrCat(interval.polygon()), FormatPosition(interval.left()),
                      FormatPosition(interval.right()), FormatPosition(interval.root()), cost, total});
    } else {
      rows.push_back({order, event.node(), cost, total, event.parent_node()});
    }
  }
  const std::size_t more = sorted.size() - std::min(sorted.size(), most);
  return absl::StrCat(FormatTable(rows, width),
                      more > 0 ? absl::StrCat("and ", more, " more: --full lists all\n") : "");
}

ExitCode TraceAsText(const TraceArguments& arguments, Session& session) {
  std::ostream& out = session.io().out;
  const v1::FindPathRequest& query = arguments.request.query();
  SearchedPlaces places;
  const auto result = session.client().TraceSearch(arguments.request, [&](const v1::SearchEvent& event) {
    places.Add(event);
    if (arguments.events) {
      out << EventText(event) << "\n";
    }
  });
  if (!result.ok()) {
    return session.Fail(result.status());
  }
  const v1::FindPathResponse& answer = result->answer();
  const bool is_on_mesh = IsOnMesh(answer);
  const bool is_on_grid = !is_on_mesh && !IsOnGraph(query, answer);
  if (!arguments.events && is_on_grid) {
    MapPicture picture;
    SetQuery(query, picture);
    picture.request.set_with_search(true);
    picture.request.set_max_events(arguments.request.max_events());
    for (const SearchedPlaces::Place& place : places.Sorted()) {
      if (place.order != SearchedPlaces::kOpen) {
        picture.focus.push_back(place.event.cell());
      }
    }
    ShowPicture(picture, answer.info().version(), "path", arguments.draw, session);
  } else if (!arguments.events && arguments.draw.picture) {
    const std::size_t most = arguments.draw.full ? std::numeric_limits<std::size_t>::max() : kPlacesInTable;
    out << PlaceTable(places, is_on_mesh, most, session.table_width());
  }
  out << FindText(query, answer) << "\n";
  if (!is_on_grid && answer.path().positions_size() > 0) {
    out << PathText(query, answer) << "\n";
  }
  out << TraceText(*result, places.open(), is_on_mesh ? "interval" : is_on_grid ? "cell" : "node") << "\n";
  return ExitCodeFor(answer.outcome());
}

ExitCode Trace(const TraceArguments& arguments, Session& session) {
  return session.options().json ? TraceAsJson(arguments, session) : TraceAsText(arguments, session);
}

}  // namespace

void AddTraceCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] = AddCommand(
      parent, session, "trace", "Finds a cheapest path and draws how it was searched for", &Trace,
      "Digits show which cells were expanded, taken from the open list and looked around from: 0 is the\n"
      "cheapest to reach and 9 the dearest. Jump point search expands jump points alone. Cells drawn with\n"
      "an o were seen and not expanded.\n\n"
      "On a waypoint graph a table lists the nodes in the order in which they were expanded, and then the\n"
      "open ones: the cost of the way to each, the total with the estimate of the rest, and the node that\n"
      "the way comes from. On a navigation mesh it lists the intervals of edges: the one that each was seen\n"
      "through, the polygon behind it, its ends, and the root that it is seen from. --full lists all.\n\n"
      "Examples:\n"
      "  waystar trace arena 1,1 60,40\n"
      "  waystar trace arena 1,1 60,40 --events | grep ^expanded\n"
      "  waystar trace arena 1,1 60,40 --json | jq '.events[].cell'\n");
  AddQuery(command, *arguments.request.mutable_query());
  AddField(command, "--max-events", arguments.request, "max_events",
           "Keep so many events of the search at the most [100000]");
  command.add_flag("--events", arguments.events, "List the events, a line each, instead of drawing them");
  AddDrawOptions(command, arguments.draw);
}

}  // namespace waystar::cli
