#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/find_text.h"
#include "client/cli/graph_text.h"
#include "client/cli/json.h"
#include "client/cli/known_version.h"
#include "client/cli/map_picture.h"
#include "client/cli/query_arguments.h"

namespace waystar::cli {
namespace {

struct FindArguments {
  v1::FindPathRequest request;
  DrawOptions draw;
};

void PrintPath(const FindArguments& arguments, const v1::FindPathResponse& answer, Session& session) {
  const v1::FindPathRequest& request = arguments.request;
  std::ostream& out = session.io().out;
  if (IsOnGraph(request, answer)) {
    out << FindText(request, answer) << "\n";
    if (answer.positions_size() > 0) {
      out << GraphPathText(request, answer) << "\n";
    }
    return;
  }
  ShowAnswerPicture(request, answer, {}, arguments.draw, session);
  out << FindText(request, answer) << "\n";
  const bool lists = !arguments.draw.picture || request.path_form() != v1::PATH_FORM_UNSPECIFIED;
  if ((lists || answer.positions_size() > 0) && answer.has_end()) {
    out << PathText(answer) << "\n";
  }
  if (answer.has_summary()) {
    out << SummaryText(answer.summary(), session.table_width());
  }
}

ExitCode Find(const FindArguments& given, Session& session) {
  FindArguments arguments = given;
  v1::FindPathRequest& request = arguments.request;
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

struct WatchPathArguments {
  v1::WatchPathRequest request;
  // Answers to tell of; 0 for no end.
  uint64_t count = 0;
};

void Print(const WatchPathArguments& arguments, const v1::WatchPathResponse& message, Session& session) {
  std::ostream& out = session.io().out;
  if (session.options().json) {
    out << ToJson(message, /*pretty=*/false);
  } else if (message.has_problem()) {
    out << "No answer at revision " << message.version().revision() << ": " << message.problem().message()
        << "\n";
  } else {
    out << FindText(arguments.request.query(), message.answer()) << "\n";
    if (message.answer().has_end()) {
      out << PathText(message.answer()) << "\n";
    }
  }
  out << std::flush;
}

ExitCode WatchPath(const WatchPathArguments& arguments, Session& session) {
  const auto watch = session.client().WatchPath(arguments.request);
  uint64_t told = 0;
  v1::WatchPathResponse message;
  while (watch->Next(message)) {
    Print(arguments, message, session);
    if (!session.io().out || ++told == arguments.count) {
      return ExitCode::kOk;
    }
  }
  return session.Fail(watch->Finish());
}

ExitCode Validate(const v1::ValidatePathRequest& request, Session& session) {
  const auto response = session.client().ValidatePath(request);
  const bool is_walkable = response.ok() && response->walkable();
  const auto print = [&](const v1::ValidatePathResponse& answer) {
    if (is_walkable) {
      session.io().out << absl::StreamFormat("Walkable at cost %.6g, at revision %d.\n", answer.cost(),
                                             answer.version().revision());
    } else {
      session.io().out << absl::StreamFormat(
          "Blocked at %s, on the way to point %d, after cost %.6g, at revision %d.\n",
          FormatCell(answer.blocked_cell()), answer.blocked_index(), answer.cost(),
          answer.version().revision());
    }
  };
  return session.Answer(response, print, is_walkable ? ExitCode::kOk : ExitCode::kNoPath);
}

}  // namespace

void AddFindCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<FindArguments>();
  v1::FindPathRequest& request = arguments->request;
  CLI::App& command =
      AddCommand(parent, session, "find", "Finds a cheapest path and draws it", arguments, &Find);
  AddQueryOfGoals(command, request);
  command
      .add_option_function<uint64_t>(
          "--least-revision",
          [&request](uint64_t revision) {
            request.mutable_view()->mutable_least_version()->set_revision(revision);
          },
          "Wait until the map has this revision [of the epoch that it has now, which is asked for]")
      ->type_name("N");
  AddRequiredTags(command, request);
  AddPathForm(command, request);
  AddExtras(command, request);
  AddDrawOptions(command, arguments->draw);
  command.footer(
      "x grows to the right and y down; 0,0 is the top left cell.\n\n"
      "Examples:\n"
      "  waystar find arena 1,1 60,40\n"
      "  waystar find arena 1,1 60,40 --nearest --corner-rule one-free\n"
      "  waystar find arena 1,1 60,40 9,30 12,7\n"
      "  waystar find arena 1,1 60,40 --no-picture --form directions\n"
      "  waystar find arena --start-position 3.5,-2 --goal-position 12,8 --snap 1.5\n"
      "  waystar find arena 1,1 --goal-position 12,8 --goal-position -3,4.5\n"
      "  waystar find arena 1,1 60,40 --profile tank --summary\n"
      "  waystar find arena 1,1 60,40 --json | jq .cost\n"
      "  waystar find islands harbour lighthouse --require-tag dry\n");
}

void AddWatchPathCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<WatchPathArguments>();
  v1::FindPathRequest& query = *arguments->request.mutable_query();
  CLI::App& command =
      AddCommand(parent, session, "watch-path",
                 "Finds a cheapest path, and again whenever the map blocks it or offers a cheaper one",
                 arguments, &WatchPath);
  AddQuery(command, query);
  AddPathForm(command, query);
  command.add_option("--count", arguments->count, "End after so many answers")->type_name("N");
  command.footer(
      "Two lines for each answer: what was found, and the path. Goes on until Ctrl-C. With --json, one "
      "object a "
      "line.\n\n"
      "Examples:\n"
      "  waystar watch-path arena 1,1 60,40\n"
      "  waystar watch-path arena 1,1 60,40 --form corners --nearest\n"
      "  waystar watch-path arena 1,1 60,40 --json | jq .answer.cost\n");
}

void AddValidateCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::ValidatePathRequest>();
  CLI::App& command =
      AddCommand(parent, session, "validate", "Tells whether a path can still be walked, and what it costs",
                 request, &Validate);
  AddMap(command, *request->mutable_map());
  AddParsedList(
      command, "POINTS", &ParseCell, [request](const v1::Cell& cell) { *request->add_points() = cell; },
      "The cells of the path, X,Y: each of them, or those that straight lines lead between")
      ->required();
  command.add_flag_callback(
      "--smoothed", [request] { request->set_path_form(v1::PATH_FORM_SMOOTHED); },
      "The path is a smoothed one, whose lines cost their length");
  AddQuestion(command, *request);
  command.footer(
      "Points are counted from 0.\n\n"
      "Examples:\n"
      "  waystar validate arena 1,1 1,9 4,12\n"
      "  waystar validate arena 1,1 60,40 --smoothed --footprint 2\n");
}

}  // namespace waystar::cli
