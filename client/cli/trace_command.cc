#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/cli/arguments.h"
#include "client/cli/find_text.h"
#include "client/cli/map_picture.h"
#include "client/cli/query_arguments.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

struct TraceArguments {
  v1::TraceSearchRequest request;
  // List the events instead of drawing them.
  bool events = false;
  DrawOptions draw;
};

std::string KindName(v1::SearchEvent::Kind kind) {
  switch (kind) {
    case v1::SearchEvent::KIND_GENERATED:
      return "generated";
    case v1::SearchEvent::KIND_EXPANDED:
      return "expanded";
    default:
      return "?";
  }
}

// "generated 3 through 1 to polygon 12 between 8,10 and 8,12,1 seen from 4,10 g=2 f=14", or "expanded 3 g=2
// f=14".
std::string IntervalEventText(const v1::SearchEvent& event) {
  const v1::MeshInterval& interval = event.interval();
  std::string text = absl::StrCat(KindName(event.kind()), " ", interval.id());
  if (interval.parent() != 0) {
    absl::StrAppend(&text, " through ", interval.parent());
  }
  if (event.kind() == v1::SearchEvent::KIND_GENERATED) {
    absl::StrAppend(&text, " to polygon ", interval.polygon(), " between ", FormatPosition(interval.left()),
                    " and ", FormatPosition(interval.right()), " seen from ",
                    FormatPosition(interval.root()));
  }
  return absl::StrFormat("%s g=%.10g f=%.10g", text, event.g(), event.f());
}

// " from 1,0" or " from harbour", or nothing where a way begins.
std::string FromText(const v1::SearchEvent& event) {
  const std::string parent = event.has_parent() ? FormatCell(event.parent()) : event.parent_node();
  return parent.empty() ? "" : absl::StrCat(" from ", parent);
}

// "expanded 1,0 g=1 f=14", or "generated ford from harbour g=6 f=12".
std::string EventText(const v1::SearchEvent& event) {
  if (event.has_interval()) {
    return IntervalEventText(event);
  }
  return absl::StrFormat("%s %s%s g=%.10g f=%.10g", KindName(event.kind()),
                         event.node().empty() ? FormatCell(event.cell()) : event.node(), FromText(event),
                         event.g(), event.f());
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

// The places that a table lists, unless all are asked for.
constexpr std::size_t kPlacesInTable = 50;

// Lists the nodes or intervals of a search, the expanded ones first.
std::string PlaceTable(const SearchedPlaces& places, bool is_on_mesh, std::size_t most, std::size_t width) {
  std::vector<TableRow> rows(1, {"ORDER", "NODE", "COST", "TOTAL", "FROM"});
  if (is_on_mesh) {
    rows[0] = {"ORDER", "ID", "THROUGH", "POLYGON", "LEFT", "RIGHT", "ROOT", "COST", "TOTAL"};
  }
  const std::size_t count = places.Expanded().size() + places.open();
  const auto add = [&](const v1::SearchEvent& event, const std::string& order) {
    const v1::MeshInterval& interval = event.interval();
    const std::string cost = absl::StrFormat("%.6g", event.g());
    const std::string total = absl::StrFormat("%.6g", event.f());
    if (rows.size() > most) {
      return;
    }
    if (!is_on_mesh) {
      rows.push_back({order, event.node(), cost, total, event.parent_node()});
      return;
    }
    rows.push_back({order, absl::StrCat(interval.id()),
                    interval.parent() == 0 ? "" : absl::StrCat(interval.parent()),
                    absl::StrCat(interval.polygon()), FormatPosition(interval.left()),
                    FormatPosition(interval.right()), FormatPosition(interval.root()), cost, total});
  };
  for (const v1::SearchEvent& event : places.Expanded()) {
    add(event, absl::StrCat(rows.size()));
  }
  for (const v1::SearchEvent& event : places.Open()) {
    add(event, "open");
  }
  return absl::StrCat(FormatTable(rows, width),
                      count > most ? absl::StrCat("and ", count - most, " more: --full lists all\n") : "");
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
    ShowAnswerPicture(query, answer, places, arguments.draw, session);
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

}  // namespace

void AddTraceCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<TraceArguments>();
  v1::TraceSearchRequest& request = arguments->request;
  CLI::App& command =
      *parent.add_subcommand("trace", "Finds a cheapest path and draws how it was searched for");
  AddQuery(command, *request.mutable_query());
  AddField(command, "--max-events", request, &v1::TraceSearchRequest::set_max_events,
           "Keep so many events of the search at the most [100000]");
  command.add_flag("--events", arguments->events, "List the events, a line each, instead of drawing them");
  AddDrawOptions(command, arguments->draw);
  command.footer(
      "Digits show which cells were expanded, taken from the open list and looked around from: 0 is the\n"
      "first tenth of them and 9 the last. Jump point search expands jump points alone. Cells drawn as open\n"
      "were seen and not expanded.\n\n"
      "On a waypoint graph a table lists the nodes in the order in which they were expanded, then those "
      "that\n"
      "are open: the cost of the way to each, the total with the estimate of the rest, and the node that "
      "the\n"
      "way comes from. --full lists all of them. On a navigation mesh it lists the intervals of edges: the "
      "one\n"
      "that each was seen through, the polygon behind it, its ends, and the root that it is seen from.\n\n"
      "Examples:\n"
      "  waystar trace arena 1,1 60,40\n"
      "  waystar trace arena 1,1 60,40 --events | grep ^expanded\n"
      "  waystar trace arena 1,1 60,40 --json | jq '.events[].cell'\n");
  command.callback([arguments, &session] {
    session.exit_code =
        session.options().json ? TraceAsJson(*arguments, session) : TraceAsText(*arguments, session);
  });
}

}  // namespace waystar::cli
