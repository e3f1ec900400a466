#include "server/rpc/telemetry/query_observer.h"

namespace waystar::rpc {

void CountSearches(const v1::FindPathsResponse& answers, SearchMetrics& metrics) {
  for (const v1::FindPathsResult& result : answers.results()) {
    if (result.has_answer()) {
      metrics.Count(result.answer());
    }
  }
}

QueryResult ResultOf(const v1::FindPathResponse& answer) {
  return {.revision = answer.revision(),
          .outcome = v1::Outcome_Name(answer.outcome()),
          .expanded = answer.statistics().expanded(),
          .searching = std::chrono::nanoseconds(answer.statistics().search_nanos())};
}

QueryResult ResultOf(const v1::FindPathsResponse& answers) {
  QueryResult all{.revision = answers.revision()};
  for (const v1::FindPathsResult& result : answers.results()) {
    all.expanded += result.answer().statistics().expanded();
    all.searching += std::chrono::nanoseconds(result.answer().statistics().search_nanos());
  }
  return all;
}

}  // namespace waystar::rpc
