#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/cli/arguments.h"
#include "client/cli/files.h"
#include "client/cli/find_text.h"
#include "client/cli/message_text.h"
#include "client/cli/query_arguments.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/load/workload.h"

namespace waystar::cli {
namespace {

// A query of a .scen file of the Moving AI benchmark, and how long its path is at the best.
struct ScenarioQuery {
  // Line of the file, from 1.
  int line = 0;
  v1::Location start;
  v1::Location goal;
  double length = 0.0;
  // Tolerance of a length against the file: one unit of the last digit given there, plus one millionth, as
  // files were computed in single precision.
  double tolerance = 0.0;
};

// Maximum number of differences to list.
constexpr std::size_t kMaxListed = 20;
// Few enough for the answer to fit a message.
constexpr std::size_t kQueriesACall = 500;

void AddEnds(const v1::Location& start, const v1::Location& goal, v1::FindPathsRequest& request) {
  v1::PathQuery& query = *request.add_queries();
  *query.mutable_start() = start;
  *query.add_goals() = goal;
}

// Lists cells by corners, unless the request says otherwise; paths over waypoint graphs have no forms.
void ChooseForm(v1::FindPathsRequest& request) {
  const auto is_on_cells = [](const v1::PathQuery& query) {
    return query.start().has_cell() && query.goals(0).has_cell();
  };
  if (request.path_form() == v1::PATH_FORM_UNSPECIFIED &&
      std::ranges::all_of(request.queries(), is_on_cells)) {
    request.set_path_form(v1::PATH_FORM_CORNERS);
  }
}

absl::Status LineFault(int line, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", message));
}

// "bucket map width height start.x start.y goal.x goal.y length", between tabs or spaces.
bool ParseQuery(const std::vector<absl::string_view>& words, bool has_positions, ScenarioQuery& query) {
  if (words.size() != 9 || !load::ReadScenarioEnds(words, has_positions, query.start, query.goal) ||
      !absl::SimpleAtod(words[8], &query.length) || !std::isfinite(query.length)) {
    return false;
  }
  const std::size_t point = words[8].find('.');
  const auto decimals =
      point == absl::string_view::npos ? 0.0 : static_cast<double>(words[8].size() - point - 1);
  query.tolerance = std::pow(10.0, -decimals) + 1e-6 * query.length;
  return true;
}

struct LengthComparison {
  std::size_t equal = 0;
  std::vector<TableRow> different;
};

void Compare(const ScenarioQuery& query, const v1::FindPathsResult& result, LengthComparison& comparison) {
  const v1::FindPathResponse& answer = result.answer();
  const bool is_found = !result.has_problem() && answer.outcome() == v1::OUTCOME_FOUND;
  if (is_found && std::abs(answer.cost() - query.length) <= query.tolerance) {
    ++comparison.equal;
    return;
  }
  comparison.different.push_back({absl::StrCat(query.line), FormatLocation(query.start),
                                  FormatLocation(query.goal), absl::StrFormat("%.10g", query.length),
                                  is_found               ? absl::StrFormat("%.10g", answer.cost())
                                  : result.has_problem() ? result.problem().message()
                                                         : "no path"});
}

// INVALID_ARGUMENT, naming the line.
absl::StatusOr<std::vector<ScenarioQuery>> ParseScenario(absl::string_view text) {
  const bool has_positions = load::HasPositions(text);
  std::vector<ScenarioQuery> queries;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> words = load::ScenarioWords(line);
    if (number == 1) {
      if (words.size() != 2 || words[0] != "version" || !absl::StartsWith(words[1], "1")) {
        return LineFault(number, "a file of scenarios begins with \"version 1\"");
      }
      continue;
    }
    if (words.empty()) {
      continue;
    }
    ScenarioQuery query{.line = number};
    if (!ParseQuery(words, has_positions, query)) {
      return LineFault(number, "expected BUCKET MAP WIDTH HEIGHT START_X START_Y GOAL_X GOAL_Y LENGTH");
    }
    queries.push_back(std::move(query));
  }
  return queries;
}

// Asks for the paths of a file, all else as `request` says, and prints how many are as long as the
// file says, and which are not. kFailure if any is not.
ExitCode CheckScenario(const std::string& file, const v1::FindPathsRequest& request, Session& session) {
  const auto text = ReadInput(file, session.io().in);
  const absl::StatusOr<std::vector<ScenarioQuery>> queries =
      text.ok() ? ParseScenario(*text) : absl::StatusOr<std::vector<ScenarioQuery>>(text.status());
  if (!queries.ok()) {
    return session.FailUsage(absl::StrCat("cannot read ", file, ": ", queries.status().message()));
  }
  LengthComparison comparison;
  for (std::size_t begin = 0; begin < queries->size(); begin += kQueriesACall) {
    const std::size_t end = std::min(begin + kQueriesACall, queries->size());
    v1::FindPathsRequest batch = request;
    for (std::size_t i = begin; i < end; ++i) {
      AddEnds((*queries)[i].start, (*queries)[i].goal, batch);
    }
    ChooseForm(batch);
    const auto answers = session.client().FindPaths(batch);
    if (!answers.ok()) {
      return session.Fail(answers.status());
    }
    for (std::size_t i = begin; i < end && i - begin < static_cast<std::size_t>(answers->results_size());
         ++i) {
      Compare((*queries)[i], answers->results(static_cast<int>(i - begin)), comparison);
    }
  }
  session.io().out << queries->size() << " queries, " << comparison.equal
                   << " paths as long as the file says.\n";
  if (comparison.different.empty()) {
    return ExitCode::kOk;
  }
  std::vector<TableRow> rows = {{"LINE", "START", "GOAL", "FILE", "COST"}};
  const std::size_t listed = std::min(comparison.different.size(), kMaxListed);
  rows.insert(rows.end(), comparison.different.begin(),
              comparison.different.begin() + static_cast<std::ptrdiff_t>(listed));
  session.io().out << FormatTable(rows);
  if (listed < comparison.different.size()) {
    session.io().out << "and " << comparison.different.size() - listed << " more.\n";
  }
  return ExitCode::kFailure;
}

struct PathsArguments {
  v1::FindPathsRequest request;
  std::string file = "-";
  // File of queries with known lengths; if empty, `file` has the queries.
  std::string scenario_file;
};

absl::Status AddQueries(absl::string_view text, v1::FindPathsRequest& request) {
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> words = load::ScenarioWords(line.substr(0, line.find('#')));
    if (words.empty()) {
      continue;
    }
    if (words.size() != 2) {
      return LineFault(number, "a query is two cells, such as 3,4 60,40, or two nodes");
    }
    const auto start = ParsePlace(words[0]);
    const auto goal = ParsePlace(words[1]);
    if (!start.ok() || !goal.ok()) {
      return LineFault(number, (start.ok() ? goal : start).status().message());
    }
    AddEnds(*start, *goal, request);
  }
  ChooseForm(request);
  return absl::OkStatus();
}

