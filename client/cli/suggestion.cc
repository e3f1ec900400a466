#include "client/cli/suggestion.h"

#include <algorithm>
#include <numeric>

namespace waystar::cli {
namespace {

// The Levenshtein distance, by the rows of its table.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Suggest(absl::string_view word, const std::vector<std::string>& candidates) {
  size_t smallest = 3;
  std::string best;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < std::min(smallest, candidate.size())) {
      smallest = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace waystar::cli
