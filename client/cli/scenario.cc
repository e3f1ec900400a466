#include "client/cli/scenario.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/cli/cell_argument.h"
#include "client/cli/input.h"
#include "client/cli/table.h"

namespace waystar::cli {
namespace {

// What differs is listed up to here.
constexpr std::size_t kMaxListed = 20;
// Few enough for the answer to fit a message.
constexpr std::size_t kQueriesACall = 500;

absl::Status LineFault(int line, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", message));
}

// "bucket map width height start.x start.y goal.x goal.y length", between tabs or spaces.
bool ParseQuery(const std::vector<absl::string_view>& words, ScenarioQuery& query) {
  int x = 0;
  int y = 0;
  const auto read = [&](std::size_t i, v1::Cell& cell) {
    if (!absl::SimpleAtoi(words[i], &x) || !absl::SimpleAtoi(words[i + 1], &y)) {
      return false;
    }
    cell.set_x(x);
    cell.set_y(y);
    return true;
  };
  if (words.size() != 9 || !read(4, query.start) || !read(6, query.goal) ||
      !absl::SimpleAtod(words[8], &query.length) || !std::isfinite(query.length)) {
    return false;
  }
  const std::size_t point = words[8].find('.');
  const auto decimals =
      point == absl::string_view::npos ? 0.0 : static_cast<double>(words[8].size() - point - 1);
  query.tolerance = std::pow(10.0, -decimals) + 1e-6 * query.length;
  return true;
}

struct Comparison {
  std::size_t equal = 0;
  std::vector<TableRow> different;
};

void Compare(const ScenarioQuery& query, const v1::FindPathsResult& result, Comparison& comparison) {
  const v1::FindPathResponse& answer = result.answer();
  const bool is_found = !result.has_problem() && answer.outcome() == v1::OUTCOME_FOUND;
  if (is_found && std::abs(answer.cost() - query.length) <= query.tolerance) {
    ++comparison.equal;
    return;
  }
  comparison.different.push_back({absl::StrCat(query.line), FormatCell(query.start), FormatCell(query.goal),
                                  absl::StrFormat("%.10g", query.length),
                                  is_found               ? absl::StrFormat("%.10g", answer.cost())
                                  : result.has_problem() ? result.problem().message()
                                                         : "no path"});
}

}  // namespace

absl::StatusOr<std::vector<ScenarioQuery>> ParseScenario(absl::string_view text) {
  std::vector<ScenarioQuery> queries;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
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
    if (!ParseQuery(words, query)) {
      return LineFault(number, "expected BUCKET MAP WIDTH HEIGHT START_X START_Y GOAL_X GOAL_Y LENGTH");
    }
    queries.push_back(std::move(query));
  }
  return queries;
}

ExitCode CheckScenario(const std::string& file, const v1::FindPathsRequest& request,
                       const v1::FindPathRequest& each, Session& session) {
  const auto text = ReadInput(file, session.io().in);
  const absl::StatusOr<std::vector<ScenarioQuery>> queries =
      text.ok() ? ParseScenario(*text) : absl::StatusOr<std::vector<ScenarioQuery>>(text.status());
  if (!queries.ok()) {
    return session.FailUsage(absl::StrCat("cannot read ", file, ": ", queries.status().message()));
  }
  Comparison comparison;
  for (std::size_t begin = 0; begin < queries->size(); begin += kQueriesACall) {
    const std::size_t end = std::min(begin + kQueriesACall, queries->size());
    v1::FindPathsRequest batch = request;
    for (std::size_t i = begin; i < end; ++i) {
      v1::FindPathRequest& query = *batch.add_queries();
      query = each;
      *query.mutable_start() = (*queries)[i].start;
      *query.mutable_goal() = (*queries)[i].goal;
    }
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

}  // namespace waystar::cli