TableRow RowOf(const v1::PathQuery& ends, const v1::FindPathsResult& result) {
  v1::FindPathRequest query;
  *query.mutable_start() = ends.start();
  *query.mutable_goals() = ends.goals();
  TableRow row = {FormatLocation(query.start()), FormatLocation(query.goals(0))};
  if (result.has_problem()) {
    row.insert(row.end(), {"refused", "-", result.problem().message()});
    return row;
  }
  const v1::FindPathResponse& answer = result.answer();
  row.push_back(EnumText(answer.outcome()));
  const bool has_path = HasPath(answer);
  row.push_back(has_path ? absl::StrFormat("%.10g", answer.cost()) : "-");
  row.push_back(has_path ? PathText(query, answer) : "-");
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
    return session.options().json ? session.FailUsage("--scenario has no JSON of its own")
                                  : CheckScenario(arguments.scenario_file, arguments.request, session);
  }
  const auto text = ReadInput(arguments.file, session.io().in);
  if (!text.ok()) {
    return session.FailUsage(absl::StrCat("cannot read ", arguments.file, ": ", text.status().message()));
  }
  v1::FindPathsRequest request = arguments.request;
  if (const absl::Status status = AddQueries(*text, request); !status.ok()) {
    return session.FailUsage(status);
  }
  const auto response = session.client().FindPaths(request);
  const auto print = [&](const v1::FindPathsResponse& answers) {
    std::vector<TableRow> rows = {{"START", "GOAL", "OUTCOME", "COST", "POINTS"}};
    for (int i = 0; i < request.queries_size() && i < answers.results_size(); ++i) {
      rows.push_back(RowOf(request.queries(i), answers.results(i)));
    }
    session.PrintTable(rows);
  };
  return session.Answer(response, print, response.ok() ? CodeOf(*response) : ExitCode::kOk);
}

}  // namespace

void AddPathsCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] = AddCommand(
      parent, session, "paths", "Finds many paths at once, on one revision of the map", &FindPaths,
      "Paths are listed by the cells where they turn, unless --form says otherwise. Empty lines, and what\n"
      "stands behind a #, are passed over. A query that is refused is told so in its line, and the others\n"
      "are answered.\n\n"
      "Examples:\n"
      "  waystar paths arena queries.txt\n"
      "  printf '1,1 60,40\\n9,30 12,7\\n' | waystar paths arena --profile tank\n"
      "  waystar paths ruins --scenario ruins.map.scen\n");
  AddMap(command, arguments.request);
  AddQuestion(command, arguments.request);
  AddFile(command, "FILE", arguments.file,
          "The queries, a line each: START GOAL, both cells X,Y or both nodes of a waypoint graph; '-' reads "
          "standard input [-]");
  AddFile(command, "--scenario", arguments.scenario_file,
          "Instead of FILE: the queries of a Moving AI .scen file, whose lengths are compared with its")
      ->excludes(command.get_option("FILE"));
  AddPathForm(command, arguments.request);
  AddNearest(command, arguments.request);
}

}  // namespace waystar::cli
