#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/find_text.h"
#include "client/cli/json.h"
#include "client/cli/query_arguments.h"

namespace waystar::cli {
namespace {

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
    out << "No answer at revision " << message.revision() << ": " << message.problem().message() << "\n";
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

}  // namespace

void AddWatchPathCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<WatchPathArguments>();
  v1::FindPathRequest& query = *arguments->request.mutable_query();
  CLI::App& command = *parent.add_subcommand(
      "watch-path", "Finds a cheapest path, and again whenever the map blocks it or offers a cheaper one");
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
  command.callback([arguments, &session] { session.exit_code = WatchPath(*arguments, session); });
}

}  // namespace waystar::cli
