#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/field_arguments.h"
#include "client/cli/find_text.h"
#include "client/cli/input.h"
#include "client/cli/query_arguments.h"
#include "client/cli/scenario.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

struct PathsArguments {
  v1::FindPathsRequest request;
  // What all queries have in common.
  v1::FindPathRequest each;
  std::string file = "-";
  // Of queries whose lengths are known; empty: `file` has the queries.
  std::string scenario_file;
};

// Nothing of a comment or an empty line.
std::vector<absl::string_view> WordsOf(absl::string_view line) {
  const absl::string_view text = line.substr(0, line.find('#'));
  return absl::StrSplit(text, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
}

absl::Status AddQueries(absl::string_view text, const v1::FindPathRequest& each,
                        v1::FindPathsRequest& request) {
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> words = WordsOf(line);
    if (words.empty()) {
      continue;
    }
    if (words.size() != 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": a query is two cells, such as 3,4 60,40"));
    }
    const auto start = ParseCell(words[0]);
    const auto goal = ParseCell(words[1]);
    if (!start.ok() || !goal.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", (start.ok() ? goal : start).status().message()));
    }
    v1::FindPathRequest& query = *request.add_queries();
    query = each;
    *query.mutable_start() = *start;
    *query.mutable_goal() = *goal;
  }
  return absl::OkStatus();
}

std::string OutcomeName(v1::Outcome outcome) {
  switch (outcome) {
    case v1::OUTCOME_FOUND:
      return "found";
    case v1::OUTCOME_PARTIAL:
      return "partial";
    case v1::OUTCOME_UNREACHABLE:
      return "unreachable";
    case v1::OUTCOME_BUDGET_EXHAUSTED:
      return "exhausted";
    default:
      return "unknown";
  }
}

TableRow RowOf(const v1::FindPathRequest& query, const v1::FindPathsResult& result) {
  TableRow row = {FormatCell(query.start()), FormatCell(query.goal())};
  if (result.has_problem()) {
    row.insert(row.end(), {"refused", "-", result.problem().message()});
    return row;
  }
  const v1::FindPathResponse& answer = result.answer();
  row.push_back(OutcomeName(answer.outcome()));
  row.push_back(answer.has_end() ? absl::StrFormat("%.10g", answer.cost()) : "-");
  row.push_back(answer.has_end() ? PathText(answer) : "-");
  return row;
}

ExitCode CodeOf(const v1::FindPathsResponse& answers) {
  ExitCode code = ExitCode::kOk;
  for (const v1::FindPathsResult& result : answers.results()) {
    if (result.has_problem()) {
      return ExitCode::kRefused;
    }
    if (result.answer().outcome() != v1::OUTCOME_FOUND) {
      code = ExitCode::kNoPath;
    }
  }
  return code;
}

ExitCode FindPaths(const PathsArguments& arguments, Session& session) {
  if (!arguments.scenario_file.empty()) {
    return session.options().json
               ? session.FailUsage("--scenario has no JSON of its own")
               : CheckScenario(arguments.scenario_file, arguments.request, arguments.each, session);
  }
  const auto text = ReadInput(arguments.file, session.io().in);
  if (!text.ok()) {
    return session.FailUsage(absl::StrCat("cannot read ", arguments.file, ": ", text.status().message()));
  }
  v1::FindPathsRequest request = arguments.request;
  if (const absl::Status status = AddQueries(*text, arguments.each, request); !status.ok()) {
    return session.FailUsage(std::string(status.message()));
  }
  const auto answers = session.client().FindPaths(request);
  if (!answers.ok()) {
    return session.Fail(answers.status());
  }
  if (session.options().json) {
    session.PrintJson(*answers);
    return CodeOf(*answers);
  }
  std::vector<TableRow> rows = {{"START", "GOAL", "OUTCOME", "COST", "POINTS"}};
  for (int i = 0; i < request.queries_size() && i < answers->results_size(); ++i) {
    rows.push_back(RowOf(request.queries(i), answers->results(i)));
  }
  session.io().out << FormatTable(rows, session.table_width());
  return CodeOf(*answers);
}

}  // namespace

void AddPathsCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<PathsArguments>();
  v1::FindPathRequest& each = arguments->each;
  each.set_path_form(v1::PATH_FORM_CORNERS);
  CLI::App& command = *parent.add_subcommand("paths", "Finds many paths at once, on one revision of the map");
  AddFieldQuestion(command, arguments->request);
  command
      .add_option("FILE", arguments->file,
                  "The queries, a line each: START GOAL, both X,Y; '-' reads standard input [-]")
      ->type_name(kFileType);
  command
      .add_option(
          "--scenario", arguments->scenario_file,
          "Instead of FILE: the queries of a Moving AI .scen file, whose lengths are compared with its")
      ->type_name(kFileType)
      ->excludes(command.get_option("FILE"));
  AddPathForm(command, each);
  AddNearest(command, each);
  command.footer(
      "Paths are listed by the cells where they turn, unless --form says otherwise. Empty lines, and what "
      "stands "
      "behind a #,\nare passed over. A query that is refused is told so in its line, and the others are "
      "answered.\n\n"
      "Examples:\n"
      "  waystar paths arena queries.txt\n"
      "  printf '1,1 60,40\\n9,30 12,7\\n' | waystar paths arena --profile tank\n"
      "  waystar paths ruins --scenario ruins.map.scen\n"
      "  waystar paths arena queries.txt --json | jq '.results[].answer.cost'\n");
  command.callback([arguments, &session] { session.exit_code = FindPaths(*arguments, session); });
}

}  // namespace waystar::cli
