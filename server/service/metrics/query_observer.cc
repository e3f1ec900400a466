#include "server/service/metrics/query_observer.h"

#include "server/service/convert/convert.h"

namespace waystar::rpc {

void CountSearches(const v1::FindPathsResponse& answers, SearchMetrics& metrics) {
  for (const v1::FindPathsResult& result : answers.results()) {
    if (result.has_answer()) {
      metrics.Count(result.answer());
    }
  }
}

QueryResult ResultOf(const v1::FindPathResponse& answer) {
  return {.revision = answer.version().revision(),
          .outcome = v1::Outcome_Name(answer.outcome()),
          .expanded = answer.statistics().expanded(),
          .searching = ToNanoseconds(answer.statistics().search_time())};
}

QueryResult ResultOf(const v1::FindPathsResponse& answers) {
  QueryResult all{.revision = answers.version().revision()};
  for (const v1::FindPathsResult& result : answers.results()) {
    all.expanded += result.answer().statistics().expanded();
    all.searching += ToNanoseconds(result.answer().statistics().search_time());
  }
  return all;
}

}  // namespace waystar::rpc
