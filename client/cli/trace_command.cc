#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/find_text.h"
#include "client/cli/json.h"
#include "client/cli/map_picture.h"
#include "client/cli/query_arguments.h"
#include "client/cli/search_cells.h"

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

// "expanded 1,0 g=1 f=14", or "generated 2,0 from 1,0 g=2 f=14".
std::string EventText(const v1::SearchEvent& event) {
  const std::string from = event.has_parent() ? absl::StrCat(" from ", FormatCell(event.parent())) : "";
  return absl::StrFormat("%s %s%s g=%.10g f=%.10g", KindName(event.kind()), FormatCell(event.cell()), from,
                         event.g(), event.f());
}

// What the search did beside the path: entries on the open list, and cells left on it. If the trace was cut
// short, says how to get more of it instead of how many are left.
std::string TraceText(const v1::TraceSearchResult& result, std::size_t open_cells) {
  const std::uint64_t generated = result.answer().statistics().generated();
  const std::string entries =
      absl::StrCat("Put on the open list: ", generated, generated == 1 ? " entry" : " entries");
  if (result.truncated()) {
    return absl::StrCat(entries, ". Only the first events are shown: --max-events allows up to 1000000.");
  }
  return absl::StrCat(entries, "; left open: ", open_cells, open_cells == 1 ? " cell" : " cells");
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

ExitCode TraceAsText(const TraceArguments& arguments, Session& session) {
  Io& io = session.io();
  const v1::FindPathRequest& query = arguments.request.query();
  SearchCells cells;
  const auto result = session.client().TraceSearch(arguments.request, [&](const v1::SearchEvent& event) {
    cells.Add(event);
    if (arguments.events) {
      io.out << EventText(event) << "\n";
    }
  });
  if (!result.ok()) {
    return session.Fail(result.status());
  }
  if (!arguments.events) {
    ShowAnswerPicture(query, result->answer(), cells, arguments.draw, session);
  }
  io.out << FindText(query, result->answer()) << "\n" << TraceText(*result, cells.Open().size()) << "\n";
  return ExitCodeFor(result->answer().outcome());
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
      "Digits show which cells were expanded, taken from the open list and looked around from: 0 is the "
      "first\n"
      "tenth of them and 9 the last. Jump point search expands jump points alone. Cells drawn as open were "
      "seen\n"
      "and not expanded.\n\n"
      "Examples:\n"
      "  waystar trace arena 1,1 60,40\n"
      "  waystar trace arena 1,1 60,40 --algorithm dijkstra\n"
      "  waystar trace arena 1,1 60,40 --events | grep ^expanded\n"
      "  waystar trace arena 1,1 60,40 --json | jq '.events[].cell'\n");
  command.callback([arguments, &session] {
    session.exit_code =
        session.options().json ? TraceAsJson(*arguments, session) : TraceAsText(*arguments, session);
  });
}

}  // namespace waystar::cli
