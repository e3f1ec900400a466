#include "server/service/metrics/query_observer.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
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
  return {.revision = answer.info().version().revision(),
          .outcome = v1::Outcome_Name(answer.outcome()),
          .expanded = answer.info().statistics().expanded(),
          .searching = ToNanoseconds(answer.info().statistics().search_time())};
}

QueryResult ResultOf(const v1::FindPathsResponse& answers) {
  QueryResult all{.revision = answers.info().version().revision()};
  for (const v1::FindPathsResult& result : answers.results()) {
    all.expanded += result.answer().info().statistics().expanded();
    all.searching += ToNanoseconds(result.answer().info().statistics().search_time());
  }
  return all;
}

namespace {

// A search of few cells takes a microsecond.
std::vector<double> SearchSecondsBounds() {
  return {1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10};
}

std::vector<double> ExpansionsBounds() { return {1, 10, 100, 1'000, 10'000, 100'000, 1e6, 1e7}; }

std::string LabelOf(absl::string_view enum_name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(enum_name, prefix));
}

}  // namespace

SearchMetrics::SearchMetrics() : wait_seconds_(SearchSecondsBounds()) {
  for (std::unique_ptr<Kind>& kind : kinds_) {
    kind.reset(new Kind{runtime::Histogram(SearchSecondsBounds()), runtime::Histogram(ExpansionsBounds())});
  }
}

void SearchMetrics::Count(const v1::FindPathResponse& answer) {
  const v1::SearchStatistics& statistics = answer.info().statistics();
  const std::size_t kind = static_cast<std::size_t>(statistics.algorithm()) * kOutcomes +
                           static_cast<std::size_t>(answer.outcome());
  kinds_[kind]->seconds.Observe(
      std::chrono::duration<double>(ToNanoseconds(statistics.search_time())).count());
  kinds_[kind]->expansions.Observe(static_cast<double>(statistics.expanded()));
}

void SearchMetrics::CountWait(std::chrono::nanoseconds waited) {
  wait_seconds_.Observe(std::chrono::duration<double>(waited).count());
}

void SearchMetrics::Collect(runtime::MetricSink& sink) const {
  sink.AddHistogram("waystar_query_wait_seconds", "How long queries waited for a worker.",
                    wait_seconds_.Counts());
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (!kinds_[i]->seconds.has_counts()) {
      continue;
    }
    const auto algorithm = static_cast<v1::Algorithm>(i / kOutcomes);
    const auto outcome = static_cast<v1::Outcome>(i % kOutcomes);
    const runtime::MetricLabels labels = {{"algorithm", LabelOf(v1::Algorithm_Name(algorithm), "ALGORITHM_")},
                                          {"outcome", LabelOf(v1::Outcome_Name(outcome), "OUTCOME_")}};
    sink.AddHistogram("waystar_search_seconds",
                      "How long searches for paths took, the wait before not counted.",
                      kinds_[i]->seconds.Counts(), labels);
    sink.AddHistogram("waystar_search_expansions", "Cells or nodes that searches for paths expanded.",
                      kinds_[i]->expansions.Counts(), labels);
  }
}

}  // namespace waystar::rpc
