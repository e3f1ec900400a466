#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/cli/answer_picture.h"
#include "client/cli/commands.h"
#include "client/cli/draw_options.h"
#include "client/cli/find_text.h"
#include "client/cli/json.h"
#include "client/cli/query_arguments.h"
#include "client/cli/search_cells.h"
#include "client/cli/trace_text.h"

namespace waystar::cli {
namespace {

struct TraceArguments {
  v1::TraceSearchRequest request;
  // List the events instead of drawing them.
  bool events = false;
  DrawOptions draw;
};

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
  if (arguments.draw.picture && !arguments.events) {
    const auto picture = AnswerPicture(query, result->answer(), cells, arguments.draw, session);
    if (picture.ok()) {
      io.out << *picture;
    } else {
      session.Fail(picture.status());
    }
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
  command
      .add_option_function<int32_t>(
          "--max-events", [&request](int32_t events) { request.set_max_events(events); },
          "Keep so many events of the search at the most [100000]")
      ->type_name("N");
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
